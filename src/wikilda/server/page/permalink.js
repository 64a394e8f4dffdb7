// The text is kept in the part of the address behind #, which browsers do not send to servers; packed, to keep it short.

const through = async (bytes, stream) =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

const toText = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
  .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

export async function pack(text) {
  return toText(await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw")));
}

/** The text of an address, or null where there is none that can be read. */
export async function unpack(hash) {
  const found = /^#t=([\w-]+)$/.exec(hash);
  if (!found) return null;
  try {
    return new TextDecoder().decode(await through(toBytes(found[1]), new DecompressionStream("deflate-raw")));
  } catch {
    return null;
  }
}

// Elements are made here and nowhere else. Text goes in as text: nothing that a user or a wiki wrote is read as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (name === "width%") element.style.width = `${value}%`;
    else if (name === "left%") element.style.left = `${value}%`;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((each) => each !== null && each !== undefined && each !== false));
  return element;
}

export const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
export const draw = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);
export const get = (id) => document.getElementById(id);

/** A link to an article, if it has an address on the web. */
export function article(url, ...children) {
  return /^https?:\/\//.test(url || "")
    ? make("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, ...children)
    : make("span", {}, ...children);
}

export const percent = (value) =>
  value > 0 && value < 0.005 ? "<1\u00a0%" : value < 1 && value > 0.995 ? ">99\u00a0%" : `${Math.round(100 * value)}\u00a0%`;

/** Whether a mention is linked: its best candidate is more probable than NIL. */
export const isLinked = ({ candidates: [best], nil }) => best !== undefined && nil <= best.probability * (1 - nil);

// The page: takes a text, asks the server why its names mean what they do, and shows it.

import { drawFigure } from "./figure.js";
import { article, get, isLinked, make, percent } from "./make.js";
import { bar, showMention } from "./mention.js";
import { pack, unpack } from "./permalink.js";

const state = { explained: null, mention: -1, candidate: 0, weights: "probability", marks: [], asked: 0 };

async function call(path, body) {
  const headers = { Accept: "application/json" };
  const key = stored(sessionStorage, "wikilda-key");
  if (key) headers["X-API-Key"] = key;
  if (body) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body) });
  const found = await answer.json();
  if (answer.status === 401) { get("key").hidden = false; get("key-input").focus(); }
  if (!answer.ok) throw new Error(found.error ? found.error.message : `The server answered ${answer.status}.`);
  return found;
}

function stored(storage, name, value) {
  try {
    if (value !== undefined) storage.setItem(name, value);
    return storage.getItem(name);
  } catch { return null; } // storage may be switched off
}

/** Text with [[mentions]] in brackets → plain text and spans in code points; without any, the server finds them. */
export function readMarks(text) {
  const spans = [];
  let plain = "", points = 0, last = 0;
  for (const found of text.matchAll(/\[\[([^[\]]+?)\]\]/g)) {
    const before = text.slice(last, found.index);
    points += [...before].length;
    spans.push({ start: points, end: points + [...found[1]].length });
    points = spans.at(-1).end;
    plain += before + found[1];
    last = found.index + found[0].length;
  }
  return { text: plain + text.slice(last), mentions: spans.length ? spans : null };
}

async function link() {
  const asked = readMarks(get("text").value);
  if (!asked.text.trim()) { get("text").focus(); return; }
  const turn = ++state.asked;
  busy(true);
  try {
    const started = performance.now();
    const explained = await call("v1/explain", { ...asked, candidates: 8, topics: 12 });
    if (turn !== state.asked) return;
    Object.assign(state, { explained, text: asked.text, mention: -1, candidate: 0 });
    show(performance.now() - started);
    const hash = `#t=${await pack(get("text").value)}`;
    if (location.hash !== hash) history.replaceState(null, "", hash);
    alertOf("");
  } catch (error) {
    if (turn === state.asked) alertOf(error instanceof TypeError ? "The server cannot be reached." : error.message);
  } finally {
    if (turn === state.asked) busy(false);
  }
}

function busy(on) {
  get("link").disabled = on;
  if (on) get("status").textContent = "Linking …";
  else if (get("status").textContent === "Linking …") get("status").textContent = "";
}

function alertOf(message) {
  get("alert").hidden = !message;
  get("alert").textContent = message;
}

function show(time) {
  const { explained } = state;
  showText();
  editing(false);
  const known = explained.mentions.filter((each) => each.candidates.length).length;
  const linked = explained.mentions.filter(isLinked).length;
  get("status").textContent = explained.mentions.length
    ? `${linked} of ${explained.mentions.length} ${explained.mentions.length === 1 ? "name" : "names"} linked in ${Math.round(time)} ms`
    : "No names found. Put [[double brackets]] around one.";
  get("figure-card").hidden = !known;
  get("topics-card").hidden = !explained.topics.length;
  get("program").hidden = false;
  get("curl").textContent = curl();
  get("topics").replaceChildren(...explained.topics.map((each) => make("li", {},
    make("span", { class: "name-line" }, article(each.url, each.title), make("span", {}, percent(each.share))),
    bar(each.share / explained.topics[0].share))));
  redraw();
  const ambiguous = explained.mentions.findIndex((each) => each.candidates.length > 1 &&
    each.candidates.some((other) => other.prior > each.candidates[0].prior));
  if (known) choose(Math.max(0, ambiguous), undefined, { open: false });
}

function titleOf(mention) {
  const best = mention.candidates[0];
  if (!best) return "not known to the wiki";
  return isLinked(mention) ? `${best.title} (${percent(best.probability * (1 - mention.nil))})` : `probably not in this wiki (${percent(mention.nil)})`;
}

function showText() {
  const points = [...state.text];
  const parts = [];
  let last = 0;
  state.marks = [];
  state.explained.mentions.forEach((each, number) => {
    if (each.start < last) return; // overlaps the one before
    parts.push(points.slice(last, each.start).join(""));
    const best = each.candidates[0];
    const mark = make("mark", {
      "--sure": best ? best.probability * (1 - each.nil) : 0, class: isLinked(each) ? "" : "unknown", tabindex: 0, role: "button", "aria-pressed": "false",
      title: titleOf(each),
      onclick: () => choose(number), onkeydown: (event) => keyOnMark(event, number),
    }, points.slice(each.start, each.end).join(""));
    mark.dataset.number = number;
    state.marks.push(mark);
    parts.push(mark);
    last = each.end;
  });
  parts.push(points.slice(last).join(""));
  get("linked").replaceChildren(...parts);
}

function keyOnMark(event, number) {
  const place = state.marks.indexOf(event.currentTarget);
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(number); }
  if (event.key in steps) {
    event.preventDefault();
    const next = state.marks[(place + steps[event.key] + state.marks.length) % state.marks.length];
    next.focus();
    choose(Number(next.dataset.number));
  }
}

/** Show a mention; where it is linked, its answer unless another candidate is chosen. */
function choose(number, chosen, { open = true } = {}) {
  const mention = state.explained.mentions[number];
  const candidate = chosen ?? (isLinked(mention) ? 0 : -1);
  Object.assign(state, { mention: number, candidate });
  for (const mark of state.marks) {
    const other = state.explained.mentions[Number(mark.dataset.number)];
    mark.setAttribute("aria-pressed", String(Number(mark.dataset.number) === number));
    mark.classList.toggle("same", other !== mention && isLinked(mention) && isLinked(other) &&
      other.candidates[0].title === mention.candidates[0].title);
  }
  showMention(mention, candidate, (at) => {
    choose(number, at);
    get("mention").querySelectorAll(".candidates button")[at]?.focus();
  });
  if (open) document.body.classList.add("open");
}

function chooseByText(text, candidate) {
  const number = state.explained.mentions.findIndex((each) => each.text === text);
  choose(number, candidate);
  if (matchMedia("(min-width: 861px)").matches) get("reading").scrollIntoView({ block: "nearest" });
}

function redraw() {
  if (state.explained && !get("figure-card").hidden) drawFigure(state.explained, state.weights, chooseByText);
}

function editing(on) {
  get("editor").hidden = !on;
  get("linked").hidden = on;
  get("edit").hidden = on;
  get("share").hidden = on;
  get("legend").hidden = on;
  outdated();
  if (on) { document.body.classList.remove("open"); get("text").focus(); }
}

/** Mark what belongs to the text before it was edited. */
function outdated() {
  const edited = state.explained !== null && !get("editor").hidden && readMarks(get("text").value).text !== state.text;
  document.body.classList.toggle("outdated", edited);
  if (edited) get("status").textContent = "The results are those of the text before it was edited.";
}

function curl() {
  const body = JSON.stringify({ text: state.text }).replaceAll("'", "'\\''");
  return `curl ${new URL("v1/link", location.href.split("#")[0])} \\\n  -H 'Content-Type: application/json' \\\n  -d '${body}'`;
}

async function loadExamples() {
  const found = await call("v1/examples");
  const buttons = found.map((each) => make("button", {
    type: "button", "aria-pressed": "false",
    onclick: (event) => { get("text").value = each.text; press(event.currentTarget); link(); },
  }, each.title));
  const press = (button) => buttons.forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
  get("examples").replaceChildren(...buttons);
  get("text").addEventListener("input", () => { press(null); outdated(); });
  return buttons;
}

async function start() {
  const model = await call("v1/model").catch((error) => { alertOf(error.message); return null; });
  if (!model) return;
  get("model").textContent = `${model.wiki || "a wiki"}: ${model.topics.toLocaleString("en")} topics, ${model.mentions.toLocaleString("en")} names`;
  document.documentElement.lang = "en";
  if (model.language) get("linked").lang = model.language;
  const examples = await loadExamples();
  const given = await unpack(location.hash);
  if (given !== null) { get("text").value = given; await link(); }
  else if (examples.length) examples[0].click();
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  stored(localStorage, "wikilda-theme", root.dataset.theme);
}

function listen() {
  const kept = stored(localStorage, "wikilda-theme");
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
  get("theme").addEventListener("click", theme);
  get("link").addEventListener("click", link);
  get("edit").addEventListener("click", () => editing(true));
  get("close").addEventListener("click", () => document.body.classList.remove("open"));
  get("share").addEventListener("click", async () => {
    await navigator.clipboard?.writeText(location.href).catch(() => null);
    get("status").textContent = "The address holds the text: copied.";
  });
  get("key").addEventListener("submit", (event) => {
    event.preventDefault();
    stored(sessionStorage, "wikilda-key", get("key-input").value);
    get("key").hidden = true;
    alertOf("");
    start();
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) link();
    if (event.key === "Escape") document.body.classList.remove("open");
  });
  addEventListener("hashchange", async () => {
    const given = await unpack(location.hash);
    if (given !== null && given !== get("text").value) { get("text").value = given; link(); }
  });
  document.querySelectorAll("input[name=weights]").forEach((input) =>
    input.addEventListener("change", () => { state.weights = input.value; redraw(); }));
  let width = 0; // of the figure: when only its height changes, it is as it should be
  new ResizeObserver(([entry]) => {
    if (entry.contentRect.width === width) return;
    width = entry.contentRect.width;
    redraw();
  }).observe(get("figure"));
}

listen();
start();

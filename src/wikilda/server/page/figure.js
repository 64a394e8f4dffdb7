// The paper's Figure 1 for this text: names on the left, topics on the right, likelihoods between them, and arcs
// between topics that are related.

import { draw, get, isLinked, percent } from "./make.js";

const MOST_NAMES = 22;
const MOST_ARCS = 70;
const LEAST_ARC = 0.15; // of the strongest
const TOUCH = matchMedia("(hover: none)").matches;

/** What to draw: each string once with its best candidates, and the topics in an order with few crossings. */
export function layOut(explained) {
  const names = new Map();
  for (const each of explained.mentions)
    if (each.candidates.length && !names.has(each.text)) names.set(each.text, each);
  const left = [...names.values()].slice(0, MOST_NAMES);
  const topics = new Map();
  left.forEach((mention, row) => mention.candidates.forEach((each, place) => {
    const shown = place === 0 || (place < 4 && (each.probability >= 0.02 || each.prior >= 0.08));
    if (!shown) return;
    const topic = topics.get(each.title) || { title: each.title, url: each.url, rows: [], links: [], chosen: false };
    topic.rows.push(row + place / 10);
    topic.links.push({ row, each, place });
    topic.chosen ||= place === 0 && mention.title !== null;
    topics.set(each.title, topic);
  }));
  const right = [...topics.values()];
  const centre = (topic) => topic.rows.reduce((sum, row) => sum + row, 0) / topic.rows.length;
  right.sort((one, other) => centre(one) - centre(other));
  const numbers = new Map(right.map((topic, number) => [topic.title, number]));
  const related = explained.related.filter((each) => numbers.has(each.first) && numbers.has(each.second));
  const most = Math.max(...related.map((each) => each.relatedness), 1e-9);
  const arcs = related
    .map((each) => ({ from: numbers.get(each.first), to: numbers.get(each.second), strength: each.relatedness / most }))
    .filter((each) => each.strength >= LEAST_ARC)
    .slice(0, MOST_ARCS);
  return { left, right, arcs, hidden: names.size - left.length };
}

export function drawFigure(explained, weights, choose) {
  const place = get("figure");
  const plan = layOut(explained);
  const width = Math.max(300, place.clientWidth);
  const narrow = width < 560;
  const step = 27;
  const height = Math.max(plan.left.length, plan.right.length) * step + 12;
  const at = {
    name: narrow ? width * 0.27 : Math.min(230, width * 0.24),
    topic: narrow ? width * 0.45 : width * 0.5,
    room: narrow ? width * 0.39 : width * 0.26,
  };
  const longest = Math.max(...plan.right.map((topic) => topic.title.length * (topic.chosen ? 7.9 : 7)));
  at.arcs = at.topic + Math.min(at.room, 12 + longest * (narrow ? 0.93 : 1)) + 18;
  const middle = (count, row) => height / 2 + (row - (count - 1) / 2) * (count > 1 ? Math.min(step * 1.6, (height - step) / (count - 1)) : 0);
  const leftY = (row) => middle(plan.left.length, row);
  const rightY = (row) => middle(plan.right.length, row);

  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "group", "aria-label": "Names of the text and the topics that they may mean" });
  const arcs = draw("g", { class: "arcs" });
  const links = draw("g", { class: "links" });
  const nodes = draw("g", { class: "nodes" });
  svg.append(arcs, links, nodes);

  for (const arc of plan.arcs) {
    const [top, bottom] = [rightY(arc.from), rightY(arc.to)];
    const reach = Math.min((width - at.arcs) * 0.95, 14 + Math.abs(bottom - top) * 0.42);
    arcs.append(draw("path", {
      class: "arc", "data-from": arc.from, "data-to": arc.to,
      d: `M${at.arcs} ${top}C${at.arcs + reach * 1.3} ${top} ${at.arcs + reach * 1.3} ${bottom} ${at.arcs} ${bottom}`,
      "stroke-width": (0.4 + 3.2 * arc.strength ** 2).toFixed(2), "stroke-opacity": (0.12 + 0.6 * arc.strength ** 2).toFixed(2),
    }));
  }
  plan.right.forEach((topic, number) => topic.links.forEach(({ row, each, place: rank }) => {
    const [x1, y1, x2, y2] = [at.name + 8, leftY(row), at.topic - 8, rightY(number)];
    const bend = (x2 - x1) / 2;
    links.append(draw("path", {
      class: rank > 0 ? "link" : isLinked(plan.left[row]) ? "link best" : "link doubted", "data-name": row, "data-topic": number,
      d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`,
      "stroke-width": (0.7 + 7.5 * each[weights]).toFixed(2),
    }));
  }));
  plan.left.forEach((mention, row) => nodes.append(node("name", row, at.name, leftY(row), mention.text, at.name - 14, narrow, () => choose(mention.text, 0))));
  plan.right.forEach((topic, number) => {
    const group = node("topic", number, at.topic, rightY(number), topic.title, at.room - 6, narrow, () => choose(plan.left[topic.links[0].row].text, topic.links[0].place));
    if (topic.chosen) group.classList.add("chosen");
    nodes.append(group);
  });
  place.replaceChildren(svg);
  attach(svg, plan);
  return plan;
}

function node(kind, number, x, y, text, room, narrow, pick) {
  const most = Math.max(6, Math.floor(room / (narrow ? 6.6 : 7.1)));
  const short = text.length > most ? `${text.slice(0, most - 1)}…` : text;
  const label = draw("text", { x: kind === "name" ? x - 12 : x + 12, y, "text-anchor": kind === "name" ? "end" : "start" }, short);
  return draw("g", {
    class: `node ${kind}`, "data-number": number, tabindex: 0, role: "button", "aria-label": `${kind === "name" ? "Name" : "Topic"}: ${text}`,
    onclick: pick, onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(); } },
  }, draw("title", {}, text), draw("circle", { cx: x, cy: y, r: 5 }), label);
}

/** Hovering, or the keyboard's focus, leaves only what pulls. */
function attach(svg, plan) {
  const clear = () => {
    svg.querySelectorAll(".faded, .hot").forEach((each) => each.classList.remove("faded", "hot"));
    get("pull").textContent = hint(plan);
  };
  for (const group of svg.querySelectorAll(".node")) {
    const light = () => { clear(); highlight(svg, plan, group); };
    group.addEventListener("pointerenter", light);
    group.addEventListener("focus", light);
    group.addEventListener("pointerleave", clear);
    group.addEventListener("blur", clear);
  }
  clear();
}

const hint = (plan) => `${TOUCH ? "Tap" : "Hover over"} a name or a topic${TOUCH ? "" : ", or tab to it,"} to see what pulls it.${plan.hidden > 0 ? ` The first ${plan.left.length} names are drawn; ${plan.hidden} more are in the text.` : ""}`;

function highlight(svg, plan, group) {
  const number = Number(group.dataset.number);
  const isTopic = group.classList.contains("topic");
  const topics = new Set(isTopic ? [number] : []);
  const names = new Set(isTopic ? [] : [number]);
  for (const link of svg.querySelectorAll(".link")) {
    const on = Number(isTopic ? link.dataset.topic : link.dataset.name) === number;
    link.classList.toggle("faded", !on);
    if (on) { topics.add(Number(link.dataset.topic)); names.add(Number(link.dataset.name)); }
  }
  const mine = new Set(topics);
  for (const arc of svg.querySelectorAll(".arc")) {
    const ends = [Number(arc.dataset.from), Number(arc.dataset.to)];
    const on = ends.some((end) => mine.has(end));
    arc.classList.toggle("faded", !on);
    if (on) ends.forEach((end) => topics.add(end));
  }
  for (const each of svg.querySelectorAll(".node")) {
    const set = each.classList.contains("topic") ? topics : names;
    each.classList.toggle("faded", !set.has(Number(each.dataset.number)));
  }
  group.classList.add("hot");
  get("pull").textContent = isTopic ? pullOfTopic(plan, number) : pullOfName(plan.left[number]);
}

function pullOfTopic(plan, number) {
  const topic = plan.right[number];
  const { each } = topic.links[0];
  const named = topic.links.map((link) => `“${plan.left[link.row].text}” ${percent(link.each.probability)} (by its name ${percent(link.each.prior)})`).join(", ");
  const support = each.support.slice(0, 4).map((other) => `${other.title} ${other.weight.toFixed(2)}`).join(", ");
  return `${topic.title}: ${named}. ${support ? `Pulled by ${support}.` : "Nothing else in the text is related to it."}`;
}

function pullOfName(mention) {
  const said = mention.candidates.slice(0, 4).map((each) => `${each.title} ${percent(each.prior)} → ${percent(each.probability)}`).join(", ");
  return `“${mention.text}”, by its name → with the text: ${said}.`;
}

// Each data set has a leaderboard (sorted, filtered), a comparison of two methods, and errors (filtered).
const DOCUMENT = 0, START = 1, END = 2, BINS = { ambiguity: 3, kind: 4, length: 5 }, GOLD = 6, ANSWERS = 7;
const PAGE = 100, CONTEXT = 70;

const element = (name, text = "", style = "") => {
  const made = document.createElement(name);
  made.textContent = text;
  if (style) made.className = style;
  return made;
};

/** The mentions that pass the filters of a data set. */
const chosen = (section, data) => {
  const wanted = {};
  for (const name of Object.keys(BINS)) {
    const boxes = [...section.querySelectorAll(`[data-filter=${name}]:checked`)];
    wanted[name] = new Set(boxes.map((box) => Number(box.value)));
  }
  return data.mentions.filter((row) => Object.entries(BINS).every(([name, at]) => wanted[name].has(row[at])));
};

/** Micro and macro accuracy of a method on some mentions, in per cent. */
const accuracy = (mentions, method) => {
  const right = new Map(), total = new Map();
  let hits = 0;
  for (const row of mentions) {
    const hit = row[ANSWERS + method] === row[GOLD];
    hits += hit;
    right.set(row[DOCUMENT], (right.get(row[DOCUMENT]) ?? 0) + hit);
    total.set(row[DOCUMENT], (total.get(row[DOCUMENT]) ?? 0) + 1);
  }
  let sum = 0;
  for (const [name, count] of total) sum += right.get(name) / count;
  return mentions.length ? [(100 * hits) / mentions.length, (100 * sum) / total.size] : [NaN, NaN];
};

const sortable = (table) => {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    head.firstChild.addEventListener("click", () => {
      const down = head.ariaSort !== "descending";
      for (const other of table.tHead.rows[0].cells) other.ariaSort = null;
      head.ariaSort = down ? "descending" : "ascending";
      const text = (row) => row.cells[column].textContent;
      const compare = (a, b) =>
        column === 0 ? text(b).localeCompare(text(a)) : (parseFloat(text(a)) || 0) - (parseFloat(text(b)) || 0);
      body.append(...[...body.rows].sort((a, b) => (down ? -1 : 1) * compare(a, b)));
    });
  });
};

const mentionCell = (data, row) => {
  const cell = element("td"), text = data.documents[row[DOCUMENT]].text;
  cell.append(
    `…${text.slice(Math.max(0, row[START] - CONTEXT), row[START])}`,
    element("mark", text.slice(row[START], row[END])),
    `${text.slice(row[END], row[END] + CONTEXT)}… `,
    element("small", data.documents[row[DOCUMENT]].id),
  );
  return cell;
};

const comparison = (section, data, mentions) => {
  const form = section.querySelector(".compare");
  if (!form) return;
  const [first, second] = [Number(form.elements.first.value), Number(form.elements.second.value)];
  const which = form.elements.which.value;
  const differ = mentions.filter((row) => {
    const [a, b, gold] = [row[ANSWERS + first], row[ANSWERS + second], row[GOLD]];
    if (a === b) return false;
    return { all: true, first: a === gold, second: b === gold, neither: a !== gold && b !== gold }[which];
  });
  const pair = data.pairs[`${first} ${second}`];
  const shown = (name) => {
    const [value, low, high, p] = pair[name];
    return `${name} ${value.toFixed(2)} [${low.toFixed(2)}, ${high.toFixed(2)}], p = ${p.toFixed(3)}`;
  };
  const paired = pair ? `first − second on all mentions: ${shown("micro")}; ${shown("macro")}. ` : "";
  form.querySelector("output").textContent = `${paired}${differ.length} mentions shown of ${mentions.length}.`;
  const body = section.querySelector(".differences").tBodies[0], more = section.querySelector(".more");
  body.replaceChildren();
  let next = 0;
  const show = () => {
    for (const row of differ.slice(next, next + PAGE)) {
      const line = element("tr");
      line.append(mentionCell(data, row), element("td", data.titles[row[GOLD]], "gold"));
      for (const method of [first, second]) {
        const answer = row[ANSWERS + method];
        line.append(element("td", data.titles[answer], answer === row[GOLD] ? "hit" : "miss"));
      }
      body.append(line);
    }
    next += PAGE;
    more.hidden = next >= differ.length;
  };
  more.onclick = show;
  show();
};

const board = (section) => {
  const data = JSON.parse(section.querySelector(".data").textContent);
  const table = section.querySelector(".leaderboard"), form = section.querySelector(".board-filters");
  sortable(table);
  const update = () => {
    const mentions = chosen(section, data), all = mentions.length === data.mentions.length;
    for (const row of table.tBodies[0].rows) {
      const [micro, macro] = accuracy(mentions, Number(row.dataset.method));
      row.cells[1].textContent = Number.isNaN(micro) ? "–" : micro.toFixed(2);
      row.cells[3].textContent = Number.isNaN(macro) ? "–" : macro.toFixed(2);
    }
    table.classList.toggle("filtered", !all);
    form.querySelector("output").textContent = `${mentions.length} of ${data.mentions.length} mentions`;
    comparison(section, data, mentions);
  };
  form.addEventListener("input", update);
  section.querySelector(".compare")?.addEventListener("input", update);
  update();
};

/** Hides errors of kinds that are not ticked or do not contain what is looked for, then documents without any. */
const errors = (form) => {
  const documents = [...form.parentElement.querySelectorAll(".document")];
  const show = () => {
    const kinds = new Set([...form.querySelectorAll("[data-kind]:checked")].map((box) => box.dataset.kind));
    const wanted = form.querySelector("[type=search]").value.trim().toLowerCase();
    let count = 0, shown = 0;
    for (const section of documents) {
      const named = section.querySelector("h3").textContent.toLowerCase().includes(wanted);
      let here = 0;
      for (const card of section.querySelectorAll(".card")) {
        card.hidden = !kinds.has(card.dataset.kind) || !(named || card.textContent.toLowerCase().includes(wanted));
        if (!card.hidden) here += Number(card.dataset.count);
        for (const link of section.querySelectorAll(`a[href="#${card.id}"]`)) link.classList.toggle("dim", card.hidden);
      }
      section.hidden = here === 0;
      count += here;
      shown += !section.hidden;
    }
    form.querySelector("output").textContent = `${count} errors in ${shown} documents`;
  };
  form.addEventListener("input", show);
  show();
};

for (const form of document.querySelectorAll("form")) form.addEventListener("submit", (event) => event.preventDefault());
for (const section of document.querySelectorAll(".dataset")) board(section);
for (const form of document.querySelectorAll(".error-filters")) errors(form);

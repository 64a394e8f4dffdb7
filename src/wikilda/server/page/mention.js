// The chosen mention: its candidates as bars, the article, and why.

import { article, get, isLinked, make, percent } from "./make.js";

/** Show a mention; `chosen` is the candidate that is looked at, -1 for none, as where the answer is NIL. */
export function showMention(mention, chosen, choose) {
  const place = get("mention");
  if (!mention.candidates.length) {
    place.replaceChildren(
      make("p", { class: "said" }, `“${mention.text}”`),
      make("p", { class: "empty" }, "The wiki never links this string, so it has no candidates."),
    );
    return;
  }
  const shown = mention.candidates[chosen];
  const known = 1 - mention.nil;
  const parts = [
    make("p", { class: "said" }, `“${mention.text}”`),
    make("p", { class: shown ? "because" : "nil" }, shown ? because(mention, shown, chosen) : doubt(mention)),
    make("p", { class: "quiet" }, "bar: with this text · tick: only by the name"),
    make("ol", { class: "candidates" },
      isLinked(mention) ? null : unlinked(mention.nil),
      mention.candidates.map((each, at) => candidate(each, known, at === chosen, () => choose(at))),
      isLinked(mention) && mention.nil >= 0.005 ? unlinked(mention.nil) : null),
    shown ? make("div", { class: "article" },
      make("h3", {}, article(shown.url, shown.title)),
      shown.sentence ? make("p", { class: "sentence" }, shown.sentence) : null,
      shown.wikidata ? make("p", { class: "quiet" }, article(`https://www.wikidata.org/wiki/${shown.wikidata}`, shown.wikidata)) : null) : null,
    shown ? why(shown) : against(mention),
  ];
  place.replaceChildren(...parts.filter(Boolean));
}

const doubt = (mention) => `Probably none of its candidates (${percent(mention.nil)}). Choose one to see its evidence.`;

function unlinked(nil) {
  return make("li", { class: "no-entity" },
    make("span", { class: "name-line" }, make("span", {}, "none of these"), make("span", {}, percent(nil))), bar(nil));
}

/** A candidate with its probability after NIL, so that all bars add up to one. */
function candidate(each, known, pressed, choose) {
  const share = known * each.probability;
  return make("li", {},
    make("button", { type: "button", "aria-pressed": String(pressed), onclick: choose },
      make("span", { class: "name-line" },
        make("span", {}, make("b", {}, each.title), each.type ? make("small", { class: "kind" }, each.type) : null),
        make("span", {}, percent(share))),
      bar(share, each.prior)));
}

/** A bar, with a tick where the prior is; the numbers beside it say the same to those who do not see it. */
export function bar(value, prior) {
  return make("span", { class: "track", "aria-hidden": "true", title: prior === undefined ? null : `only by the name ${percent(prior)}` },
    make("span", { class: "fill", "width%": 100 * value }),
    prior === undefined ? null : make("span", { class: "tick", "left%": Math.min(99.5, 100 * prior) }));
}

/** The evidence; that of context words only by a model that was trained on texts. */
const PARTS = {
  prior: ["prior", "how often the name means it in the wiki"],
  words: ["words", "similarity of the text’s words with the article and its neighbours"],
  title: ["title", "whether the title looks like the name, or like what it abbreviates"],
  context: ["context", "fit of the words next to the name to entities of its type"],
  graph: ["links", "how it is related to what the other names mean"],
};

function why(shown) {
  return make("div", { class: "why" },
    shown.rival ? odds(shown) : null,
    shown.support.length ? [
      make("h3", {}, "Links: support from the other names"),
      make("ul", { class: "chips" }, shown.support.map((each) =>
        make("li", { "--pull": each.weight / shown.support[0].weight, title: pulled(each) },
          each.title, make("small", {}, each.weight.toFixed(2))))),
    ] : null,
    shown.top_words.length ? [
      make("h3", {}, shown.rival ? `Words: more for it, or more for ${shown.rival}` : "Words that support it"),
      make("ul", { class: "chips" }, shown.top_words.map((each) =>
        make("li", { class: each.against < 0 ? "contra" : "", "--pull": Math.min(1, Math.abs(each.against / shown.top_words[0].against)), title: `${times(each.occurrences)} in the text` },
          each.word, make("small", {}, signed(each.against))))),
    ] : null);
}

/** What moved the choice: bars to the right speak for the candidate, bars to the left for its rival. */
function odds(shown) {
  const parts = Object.entries(PARTS).filter(([part]) => part !== "context" || shown.odds[part] !== 0);
  return balance(`For it, or for ${shown.rival}, in log odds`, parts, shown.odds);
}

/** The evidence that the mention is NIL. */
const DOUBTS = {
  string: ["name", "how often the string is a link, and to how many articles"],
  title: ["title", "whether the string looks like the title of its best candidate"],
  document: ["text", "fit of the best candidate to the text"],
  names: ["names", "whether the string is part of another name"],
  candidate: ["rival", "how sure the choice among the candidates is"],
};

function against(mention) {
  return mention.unknown ? make("div", { class: "why" },
    balance("For none of them, or for the best, in log odds", Object.entries(DOUBTS), mention.unknown)) : null;
}

function balance(title, parts, terms) {
  const most = Math.max(...parts.map(([part]) => Math.abs(terms[part])), 1);
  return [
    make("h3", {}, title),
    make("dl", { class: "odds" }, parts.map(([part, [name, hint]]) => [
      make("dt", { title: hint }, name),
      make("dd", {}, make("span", { class: "balance", "aria-hidden": "true" }, side(terms[part], most)), make("span", {}, signed(terms[part]))),
    ]).flat(), make("dt", { class: "sum" }, "sum"), make("dd", { class: "sum" }, make("span", {}), make("span", {}, signed(terms.total)))),
  ];
}

function side(value, most) {
  const width = 50 * Math.abs(value) / most;
  return make("span", { class: value < 0 ? "contra" : "pro", "width%": width, "left%": value < 0 ? 50 - width : 50 });
}

const times = (count) => (count === 1 ? "once" : `${count} times`);
const signed = (value) => (Math.abs(value) < 0.005 ? "0" : `${value > 0 ? "+" : "−"}${Math.abs(value).toFixed(2)}`);

function pulled(each) {
  const neighbours = each.shared ? `${each.shared} ${each.shared === 1 ? "neighbour" : "neighbours"} in common` : "";
  const how = [each.linked ? "a link" : "", neighbours].filter(Boolean).join(", ");
  return `“${each.mention}” (${times(each.times)}) means ${each.title} (${percent(each.probability)}): ${how}`;
}

function because(mention, shown, chosen) {
  if (mention.candidates.length === 1) return `${shown.title} is its only candidate.`;
  const byName = mention.candidates.reduce((one, other) => (other.prior > one.prior ? other : one));
  const parts = Object.keys(PARTS).filter((part) => Math.abs(shown.odds[part]) >= 0.005);
  const sorted = parts.sort((one, other) => shown.odds[other] - shown.odds[one]);
  const named = { prior: "the prior", words: "the words of the text", title: "its title", context: "the words next to it", graph: "the other names" };
  if (chosen > 0) {
    const against = sorted.reverse().filter((part) => shown.odds[part] < 0).slice(0, 2).map((part) => named[part]);
    return `${shown.title} is less probable than ${shown.rival}${against.length ? `, because of ${against.join(" and ")}` : ""}.`;
  }
  const speak = sorted.filter((part) => shown.odds[part] > 0).slice(0, 2).map((part) => named[part]).join(" and ");
  const rival = speak ? ` Against the runner-up, ${shown.rival}, ${speak} decided.` : "";
  if (byName.title !== shown.title) return `By its name only, this would be ${byName.title} (${percent(byName.prior)}).${rival}`;
  return `By its name it is ${shown.title} most often (${percent(shown.prior)}).${rival}`;
}

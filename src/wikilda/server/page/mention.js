// The chosen mention: its candidates as bars, the article, and why.

import { article, get, make, percent } from "./make.js";

export function showMention(mention, chosen, choose) {
  const place = get("mention");
  if (!mention.candidates.length) {
    place.replaceChildren(
      make("p", { class: "said" }, `“${mention.text}”`),
      make("p", { class: "empty" }, "The wiki never links this string, so there is nothing that it could mean here."),
    );
    return;
  }
  const shown = mention.candidates[chosen];
  place.replaceChildren(
    make("p", { class: "said" }, `“${mention.text}”`),
    make("p", { class: "quiet" }, "bar: with this text · tick: by the name alone"),
    make("ol", { class: "candidates" }, mention.candidates.map((each, at) => candidate(each, at === chosen, () => choose(at)))),
    make("div", { class: "article" },
      make("h3", {}, article(shown.url, shown.title)),
      shown.sentence ? make("p", { class: "sentence" }, shown.sentence) : null,
      shown.wikidata ? make("p", { class: "quiet" }, article(`https://www.wikidata.org/wiki/${shown.wikidata}`, shown.wikidata)) : null),
    why(mention, shown, chosen),
  );
}

function candidate(each, pressed, choose) {
  return make("li", {},
    make("button", { type: "button", "aria-pressed": String(pressed), onclick: choose },
      make("span", { class: "name-line" }, make("b", {}, each.title), make("span", {}, percent(each.probability))),
      bar(each.probability, each.prior)));
}

/** A bar, with a tick where the prior is; the numbers beside it say the same to those who do not see it. */
export function bar(value, prior) {
  return make("span", { class: "track", "aria-hidden": "true", title: prior === undefined ? null : `by the name alone ${percent(prior)}` },
    make("span", { class: "fill", "width%": 100 * value }),
    prior === undefined ? null : make("span", { class: "tick", "left%": Math.min(99.5, 100 * prior) }));
}

function why(mention, shown, chosen) {
  return make("div", { class: "why" },
    make("p", { class: "because" }, because(mention, shown, chosen)),
    shown.company.length ? [
      make("h3", {}, `Company: like what the other names mean (${shown.coherence.toFixed(2)} on average)`),
      make("ul", { class: "chips" }, shown.company.map((each) =>
        make("li", { "--pull": each.similarity, title: `“${each.mention}” means ${each.title} (${percent(each.probability)})` },
          each.title, make("small", {}, each.similarity.toFixed(2))))),
    ] : null,
    shown.top_words.length ? [
      make("h3", {}, `Words: ${shown.words.toFixed(1)} of them had this topic`),
      make("ul", { class: "chips" }, shown.top_words.map((each) =>
        make("li", { "--pull": Math.min(1, each.tokens / each.occurrences), title: `in ${percent(each.tokens / each.occurrences)} of sweeps` },
          each.word, make("small", {}, each.tokens.toFixed(2))))),
    ] : null);
}

function because(mention, shown, chosen) {
  const byName = mention.candidates.reduce((one, other) => (other.prior > one.prior ? other : one));
  const best = mention.candidates[0];
  const pulls = shown.company.slice(0, 3).map((each) => each.title).join(", ");
  if (mention.candidates.length === 1) return `In this wiki “${mention.text}” means nothing else.`;
  if (chosen > 0) {
    const less = shown.coherence < best.coherence ? `fits the other names less (${shown.coherence.toFixed(2)} against ${best.coherence.toFixed(2)})` : "fits the other names as well, but its name speaks less for it";
    return `${shown.title} had ${percent(shown.probability)} of the sweeps: it ${less} than ${best.title}.`;
  }
  if (byName.title !== shown.title)
    return `By its name alone this would be ${byName.title} (${percent(byName.prior)}). ${pulls ? `${pulls} pull it to ${shown.title}.` : `The words of the text make it ${shown.title}.`}`;
  return `The name alone says so (${percent(shown.prior)})${pulls ? `, and ${pulls} agree` : ""}.`;
}

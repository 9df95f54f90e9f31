// Texts of the data: hidden characters become visible, long texts are cut.
import { button, counted, make } from "./dom.js";

/** Characters that are not seen, or that change how others are seen. */
const HIDDEN = "[\\0-\\x08\\x0B-\\x1F\\x7F-\\x9F\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5"
  + "\\u180B-\\u180E\\u200B\\u200C\\u200E\\u200F\\u2028-\\u202E\\u2060-\\u206F\\u3164\\uFEFF"
  + "\\uFFA0\\uFFF0-\\uFFFB\\u{E0000}-\\u{E0FFF}\\uD800-\\uDFFF]"
  // The joiner between two pictures makes one picture of them.
  + "|(?<![\\p{Extended_Pictographic}\\uFE0F\\u{1F3FB}-\\u{1F3FF}])\\u200D";
const RUNS = new RegExp(`(${HIDDEN})\\1*`, "gu");
const ANY = new RegExp(HIDDEN, "u");
/** Characters of a text that are shown at first. */
const SHOWN = 3000;
/** Characters that are shown around a finding. */
const AROUND = 300;

/** Return the label of some equal characters. */
function labelOf(run) {
  const code = run.codePointAt(0);
  const count = run.length / (code > 0xffff ? 2 : 1);
  const name = "U+" + code.toString(16).toUpperCase().padStart(4, "0");
  return count > 1 ? `${name} × ${counted(count)}` : name;
}

/** Add a text to an element, with labels in the place of hidden characters. */
export function addText(parent, text) {
  if (!ANY.test(text)) {
    parent.append(text);
    return parent;
  }
  let from = 0;
  for (const run of text.matchAll(RUNS)) {
    parent.append(text.slice(from, run.index),
      make("span", { class: "hidden", title: "a character that is not seen" }, labelOf(run[0])));
    from = run.index + run[0].length;
  }
  parent.append(text.slice(from));
  return parent;
}

/** Return a text with labels in brackets in the place of hidden characters, where no element can be. */
export function plain(text) {
  return text.replace(RUNS, (run) => `[${labelOf(run)}]`);
}

/** Put a text into an element, with labels in the place of hidden characters. */
export function setText(element, text) {
  if (ANY.test(text)) addText((element.replaceChildren(), element), text);
  else element.textContent = text;
  return element;
}

/** Return a place that does not divide a pair of surrogates. */
function whole(text, place) {
  const code = text.charCodeAt(place);
  const isSecond = code >= 0xdc00 && code <= 0xdfff && place > 0;
  return isSecond ? place - 1 : place;
}

/** Return a block with a text; a long one is cut, and a button shows all of it. */
export function textBlock(text, fullLength = null, values = {}) {
  const block = make("div", { class: "text", dir: "auto", ...values });
  const end = text.length > SHOWN * 1.2 ? whole(text, SHOWN) : text.length;
  addText(block, text.slice(0, end));
  if (end < text.length) {
    const more = button(`Show all ${counted(text.length)} characters`, () => {
      more.remove();
      addText(block, text.slice(end));
    }, { class: "more" });
    block.append(more);
  }
  if (fullLength)
    block.append(make("span", { class: "cut" },
      ` cut here: ${counted(text.length)} of ${counted(fullLength)} characters; the whole row can be downloaded`));
  return block;
}

/** Return the words in the place of an answer without text, null for one that has text. */
export function standIn(answer) {
  return answer === null ? "no answer" : answer === "" ? "empty answer" : null;
}

/** Return the same as a paragraph. */
export function standInBlock(answer) {
  const words = standIn(answer);
  return words && make("p", { class: "soft" }, `${words[0].toUpperCase()}${words.slice(1)}.`);
}

/** Return the text of any value: texts as they are, others as JSON. */
export function written(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 1);
}

/** Return places in code points as places in the units of a text. */
function unitsOf(text, points) {
  const sorted = [...new Set(points)].sort((a, b) => a - b);
  const found = new Map();
  let unit = 0;
  let point = 0;
  for (const wanted of sorted) {
    while (point < wanted && unit < text.length) {
      unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
      point += 1;
    }
    found.set(wanted, unit);
  }
  return found;
}

/** Return the parts of a long text that are shown at first: its begin, and what is around findings. */
function windows(text, places) {
  if (text.length <= SHOWN * 1.2) return [[0, text.length]];
  const wanted = [[0, SHOWN], ...places.map(({ begin, end }) => [begin - AROUND, end + AROUND])]
    .map(([begin, end]) => [whole(text, Math.max(0, begin)), whole(text, Math.min(text.length, end))])
    .sort((a, b) => a[0] - b[0]);
  const joined = [];
  for (const [begin, end] of wanted) {
    const last = joined.at(-1);
    if (last && begin <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([begin, end]);
  }
  return joined;
}

/** Add a part of a text with marks where findings are. */
function addMarked(parent, text, from, to, places) {
  const cuts = new Set([from, to]);
  const here = places.filter(({ begin, end }) => begin < to && end > from);
  for (const { begin, end } of here)
    for (const cut of [begin, end]) if (cut > from && cut < to) cuts.add(cut);
  const sorted = [...cuts].sort((a, b) => a - b);
  let open = [];
  const starts = here.toSorted((a, b) => a.begin - b.begin);
  let next = 0;
  for (let at = 0; at + 1 < sorted.length; at += 1) {
    const [begin, end] = [sorted[at], sorted[at + 1]];
    while (next < starts.length && starts[next].begin <= begin) open.push(starts[next++]);
    open = open.filter((place) => place.end > begin);
    if (!open.length) {
      addText(parent, text.slice(begin, end));
      continue;
    }
    const first = open.filter((place) => Math.max(place.begin, from) === begin);
    const mark = make("mark", { class: open[0].severity, "data-findings": open.map((one) => one.number).join(" ") },
      first.map((one) => make("b", {}, String(one.number))));
    parent.append(addText(mark, text.slice(begin, end)));
  }
}

/** Return a block of raw text with numbered marks at the places of findings. */
export function markedBlock(text, findings) {
  const placed = findings.map((one, at) => ({ ...one, number: at + 1 }))
    .filter((one) => one.begin !== null && one.begin !== undefined);
  const units = unitsOf(text, placed.flatMap((one) => [one.begin, one.end ?? one.begin]));
  const places = placed.map((one) => {
    const begin = Math.min(units.get(one.begin), Math.max(0, text.length - 1));
    return { number: one.number, severity: one.severity, begin,
      end: Math.max(units.get(one.end ?? one.begin), begin + (text.codePointAt(begin) > 0xffff ? 2 : 1)) };
  });
  const block = make("pre", { class: "raw", tabindex: 0, "aria-label": "The row as it is in the file" });
  let last = 0;
  const gap = (to) => {
    if (to <= last) return;
    block.append(button(`Show ${counted(to - last)} more characters`, () => {
      block.replaceChildren();
      addMarked(block, text, 0, text.length, places);
    }, { class: "more" }));
  };
  for (const [begin, end] of windows(text, places)) {
    gap(begin);
    addMarked(block, text, begin, end, places);
    last = end;
  }
  gap(text.length);
  return block;
}

// The part of the page that compares two systems question by question.
import { go } from "./address.js";
import { button, choice, copyButton, counted, labelled, make, plural, rounded, say, table } from "./dom.js";
import { severityMark } from "./facets.js";
import { ask } from "./server.js";
import { VirtualTable } from "./table.js";
import { addText, plain, setText, standIn, standInBlock, textBlock } from "./text.js";

const VERDICTS = [["all", "all questions"], ["a-right", "A right, B wrong"], ["b-right", "B right, A wrong"], ["differs", "the verdicts differ"]];
const ORDERS = [["", "as in the file"], ["difference", "largest difference first"]];

/** Return a column with the answer of one side. */
function answerColumn(side, title) {
  return { key: `${side}-answer`, title, width: [10, 3], fill: (cell, row) => {
    const { answer, unread } = row[side];
    const instead = answer === null && unread ? "not read" : standIn(answer);
    if (instead) cell.textContent = instead;
    else setText(cell, answer);
    cell.title = unread ? plain(unread) : "";
    cell.classList.toggle("missing", Boolean(instead));
  } };
}

/** Return a column with the score of one side. */
function scoreColumn(side, title) {
  return { key: `${side}-score`, title, width: [6, 0], number: true, fill: (cell, row) => {
    const { score, correct, records } = row[side];
    const mean = records > 1 ? ` (mean of ${counted(records)})` : "";
    cell.textContent = rounded(score) + (correct === true ? " ✓" : correct === false ? " ✗" : "") + mean;
  } };
}

/** Return an answer whose words that the other does not have are marked. */
function wordsBlock(words) {
  const block = make("div", { class: "text", dir: "auto" });
  for (const [kind, text] of words) addText(kind === "same" ? block : block.appendChild(make("ins")), text);
  return block;
}

/** Return tables of scores side by side, and below them how they were computed. */
function scoreTables(tables) {
  if (!tables.length) return [];
  const shown = tables.map(({ title, columns, rows }) =>
    table(columns.map(plain), rows.map((row) => row.map((cell) => addText(make("span"), String(cell)))), plain(title)));
  const notes = [...new Set(tables.flatMap((one) => one.notes))].map((note) => addText(make("p", { class: "soft" }), note));
  return [make("div", { class: "tables" }, shown),
    make("details", {}, make("summary", {}, "How this was computed"), notes)];
}

/** The comparison of two systems. */
export class Comparison {
  /** Make the part of the page. */
  constructor() {
    this.bar = make("div", { class: "tools filters" });
    this.scores = make("div", { class: "scores-table" });
    this.count = make("p", { class: "count" });
    this.table = new VirtualTable({
      label: "Questions that both systems answer",
      load: (start, count, signal) => ask("compare", { ...this.values(), start, count }, signal),
      open: (row) => go({ pair: String(row.a.record) }, Boolean(this.state.pair)),
      loaded: (answer) => this.loaded(answer),
      none: (isAll) => (isAll ? "No question matches." : "Nothing found so far; the files are still being read."),
    });
    this.table.setColumns([
      { key: "question", title: "Question", width: [6, 1], fill: (cell, row) => setText(cell, String(row.question ?? "")) },
      { key: "prompt", title: "Prompt", width: [10, 3], fill: (cell, row) => setText(cell, row.prompt ?? "") },
      answerColumn("a", "Answer of A"), answerColumn("b", "Answer of B"),
      scoreColumn("a", "A"), scoreColumn("b", "B"),
      { key: "difference", title: "Difference", width: [6, 0], number: true,
        fill: (cell, row) => { cell.textContent = rounded(row.difference); } },
    ]);
    this.panel = make("aside", { class: "record", "aria-label": "Both answers", hidden: true });
    this.split = make("div", { class: "split" }, this.table.element, this.panel);
    this.element = make("div", { class: "records compare" }, this.bar, this.scores,
      make("div", { class: "above" }, this.count), this.split);
  }

  /** Return the values of the requests; what is shown first stays, whatever becomes known of the files later. */
  values() {
    const { a, b, compared, by, verdict, rank } = this.state;
    const { systems, metrics } = this.systems;
    this.first ??= systems.map(({ index }) => String(index));
    this.metric ||= metrics[0] ?? "";
    return { a: a ?? this.first[0], b: b ?? this.first[1],
      metric: compared ?? this.metric, by: by ?? null, verdict: verdict ?? "all",
      sort: rank ?? null };
  }

  /** Return the choices of the page as values of its address, which need not have them. */
  chosen() {
    const { a, b, metric } = this.values();
    return { a, b, compared: metric };
  }

  /** Show the systems and the rows of the state. */
  show(state, files, systems) {
    const before = this.signature;
    this.state = state;
    this.systems = systems;
    const values = this.values();
    this.signature = JSON.stringify(values);
    const choices = JSON.stringify([values, systems.systems, systems.metrics]);
    if (choices !== this.shown) this.choices(values);
    this.shown = choices;
    if (before !== this.signature) {
      this.table.reset();
      this.count.textContent = "";
    }
    const pair = JSON.stringify([values.a, values.b, values.metric, state.force ?? null]);
    if (pair !== this.pair) this.showTable(values, Boolean(state.force));
    this.pair = pair;
    this.split.classList.toggle("opened", Boolean(state.pair));
    document.body.classList.toggle("has-record", Boolean(state.pair));
    if (state.pair) this.showPair(state.pair, values);
    else {
      this.panel.hidden = true;
      this.panelOf = null;
    }
  }

  /** Take what is known of the files now. */
  update(files, state, systems) {
    this.show(state, files, systems);
    if (!this.table.complete) this.table.refresh();
  }

  /** Show the choices of systems, metric and questions. */
  choices(values) {
    const names = this.systems.systems.map(({ index, name }) => [String(index), plain(name)]);
    const set = (key, more = {}) => (event) => go({ [key]: event.target.value || null, pair: null, ...more });
    const other = { force: null };
    const focused = this.bar.contains(document.activeElement) ? document.activeElement.name : null;
    const by = make("input", { name: "by", type: "number", min: 0, step: "any", class: "short", value: values.by, onchange: set("by") });
    this.bar.replaceChildren(
      labelled("System A", choice(names, values.a, { name: "a", onchange: set("a", other) })),
      labelled("System B", choice(names, values.b, { name: "b", onchange: set("b", other) })),
      labelled("Score", choice(this.systems.metrics.map((name) => [name, plain(name)]), values.metric, { name: "compared", onchange: set("compared", other) })),
      labelled("Questions", choice(VERDICTS, values.verdict, { name: "verdict", onchange: set("verdict") })),
      labelled("Differ by more than", by),
      labelled("Order", choice(ORDERS, values.sort ?? "", { name: "rank", onchange: set("rank") })));
    if (focused) this.bar.querySelector(`[name="${focused}"]`)?.focus();
  }

  /** Show the tables of `score compare`; `force` takes scores whose signatures differ. */
  async showTable({ a, b, metric }, force) {
    const now = {};
    this.asked = now;
    this.scores.replaceChildren(make("p", { class: "soft" }, "Scores are being compared…"));
    let parts;
    try {
      const found = await ask("compare/table", { a, b, metric, force: force ? 1 : null });
      parts = scoreTables(found.tables);
      if (!parts.length) {
        parts = [make("p", {}, `There is no table of scores: ${found.reason ?? "these systems have none"}`)];
        if (found.reason?.includes("--force")) parts.push(button("Compare anyway", () => go({ force: "1" }, true)));
      }
      parts.push(found.command === null ? make("p", { class: "soft" }, "No command compares scores with --max-row-bytes.")
        : make("div", { class: "command" }, addText(make("code"), found.command), copyButton("Copy the command", () => found.command)));
    } catch (error) {
      parts = [make("p", { class: "alert" }, error.message)];
    }
    if (this.asked !== now) return;
    const box = make("details", {}, make("summary", {}, "Scores with interval and test"), parts);
    box.open = innerHeight > 700;
    this.scores.replaceChildren(box);
  }

  /** Say how many questions there are. */
  loaded(answer) {
    const only = [answer.only_a ? `${counted(answer.only_a)} only in A` : "", answer.only_b ? `${counted(answer.only_b)} only in B` : ""];
    this.count.textContent = [`${plural(answer.total, "question")} of ${counted(answer.matched)} in both${answer.complete ? "" : " so far"}`,
      ...only.filter(Boolean)].join(" · ");
    if (answer.complete) say(this.count.textContent);
    if (this.state.pair) this.showPairScores();
  }

  /** Show both answers to a question side by side. */
  async showPair(record, { a, b, metric }) {
    const key = JSON.stringify([record, a, b]);
    if (key === this.panelOf) return;
    this.panelOf = key;
    this.panel.hidden = false;
    const tools = make("div", { class: "tools" },
      button("Previous", () => this.key("k"), { title: "Previous question (k)", "aria-keyshortcuts": "k" }),
      button("Next", () => this.key("j"), { title: "Next question (j)", "aria-keyshortcuts": "j" }),
      button("Close", () => this.key("Escape"), { title: "Close (Escape)", "aria-keyshortcuts": "Escape" }));
    const title = make("h2", { tabindex: -1 }, "Both answers");
    let parts;
    let isRefused = false;
    try {
      const found = await ask("compare/record", { a, b, metric, record });
      const side = (one, letter) => make("section", { class: "answer" },
        addText(make("h3", {}, `${letter}: `), one.name),
        standInBlock(one.text)
          ?? (one.words?.length ? wordsBlock(one.words) : textBlock(one.text ?? "")),
        make("p", { class: "pair-score", "data-side": letter.toLowerCase() }));
      const sides = [side(found.a, "A"), side(found.b, "B")];
      parts = [make("section", { class: "part" }, make("h3", {}, "Prompt"), textBlock(found.prompt ?? "")),
        make("div", { class: "sides" }, sides),
        make("p", { class: "soft" }, found.a.words ? "Underlined words are only in one of the answers."
          : "Words are not underlined: the answers are too long, or have too little in common."),
        found.references?.length ? make("section", { class: "part" }, make("h3", {}, "References"), found.references.map((one) => textBlock(String(one)))) : null];
      const file = this.systems.systems.find(({ index }) => String(index) === a)?.file;
      parts.push(button("Open the record of A", () => go({ view: "records", file: String(file ?? 0), open: String(record), pair: null }), { class: "plain" }));
    } catch (error) {
      isRefused = true;
      parts = [make("p", { class: "alert" }, error.message)];
    }
    if (this.panelOf !== key) return;
    if (isRefused) this.panelOf = null; // it is asked for again once more of the files is known
    const isNew = !this.panel.childElementCount;
    this.panel.replaceChildren(make("div", { class: "record-head" }, title, tools), make("div", { class: "record-content" },
      make("div", { class: "fields" }, parts.filter(Boolean))));
    this.showPairScores();
    if (isNew) title.focus();
  }

  /** Show the scores of both answers, as soon as their row is here. */
  showPairScores() {
    const row = this.rowOf(this.state.pair);
    if (!row) return;
    for (const place of this.panel.querySelectorAll(".pair-score:empty")) {
      const { score, correct } = row[place.dataset.side];
      place.append(addText(make("b"), this.values().metric), ` ${rounded(score)} `,
        ...(correct === null ? [] : [severityMark(correct ? "good" : "error", correct ? "right" : "wrong")]));
    }
    if (this.table.active === null) this.table.mark(row.position);
  }

  /** Return the row of a record of A, if it is here. */
  rowOf(record) {
    for (const page of this.table.pages.values())
      for (const row of page.rows ?? []) if (String(row.a.record) === String(record)) return row;
    return null;
  }

  /** Do what a key says; return whether it does something. */
  key(name) {
    const step = { j: 1, k: -1 }[name];
    if (name === "Escape" && this.state.pair) {
      this.panel.replaceChildren();
      go({ pair: null });
      this.table.grid.focus();
      return true;
    }
    if (!step) return false;
    const from = this.table.active ?? this.rowOf(this.state.pair)?.position ?? -1;
    const to = Math.max(0, Math.min(from + step, (this.table.total ?? 1) - 1));
    this.table.mark(to);
    const row = this.table.rowAt(to);
    if (this.state.pair && row) go({ pair: String(row.a.record) }, true);
    return true;
  }
}

/** Tell whether there is something to compare. */
export function canCompare(systems) {
  return systems !== null && systems.systems.length > 1;
}

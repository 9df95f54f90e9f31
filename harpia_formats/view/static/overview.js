// The overview: what the files are, and what was found in them.
import { noFilters, selection } from "./address.js";
import { counted, make, percent, plural, size } from "./dom.js";
import { facets, link, severityMark } from "./facets.js";
import { ask } from "./server.js";
import { setText } from "./text.js";

/** Milliseconds between two counts of all records. */
const AGAIN = 1500;

/** Return a card with a name and a number. */
function card(name, value) {
  return make("div", {}, make("dt", {}, name), make("dd", {}, value));
}

/** Return what is known of a file so far, in cards. */
function cards(file) {
  const counts = file.counts ?? {};
  const known = (value) => (value === null || value === undefined ? "not known yet" : counted(value));
  const pairs = [["records", file.indexed.complete ? file.records : null], ["valid", counts.valid], ["not valid", counts.invalid],
    ["errors", counts.errors], ["warnings", counts.warnings]];
  if (counts.undetermined) pairs.splice(3, 0, ["not decided", counts.undetermined]);
  if (counts.notes) pairs.push(["notes", counts.notes]);
  return make("dl", { class: "cards" }, card("size", file.bytes ? size(file.bytes) : "not known yet"),
    pairs.map(([name, value]) => card(name, known(value))));
}

/** Return one sentence on what is still being read, an empty text at the end. */
export function progressText(file) {
  if (file.state === "changed" || file.state === "failed") return "";
  if (isOpening(file)) return "The file is being opened.";
  const parts = [];
  if (!file.indexed.complete) parts.push(`places of rows found in ${percent(file.indexed)} of the file`);
  if (file.indexed.complete && !file.scanned.complete)
    parts.push(`${plural(file.scanned.done, "record")} read for filters and scores`);
  if (!file.validated.complete && file.format)
    parts.push(`validated ${percent(file.validated)}; findings are not complete yet`);
  const text = parts.join(" · ");
  return text ? text[0].toUpperCase() + text.slice(1) + "." : "";
}

/** Tell whether nothing is known of a file yet. */
export function isOpening(file) {
  return file.state === "reading" && !file.kind;
}

/** Return one sentence on a file: its format and what is read of it. */
export function factsText(file) {
  const kinds = { lines: "one record in each line", array: "one array of records", table: "a table",
    document: "one document", copy: "read from a copy" };
  if (isOpening(file) || (!file.kind && !file.format)) return "";
  const parts = [file.format ? `${file.format}${file.dialect ? ` (${file.dialect})` : ""}` : "no known format: rows are shown as they are",
    kinds[file.kind] ?? file.kind, file.bytes ? size(file.bytes) : ""];
  if (file.records && file.indexed.complete) parts.push(plural(file.records, "record"));
  if (file.copy) parts.push(`read from a temporary copy of the ${file.copy.of} (${size(file.copy.bytes)})`);
  return parts.filter(Boolean).join(" · ");
}

/** The overview of the chosen file and its findings. */
export class Overview {
  /** Make the part of the page. */
  constructor() {
    this.files = make("div", {});
    this.found = make("div", { class: "facets" });
    this.element = make("div", { class: "overview" }, this.files, this.found);
  }

  /** Show the file of the state. */
  show(state, files) {
    this.update(files, state);
  }

  /** Show what is known of the files now. */
  update(files, state) {
    const file = files.files[Number(state.file ?? 0)];
    const name = make("h2");
    setText(name, file.name);
    const rules = file.rules.map((rule) => make("li", {}, severityMark(rule.severity), " ",
      link(`${rule.code} ${rule.name ?? ""}`, { ...noFilters(), view: "records", rule: rule.code, open: null }),
      ` ${plural(rule.count, "finding")} in ${plural(rule.records, "record")}`));
    const isDone = file.validated.complete;
    const none = isDone ? "Nothing was found." : "Nothing was found so far.";
    this.files.replaceChildren(name, cards(file), make("h2", {}, "Findings"),
      ...(isOpening(file) ? [] : !file.format ? [make("p", {}, "Without a known format rows are not checked. Name one with --from if you know it.")]
        : rules.length ? [make("ul", { class: "rules" }, rules)] : [make("p", {}, none)]));
    if (file.unread) this.files.append(setText(make("p", { class: "alert" }), `Values of the records are not known: ${file.unread}`));
    if (isOpening(file)) this.found.replaceChildren();
    else if (!files.redacted) this.summarize(state);
    else this.found.replaceChildren(make("p", { class: "soft" },
      "Values are not shown (--redact): there are no search, counts of values or histograms."));
  }

  /** Show counts and histograms of all records of the file. */
  async summarize(state) {
    this.state = state;
    clearTimeout(this.again);
    if (this.isSummarizing) return;
    this.isSummarizing = true;
    let isAll = false;
    try {
      const summary = await ask("summary", selection(state, []));
      if (state !== this.state) return;
      isAll = summary.complete;
      const parts = facets({ ...summary, rules: [] }, noFilters());
      const rest = summary.complete ? "" : `So far ${plural(summary.known, "record")} are counted.`;
      this.found.replaceChildren(make("h2", {}, "What the records hold"),
        ...(rest ? [make("p", { class: "soft" }, rest)] : []),
        make("div", { class: "facet-grid" }, parts.length ? parts : make("p", {}, "No models, categories or scores are known.")));
    } catch (error) {
      this.found.replaceChildren(make("p", { class: "alert" }, error.message));
      isAll = true;
    } finally {
      this.isSummarizing = false;
      if (state !== this.state) this.summarize(this.state);
      else if (!isAll && this.element.isConnected) this.again = setTimeout(() => this.summarize(this.state), AGAIN);
    }
  }
}

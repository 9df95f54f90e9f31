// The part of the page with the table of records.
import { go, isSameSelection, selection } from "./address.js";
import { counted, make, plural, rounded, say } from "./dom.js";
import { facets, severityMark } from "./facets.js";
import { FilterBar } from "./filters.js";
import { RecordPanel } from "./record.js";
import { ask } from "./server.js";
import { VirtualTable } from "./table.js";
import { plain, setText, standIn } from "./text.js";

const AGAIN = 700;

/** Return the keys of columns as they stand in the address, where commas part them. */
function joined(keys) {
  return keys.map((key) => key.replace(/[%,]/g, encodeURIComponent)).join(",");
}

/** Return the keys of columns in a value of the address. */
function parted(text) {
  return text.split(",").map((key) => key.replace(/%25|%2C/g, decodeURIComponent));
}

/** Return a column with a text of the row. */
function textColumn(key, title, width) {
  return { key, title, width, fill: (cell, row) => {
    const text = row[key];
    const instead = key === "answer" && !row.unread ? standIn(text) : null;
    cell.classList.toggle("missing", Boolean(instead));
    if (instead) cell.textContent = instead;
    else setText(cell, String((row.unread && key === "prompt" ? row.raw : text) ?? ""));
  } };
}

/** Show the findings of a row. */
function fillFindings(cell, row) {
  cell.replaceChildren(...(row.unread ? [severityMark("error", "not read"), " "] : []),
    ...row.findings.flatMap(({ code, severity, count }) =>
      [severityMark(severity, count > 1 ? `${code} × ${counted(count)}` : code), " "]));
  cell.title = row.unread ? plain(row.unread) : row.findings.map(({ code, severity, count }) => `${severity} ${code}: ${count}`).join(", ");
}

/** Return all columns that a file can have. */
function columnsOf(file) {
  return [
    { key: "record", title: "Record", width: [5, 0], number: true, sort: "record",
      fill: (cell, row) => { cell.textContent = counted(row.record); } },
    { key: "line", title: "Line", width: [5, 0], number: true, hidden: true,
      fill: (cell, row) => { cell.textContent = row.line ? counted(row.line) : ""; } },
    textColumn("id", "Id", [7, 1]),
    textColumn("prompt", "Prompt", [12, 4]),
    textColumn("answer", "Answer", [10, 3]),
    textColumn("reference", "Reference", [7, 2]),
    { key: "models", title: "Model", width: [8, 1], hidden: true,
      fill: (cell, row) => setText(cell, (row.models ?? []).join(", ")) },
    { key: "correct", title: "Right", width: [5, 0], hidden: true,
      fill: (cell, row) => { cell.textContent = { true: "right", false: "wrong" }[row.correct] ?? ""; } },
    ...file.metrics.map((metric) => ({ key: `score:${metric}`, title: plain(metric), width: [6, 0], number: true, sort: `score:${metric}`,
      fill: (cell, row) => { cell.textContent = rounded(row.scores?.[metric]); } })),
    { key: "bytes", title: "Bytes", width: [5, 0], number: true, sort: "length", hidden: true,
      fill: (cell, row) => { cell.textContent = counted(row.bytes); } },
    { key: "findings", title: "Findings", width: [11, 1], sort: "findings", fill: fillFindings },
  ];
}

/** The table, its filters, its counts and the record that is open. */
export class Records {
  /** Make the part of the page. */
  constructor() {
    this.filters = new FilterBar((record) => this.jumped(record));
    this.table = new VirtualTable({
      label: "Records", sort: (key) => this.sort(key),
      load: (start, count, signal) => ask("rows", { ...selection(this.state), start, count }, signal),
      open: (row) => go({ open: String(row.record) }, Boolean(this.state.open)),
      loaded: (answer) => this.loaded(answer),
      none: (isAll) => (isAll ? "No record matches." : "Nothing found so far; the file is still being read."),
    });
    this.panel = new RecordPanel(() => this.closeRecord());
    this.count = make("p", { class: "count" });
    this.menu = make("details", { class: "columns" }, make("summary", {}, "Columns"));
    this.side = make("div", { class: "side-content" });
    this.sideBox = make("details", { class: "side" }, make("summary", {}, make("h2", {}, "Counts of these rows")), this.side);
    this.sideBox.open = matchMedia("(min-width: 75rem)").matches;
    this.sideBox.addEventListener("toggle", () => this.summarize());
    this.split = make("div", { class: "split" }, this.sideBox, this.table.element, this.panel.element);
    this.element = make("div", { class: "records" }, this.filters.element,
      make("div", { class: "above" }, this.count, this.menu), this.split);
  }

  /** Show the rows and the record of the state. */
  show(state, files) {
    const before = this.state;
    this.state = state;
    this.files = files;
    const file = files.files[Number(state.file ?? 0)];
    this.filters.show(state, files);
    this.sideBox.hidden = files.redacted;
    this.columns(file);
    if (!before || !isSameSelection(before, state)) {
      this.table.reset();
      this.count.textContent = "";
      this.summary = null;
      this.summarize();
    }
    const sort = state.sort ?? "record";
    this.table.heads(sort, state.order ?? "asc");
    this.split.classList.toggle("opened", Boolean(state.open));
    document.body.classList.toggle("has-record", Boolean(state.open));
    if (state.open) this.showRecord(state, files);
    else this.panel.close();
  }

  /** Show the open record, and mark it in the table. */
  async showRecord(state, files) {
    const before = this.panel.found;
    await this.panel.show(state, files);
    const found = this.panel.found;
    if (typeof found?.position !== "number" || String(found.record) !== this.state.open) return;
    // A table that was moved is not moved back because its record is asked for again.
    if (found.position !== before?.position || this.table.active === null) this.table.mark(found.position);
  }

  /** Take what is known of the files now. */
  update(files) {
    this.files = files;
    this.filters.show(this.state, files);
    this.columns(files.files[Number(this.state.file ?? 0)]);
    this.table.refresh();
    if (this.summary && !this.summary.complete) this.summarize();
  }

  /** Show the chosen columns. */
  columns(file) {
    const all = columnsOf(file);
    const given = this.state.columns && parted(this.state.columns);
    const chosen = all.filter((column) => (given ? given.includes(column.key) : !column.hidden));
    const now = JSON.stringify([all.map(({ key }) => key), chosen.map(({ key }) => key)]);
    if (now === this.signature) return;
    this.signature = now;
    this.table.setColumns(chosen);
    this.table.heads(this.state.sort ?? "record", this.state.order ?? "asc");
    const keys = new Set(chosen.map(({ key }) => key));
    this.menu.replaceChildren(this.menu.firstElementChild, make("div", { class: "menu" }, all.map(({ key, title }) =>
      make("label", { class: "check" }, make("input", { type: "checkbox", checked: keys.has(key), onchange: (event) => {
        if (event.target.checked) keys.add(key);
        else keys.delete(key);
        go({ columns: joined(all.map((one) => one.key).filter((one) => keys.has(one))) }, true);
      } }), title))));
  }

  /** Sort by a column, or turn its order. */
  sort(key) {
    const isSame = (this.state.sort ?? "record") === key;
    const order = isSame && (this.state.order ?? "asc") === "asc" ? "desc" : null;
    go({ sort: key === "record" && !order ? null : key, order });
  }

  /** Say how many rows there are, and how far a search is. */
  loaded(answer) {
    const text = plural(answer.total, "record") + (answer.complete ? "" : " so far");
    if (this.count.textContent !== text) this.count.textContent = text;
    if (answer.complete) say(text);
    this.filters.searched(answer.searched);
    if (this.summary && answer.complete && !this.summary.complete) this.summarize();
    if (this.state.open && this.panel.key === null) this.showRecord(this.state, this.files);
  }

  /** Show the counts of the chosen rows. */
  async summarize() {
    clearTimeout(this.again);
    if (!this.sideBox.open || this.files.redacted || this.isSummarizing) return;
    const state = this.state;
    this.isSummarizing = true;
    try {
      const summary = await ask("summary", selection(state));
      if (!isSameSelection(state, this.state)) return;
      this.summary = summary;
      const rest = summary.complete ? null : make("p", { class: "soft" }, `So far ${plural(summary.known, "record")} are counted.`);
      const parts = facets(summary);
      this.side.replaceChildren(...[rest, ...(parts.length ? parts : [make("p", { class: "soft" }, "There is nothing to count.")])].filter(Boolean));
    } catch (error) {
      this.side.replaceChildren(make("p", { class: "alert" }, error.message));
    } finally {
      this.isSummarizing = false;
      if (!isSameSelection(state, this.state)) this.summarize();
      else if (this.summary && !this.summary.complete) this.again = setTimeout(() => this.summarize(), 2 * AGAIN);
    }
  }

  /** Open a record that was jumped to. */
  jumped(record) {
    go({ open: String(record) }, Boolean(this.state.open));
  }

  /** Close the record, and go back to the table. */
  closeRecord() {
    go({ open: null });
    this.table.grid.focus();
  }

  /** Do what a key says; return whether it does something. */
  key(name) {
    const panel = this.panel;
    const step = { j: 1, k: -1 }[name];
    if (step && panel.isOpen) panel.move(step > 0 ? "next" : "previous");
    else if (step) {
      this.table.mark(Math.max(0, Math.min((this.table.active ?? -1) + step, (this.table.total ?? 1) - 1)));
      this.table.grid.focus();  // Enter opens the marked record, and no link that was clicked before
    } else if ((name === "n" || name === "p") && panel.isOpen) panel.moveFinding(name === "n" ? 1 : -1);
    else if (name === "/") this.filters.focus("text");
    else if (name === "g") this.filters.focus("jump");
    else if (name === "Enter" && !panel.isOpen && this.table.rowAt(this.table.active ?? -1)) this.table.open(this.table.rowAt(this.table.active));
    else if (name === "Escape" && panel.isOpen) this.closeRecord();
    else return false;
    return true;
  }
}

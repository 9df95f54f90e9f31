// A table of any length: only the rows that are seen are in the page.
import { counted, make } from "./dom.js";

/** The height of a row, which the style has, too. */
const ROW = 32;
/** The greatest height that browsers draw without errors; longer tables are scaled. */
const MOST = 8_000_000;
const PAGE = 100;
const KEPT = 60;
/** Milliseconds without movement before pages are asked for, and before they are asked for again. */
const STILL = 40;
const AGAIN = 700;
let tables = 0;

export class VirtualTable {
  /** Make a table; `load(start, count, signal)` returns `{total, complete, rows}` of a part of it. */
  constructor({ label, load, open, sort = null, loaded = () => {}, none = () => "Nothing to show." }) {
    Object.assign(this, { load, open, sort, loaded, none });
    this.name = `table-${++tables}`;
    this.pages = new Map();
    this.pool = [];
    this.columns = [];
    this.head = make("div", { role: "row", class: "row", "aria-rowindex": 1 });
    this.layer = make("div", { class: "layer", role: "presentation" });
    this.body = make("div", { class: "body", role: "presentation" }, this.layer);
    this.note = make("p", { class: "nothing", hidden: true });
    this.grid = make("div", { role: "grid", tabindex: 0, class: "grid", "aria-label": label },
      make("div", { role: "rowgroup", class: "head" }, this.head), this.body);
    this.element = make("div", { class: "table" }, this.grid, this.note);
    this.grid.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.grid.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    this.grid.addEventListener("keydown", (event) => this.key(event));
    this.grid.addEventListener("touchstart", (event) => { this.touch = event.touches[0].clientY; }, { passive: true });
    this.grid.addEventListener("touchmove", (event) => this.touched(event), { passive: false });
    this.layer.addEventListener("click", (event) => this.clicked(event));
    this.sizes = new ResizeObserver(() => this.resized());
    this.sizes.observe(this.grid);
    this.reset();
  }

  /** End all that waits or is asked for. */
  close() {
    this.sizes.disconnect();
    clearTimeout(this.timer);
    clearTimeout(this.again);
    for (const page of this.pages.values()) page.asked?.abort();
  }

  /** Show other columns: `{key, title, width, fill(cell, row), sort, number}`. */
  setColumns(columns) {
    this.columns = columns;
    this.grid.style.setProperty("--columns", columns.map(({ width }) => `minmax(${width[0]}rem, ${width[1]}fr)`).join(" "));
    const least = columns.reduce((sum, { width }) => sum + width[0], 0);
    this.body.style.minWidth = this.head.parentElement.style.minWidth = `${least}rem`;
    this.grid.setAttribute("aria-colcount", columns.length);
    this.heads();
    for (const row of this.pool) row.element.remove();
    this.pool = [];
    this.resized();
  }

  /** Show the heads, with the direction of the sorted one. */
  heads(sorted = "", order = "asc") {
    this.head.replaceChildren(...this.columns.map((column) => {
      const isSorted = column.sort && column.sort === sorted;
      const direction = order === "desc" ? "descending" : "ascending";
      const title = isSorted ? `${column.title} ${order === "desc" ? "▾" : "▴"}` : column.title;
      return make("div", { role: "columnheader", class: column.number ? "cell number" : "cell", title: column.title,
        "aria-sort": isSorted ? direction : null },
      column.sort && this.sort
        ? make("button", { type: "button", onclick: () => this.sort(column.sort) }, title)
        : title);
    }));
  }

  /** Forget all rows, and begin at the top. */
  reset() {
    for (const page of this.pages.values()) page.asked?.abort();
    this.pages.clear();
    this.total = null;
    this.complete = false;
    this.top = 0;
    this.active = null;
    this.error = null;
    this.version = 0;
    for (const row of this.pool) row.position = null;
    this.grid.scrollTop = this.expected = 0;
    this.resized();
  }

  /** Ask again for the rows that are seen: there may be more, or other findings. */
  refresh() {
    for (const page of this.pages.values()) page.stale = true;
    this.draw();
  }

  /** Return the number of rows that fit, with its fraction. */
  get fit() {
    return Math.max(1, (this.height - ROW) / ROW);
  }

  /** Return how far the table can be scrolled, in pixels. */
  get most() {
    return Math.max(1, Math.min((this.total ?? 0) * ROW, MOST) + ROW - this.height);
  }

  /** Return the row of a position, null if it is not here yet. */
  rowAt(position) {
    return this.pages.get(Math.floor(position / PAGE))?.rows?.[position % PAGE] ?? null;
  }

  /** Tell whether the table is too long to be scrolled by its height. */
  get isScaled() {
    return (this.total ?? 0) * ROW > MOST;
  }

  /** Fit the pool of rows and the length of the body to what there is. */
  resized() {
    this.height = this.grid.clientHeight;
    const height = Math.min((this.total ?? 0) * ROW, MOST);
    this.body.style.height = `${height}px`;
    this.layer.style.height = `${Math.min(height, this.fit * ROW)}px`;
    const wanted = Math.ceil(this.fit) + 1;
    while (this.pool.length < wanted) this.pool.push(this.poolRow(this.pool.length));
    for (const row of this.pool.splice(wanted)) row.element.remove();
    for (const row of this.pool) row.position = null;
    this.grid.setAttribute("aria-rowcount", this.total === null ? -1 : this.total + 1);
    this.moveTo(this.top);
  }

  /** Return a row of the pool, which shows one position after the other. */
  poolRow(number) {
    const cells = this.columns.map((column, at) =>
      make("div", { role: "gridcell", class: column.number ? "cell number" : "cell", "aria-colindex": at + 1 }));
    const element = make("div", { role: "row", class: "row", id: `${this.name}-${number}`, hidden: true }, cells);
    this.layer.append(element);
    return { element, cells, position: null, shown: null };
  }

  /** Bring a row, or a part of it, to the top. */
  moveTo(top) {
    const last = Math.max(0, (this.total ?? 0) - this.fit);
    this.top = Math.max(0, Math.min(top, last));
    this.expected = this.isScaled ? (this.top / last) * this.most : this.top * ROW;
    if (Math.abs(this.grid.scrollTop - this.expected) >= 1) this.grid.scrollTop = this.expected;
    this.draw();
  }

  /** Follow the scroll bar. */
  scrolled() {
    const place = this.grid.scrollTop;
    // A table that is not shown loses its place: it is given back when it is shown again.
    if (!this.height || Math.abs(place - this.expected) < 1) return;
    this.expected = place;
    this.top = this.isScaled ? (place / this.most) * Math.max(0, this.total - this.fit) : place / ROW;
    this.draw();
  }

  /** Move a scaled table by rows: its scroll bar would leave out thousands. */
  wheeled(event) {
    if (!this.isScaled || event.ctrlKey || !event.deltaY) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 1 : event.deltaMode === 2 ? this.fit : 1 / ROW;
    this.moveTo(this.top + event.deltaY * unit);
  }

  /** Move a scaled table by rows under a finger. */
  touched(event) {
    if (!this.isScaled || event.touches.length !== 1) return;
    event.preventDefault();
    const place = event.touches[0].clientY;
    this.moveTo(this.top + (this.touch - place) / ROW);
    this.touch = place;
  }

  /** Move the marked row, or open it. */
  key(event) {
    if (event.target !== this.grid || event.ctrlKey || event.altKey || event.metaKey || !this.total) return;
    const page = Math.max(1, Math.floor(this.fit) - 1);
    const from = this.active ?? -1;
    const to = { ArrowDown: from + 1, ArrowUp: from - 1, PageDown: from + page, PageUp: from - page,
      Home: 0, End: this.total - 1 }[event.key];
    if (to !== undefined) this.mark(Math.max(0, Math.min(to, this.total - 1)));
    else if (event.key === "Enter" && this.active !== null && this.rowAt(this.active))
      this.open(this.rowAt(this.active));
    else return;
    event.preventDefault();
  }

  /** Mark a row, and move it into sight. */
  mark(position) {
    this.active = position;
    if (position !== null && this.total !== null) {
      const whole = Math.floor(this.fit);
      if (position < this.top) this.moveTo(position);
      else if (position > this.top + this.fit - 1) this.moveTo(position - whole + 1 - (this.fit - whole) + 1e-6);
    }
    this.draw();
  }

  /** Open the row that was clicked. */
  clicked(event) {
    if (getSelection().toString() && getSelection().containsNode(event.target, true)) return;
    const element = event.target.closest(".row");
    const row = this.pool.find((one) => one.element === element);
    const found = row && this.rowAt(row.position);
    if (!found) return;
    this.mark(row.position);
    this.open(found);
  }

  /** Draw at the next frame. */
  draw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.drawNow();
    });
  }

  /** Show in the pool what is at the place of the scroll bar. */
  drawNow() {
    const first = Math.floor(this.top);
    const total = this.total ?? 0;
    let marked = null;
    for (let at = first; at < first + this.pool.length; at += 1) {
      const row = this.pool[at % this.pool.length];
      row.element.hidden = at >= total;
      if (at >= total) continue;
      row.element.style.transform = `translateY(${(at - this.top) * ROW}px)`;
      this.fill(row, at);
      if (at === this.active) marked = row.element.id;
    }
    if (marked) this.grid.setAttribute("aria-activedescendant", marked);
    else this.grid.removeAttribute("aria-activedescendant");
    this.say();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.askFor(first, Math.min(first + this.pool.length, total || 1)), STILL);
  }

  /** Show a position in a row of the pool, if it does not show it already. */
  fill(row, at) {
    const found = this.rowAt(at);
    if (row.position !== at || row.shown !== found) {
      row.position = at;
      row.shown = found;
      row.element.setAttribute("aria-rowindex", at + 2);
      row.element.classList.toggle("odd", at % 2 === 1);
      row.element.classList.toggle("loading", !found);
      this.columns.forEach((column, number) => {
        const cell = row.cells[number];
        if (found) column.fill(cell, found);
        else cell.textContent = number ? "" : `… ${counted(at + 1)}`;
      });
    }
    const isMarked = String(at === this.active);
    if (row.element.getAttribute("aria-selected") !== isMarked) row.element.setAttribute("aria-selected", isMarked);
  }

  /** Say why there are no rows. */
  say() {
    const text = this.error ?? (this.total === null ? "Loading…" : this.total ? "" : this.none(this.complete));
    if (this.note.textContent !== text) this.note.textContent = text;
    this.note.hidden = !text;
    this.note.classList.toggle("alert", Boolean(this.error));
  }

  /** Ask for the pages of some rows that are not here; those asked for and not seen any more are given up. */
  askFor(from, to) {
    const wanted = new Set();
    for (let page = Math.floor(from / PAGE); page <= Math.floor(Math.max(from, to - 1) / PAGE); page += 1) wanted.add(page);
    for (const [number, page] of this.pages)
      if (page.asked && !wanted.has(number)) {
        page.asked.abort();
        page.asked = null;
        if (!page.rows) this.pages.delete(number);
      }
    for (const number of wanted) {
      const page = this.pages.get(number) ?? { rows: null, stale: true, asked: null };
      // The page that was used last is the last one to go.
      this.pages.delete(number);
      this.pages.set(number, page);
      if (page.stale && !page.asked) this.ask(number, page);
    }
    for (const number of this.pages.keys()) {
      if (this.pages.size <= KEPT) break;
      this.pages.delete(number);
    }
  }

  /** Ask for one page. */
  async ask(number, page) {
    const asked = new AbortController();
    page.asked = asked;
    page.stale = false;
    try {
      const answer = await this.load(number * PAGE, PAGE, asked.signal);
      if (asked.signal.aborted) return;
      page.rows = answer.rows;
      this.error = null;
      this.answered(answer);
    } catch (error) {
      if (error.name === "AbortError" || asked.signal.aborted) return;
      this.error = error.message;
      this.total ??= 0;
    } finally {
      if (page.asked === asked) page.asked = null;
    }
    this.draw();
  }

  /** Keep what an answer says of the whole, and ask again while more may come. */
  answered(answer) {
    const isNew = answer.total !== this.total;
    const isEnded = answer.complete && !this.complete && this.total !== null;
    this.complete = answer.complete;
    this.total = answer.total;
    if (isNew) this.resized();
    if (isEnded) for (const page of this.pages.values()) if (!page.asked) page.stale = true;
    clearTimeout(this.again);
    if (!answer.complete) this.again = setTimeout(() => this.refresh(), AGAIN);
    this.loaded(answer);
  }
}

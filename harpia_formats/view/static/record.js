// One record: its fields, its row as it is in the file, and what was found in it.
import { go, selection } from "./address.js";
import { button, counted, make, plural, rounded, say, someOf } from "./dom.js";
import { severityMark } from "./facets.js";
import { NoteForm } from "./notes.js";
import { ask, requestOf } from "./server.js";
import { addText, markedBlock, plain, standInBlock, textBlock, written } from "./text.js";

const MESSAGES = 20;
const KEYS = 50;
const FINDINGS = 50;
const OTHERS = 4;
/** Key presses that wait for a record. */
const MOST_WAITING = 4;
/** Fields of an answer, and of a record, that have their own place. */
const SHOWN_OF_ANSWER = new Set(["model", "index", "text", "scores", "reasoning", "turns"]);
const SHOWN_OF_RECORD = new Set(["id", "prompt", "system", "messages", "choices", "references", "gt", "contexts", "outputs", "cut"]);

/** Tell whether a value says nothing. */
function isEmpty(value) {
  return value === null || value === undefined || value === ""
    || (typeof value === "object" && !Object.keys(value).length);
}

/** Return a part with a head, null if it has nothing to say. */
function part(title, ...content) {
  return content.length ? make("section", { class: "part" }, make("h3", {}, title), content) : null;
}

/** Return a list of keys with their values. */
function keyed(values, cutOf = () => null) {
  const list = make("dl", { class: "keyed" });
  return someOf(list, Object.entries(values), ([key, value]) => make("div", {},
    addText(make("dt", { dir: "auto" }), key), make("dd", {}, textBlock(written(value), cutOf(key)))), KEYS);
}

/** Return the text of a message's content, which may have parts. */
function contentBlocks(content, cut) {
  if (isEmpty(content)) return [];
  const parts = Array.isArray(content) ? content : [content];
  return parts.map((one) => textBlock(typeof one?.text === "string" ? one.text : written(one), cut));
}

/** Return one message of a conversation. */
function messageItem(message, cut) {
  const { role, content, name, tool_calls: calls, ...rest } = message;
  const known = Object.fromEntries(Object.entries(rest).filter(([, value]) => !isEmpty(value)));
  return make("li", { class: "message" },
    addText(make("h4", { class: "role" }), [role ?? "message", name].filter(Boolean).map(written).join(" · ")),
    contentBlocks(content, cut),
    (Array.isArray(calls) ? calls : isEmpty(calls) ? [] : [calls]).map((call) => {
      const made = call?.function ?? call ?? {};
      const values = made.arguments ?? made.args ?? made.input;
      return make("div", { class: "call" }, addText(make("h4", {}, "calls "), written(made.name ?? "a tool")),
        textBlock(values === undefined ? written(call) : written(values)));
    }),
    Object.keys(known).length ? keyed(known) : null);
}

/** Return a conversation. */
function conversation(messages, cutOf) {
  return someOf(make("ol", { class: "messages" }), messages,
    (message, at) => messageItem(message, cutOf(`${at}.content`)), MESSAGES);
}

/** Return the scores of an answer with what explains them. */
function scoreList(scores) {
  return make("ul", { class: "scores" }, scores.map((score) => {
    const { metric, value, is_correct: correct, ...rest } = score;
    const known = Object.fromEntries(Object.entries(rest).filter(([, one]) => !isEmpty(one)));
    const verdict = correct === true ? severityMark("good", "right") : correct === false ? severityMark("error", "wrong") : null;
    return make("li", {}, addText(make("b"), String(metric ?? "score")), " ",
      addText(make("span", { class: "number" }), typeof value === "number" ? rounded(value) : written(value ?? "no value")),
      " ", verdict, Object.keys(known).length ? keyed(known) : null);
  }));
}

/** Return one answer. */
function answerItem(output, cutOf) {
  const title = [output.model ?? "answer", output.index ? `answer ${output.index + 1}` : ""].filter(Boolean).join(" · ");
  const rest = Object.fromEntries(Object.entries(output)
    .filter(([key, value]) => !SHOWN_OF_ANSWER.has(key) && !isEmpty(value))
    .map(([key, value]) => [key.replace("_", " "), value]));
  return make("section", { class: "answer" }, addText(make("h4"), title),
    standInBlock(output.text ?? null) ?? textBlock(output.text, cutOf("text")),
    isEmpty(output.scores) ? null : scoreList(output.scores),
    isEmpty(output.reasoning) ? null : make("details", {}, make("summary", {}, "Reasoning"), textBlock(output.reasoning, cutOf("reasoning"))),
    isEmpty(output.turns) ? null : make("details", {}, make("summary", {}, plural(output.turns.length, "turn")),
      conversation(output.turns, (path) => cutOf(`turns.${path}`))),
    Object.keys(rest).length ? make("details", {}, make("summary", {}, "More of this answer"), keyed(rest)) : null);
}

/** Return the parts of a record that has fields. */
function fieldParts(found) {
  const fields = found.fields;
  const cut = fields.cut ?? {};
  const cutOf = (path) => (rest) => cut[`${path}${rest ? `.${rest}` : ""}`] ?? null;
  const texts = (name) => (fields[name] ?? []).map((one, at) => textBlock(written(one), cutOf(name)(String(at))));
  const one = (name) => (isEmpty(fields[name]) ? [] : [textBlock(written(fields[name]), cutOf(name)(""))]);
  const facts = Object.entries(fields).filter(([name, value]) => !SHOWN_OF_RECORD.has(name) && !isEmpty(value));
  return [
    part("Prompt", ...one("prompt")),
    part("System", ...one("system")),
    isEmpty(fields.messages) ? null : part(`Conversation, ${plural(fields.messages.length, "message")}`, conversation(fields.messages, cutOf("messages"))),
    part("Choices", ...(isEmpty(fields.choices) ? [] : [make("ol", {}, texts("choices").map((block) => make("li", {}, block)))])),
    part("References", ...texts("references"), ...(isEmpty(fields.gt) ? [] : [make("p", {}, make("b", {}, "Right answer: "), addText(make("span"), written(fields.gt)))])),
    part("Contexts", ...texts("contexts")),
    part("Answers", ...(fields.outputs ?? []).map((output, at) => answerItem(output, cutOf(`outputs.${at}`)))),
    ...facts.map(([name, value]) => part(name[0].toUpperCase() + name.slice(1),
      typeof value === "object" && !Array.isArray(value) ? keyed(value, cutOf(name)) : textBlock(written(value), cutOf(name)("")))),
  ].filter(Boolean);
}

/** Return what the panel shows of a record below its head, as a text to compare; notes are written there. */
function belowHead(found) {
  return JSON.stringify({ ...found, position: null, previous: null, next: null, total: null, complete: null, note: null });
}

/** The panel of one record. */
export class RecordPanel {
  /** Make the panel; `closed` is called when it is to be left. */
  constructor(closed) {
    this.closed = closed;
    this.title = make("h2", { tabindex: -1 });
    this.where = make("p", { class: "soft" });
    this.back = button("Previous", () => this.move("previous"), { title: "Previous record (k)", "aria-keyshortcuts": "k" });
    this.on = button("Next", () => this.move("next"), { title: "Next record (j)", "aria-keyshortcuts": "j" });
    this.up = button("Previous finding", () => this.moveFinding(-1), { title: "Previous finding (p)", "aria-keyshortcuts": "p" });
    this.down = button("Next finding", () => this.moveFinding(1), { title: "Next finding (n)", "aria-keyshortcuts": "n" });
    this.wide = button("Wider", () => {
      const isWide = document.body.classList.toggle("wide-record");
      this.wide.textContent = isWide ? "With the table" : "Wider";
    }, { class: "only-wide" });
    const close = button("Close", () => this.closed(), { title: "Close (Escape)", "aria-keyshortcuts": "Escape" });
    this.content = make("div", { class: "record-content" });
    this.element = make("aside", { class: "record", "aria-label": "Record", hidden: true },
      make("div", { class: "record-head" }, this.title, this.where,
        make("div", { class: "tools" }, this.back, this.on, this.up, this.down, this.wide, close)), this.content);
    this.found = null;
    /** What is asked for or shown, null if it is to be asked for at the next occasion. */
    this.key = null;
    this.asked = null;
    this.waiting = 0;
    this.queue = this.shown = Promise.resolve();
  }

  /** Tell whether a record is shown. */
  get isOpen() {
    return !this.element.hidden;
  }

  /** Show no record. */
  close() {
    this.asked?.abort();
    this.element.hidden = true;
    this.content.replaceChildren();
    this.found = null;
    this.key = null;
  }

  /** Show the record of the state. */
  show(state, files) {
    this.files = files;
    const values = { ...selection(state), record: state.open };
    const key = JSON.stringify(values);
    if (key !== this.key) this.shown = this.fetch(state, values, key);
    return this.shown;
  }

  /** Ask for a record, and show it; it is asked for again if that fails, or as long as more may become known of it. */
  async fetch(state, values, key) {
    this.key = key;
    this.asked?.abort();
    const asked = this.asked = new AbortController();
    this.element.hidden = false;
    if (!this.found) this.title.textContent = `Record ${state.open}`;
    this.element.setAttribute("aria-busy", "true");
    try {
      const found = await ask("record", values, asked.signal);
      this.draw(found, values.file);
      if (!found.complete) this.key = null;
    } catch (error) {
      if (asked.signal.aborted) return;
      this.key = this.found = null;
      this.title.textContent = `Record ${state.open}`;
      this.where.textContent = "";
      for (const one of [this.back, this.on, this.up, this.down]) one.disabled = true;
      this.content.replaceChildren(make("p", { class: "alert" }, error.message));
    } finally {
      if (asked === this.asked) this.element.removeAttribute("aria-busy");
    }
  }

  /** Do something with the record as soon as it is here; of keys that are held down the last ones are left out. */
  later(act) {
    if (this.waiting >= MOST_WAITING) return;
    this.waiting += 1;
    this.queue = this.queue.then(() => this.shown).then(act).finally(() => { this.waiting -= 1; });
  }

  /** Go to the next or previous record of the chosen rows. */
  move(way) {
    this.later(() => this.moveNow(way));
  }

  /** Go to another finding of this record. */
  moveFinding(step) {
    this.later(() => this.moveFindingNow(step));
  }

  /** Go to the next or previous record of the one that is here. */
  moveNow(way) {
    if (!this.found) return;
    const to = this.found[way];
    if (to === null || to === undefined) say(way === "next" ? "This is the last record." : "This is the first record.");
    else go({ open: String(to) }, true);
  }

  /** Go to another finding of the record that is here. */
  moveFindingNow(step) {
    const count = this.found?.findings.length ?? 0;
    if (!count) return say("Nothing was found in this record.");
    const to = this.finding + step;
    if (to < 0 || to >= count) return say(step > 0 ? "This is the last finding of the record." : "This is the first finding of the record.");
    return this.showFinding(to);
  }

  /** Mark a finding in the list and in the row. */
  showFinding(at) {
    this.finding = at;
    this.up.disabled = at <= 0;
    this.down.disabled = at >= this.found.findings.length - 1;
    for (const one of this.content.querySelectorAll(".current")) one.classList.remove("current");
    while (at >= this.findings.childElementCount) this.findings.nextElementSibling.click();
    const item = this.findings.children[at];
    item?.classList.add("current");
    const mark = this.content.querySelector(`mark[data-findings~="${at + 1}"]`);
    for (const one of this.content.querySelectorAll(`mark[data-findings~="${at + 1}"]`)) one.classList.add("current");
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    for (const one of [item, mark]) one?.scrollIntoView({ block: "nearest", behavior: isStill ? "auto" : "smooth" });
    say(`Finding ${at + 1} of ${this.found.findings.length}: ${plain(this.found.findings[at].message)}`);
  }

  /** Show a record that the server has sent; below its head only what differs from what is shown is made anew. */
  draw(found, file) {
    const before = this.found;
    this.found = found;
    this.title.replaceChildren(`Record ${counted(found.record)}`);
    if (!isEmpty(found.id)) this.title.append(make("span", { class: "id", dir: "auto" }, addText(make("span"), String(found.id))));
    const place = isEmpty(found.position) ? "not among the chosen rows"
      : `${counted(found.position + 1)} of ${counted(found.total)} chosen rows`;
    const line = isEmpty(found.line) ? "" : `line ${counted(found.line)}, `;
    this.where.textContent = `${line}byte ${counted(found.byte_offset ?? 0)}, ${place}`;
    this.back.disabled = isEmpty(found.previous);
    this.on.disabled = isEmpty(found.next);
    if (before === null || belowHead(before) !== belowHead(found)) this.drawBelow(found, file, before?.record === found.record);
  }

  /** Show what stands below the head; of the same record the note that is being written stays. */
  drawBelow(found, file, isSame) {
    const isNew = !this.content.childElementCount;
    const focused = isSame && this.content.contains(document.activeElement) ? document.activeElement : null;
    if (!isSame) this.form = this.note(found, file);
    this.finding = -1;
    this.up.disabled = true;
    this.down.disabled = !found.findings.length;
    const fields = make("div", { class: "fields" });
    if (found.unread) fields.append(make("p", { class: "alert" }, "This row is shown as it is: ", addText(make("span"), found.unread)));
    if (found.fields) fields.append(...fieldParts(found));
    fields.append(...this.others(found), this.form);
    this.findings = make("ol", { class: "findings" });
    const list = someOf(this.findings, found.findings, (one, at) => this.findingItem(one, at), FINDINGS);
    this.content.replaceChildren(fields, make("div", { class: "record-row" },
      make("section", { class: "part" }, make("h3", {}, found.findings.length ? plural(found.findings.length, "finding") : "Nothing was found"), list),
      this.rawPart(found, file)));
    this.content.classList.toggle("only-row", !found.fields);
    if (!isSame) this.content.scrollTop = 0;
    focused?.focus({ preventScroll: true });
    if (isNew && this.element.contains(document.activeElement) === false) this.title.focus({ preventScroll: false });
    say(`Record ${found.record}, ${plural(found.findings.length, "finding")}`);
  }

  /** Return the row as it is in the file. */
  rawPart(found, file) {
    const whole = requestOf("/api/raw", { file, record: found.record });
    const cut = found.raw_cut ? `; the first ${counted(found.raw.length)} characters are shown` : "";
    return make("section", { class: "part" },
      make("h3", {}, `The row in the ${found.raw_of ?? "file"}`),
      make("p", { class: "soft" }, `${plural(found.raw_bytes, "byte")}${cut}. `,
        this.files.redacted ? null : make("a", { href: whole, download: true }, "Download this row")),
      found.raw === undefined ? null : markedBlock(found.raw, found.findings));
  }

  /** Return a finding with its reason and help. */
  findingItem(finding, at) {
    const isAddress = /^https?:/.test(finding.url ?? "");
    const code = isAddress ? make("a", { href: finding.url, rel: "noreferrer noopener", target: "_blank" }, finding.code) : finding.code;
    const hasPlace = finding.begin !== null && finding.begin !== undefined;
    return make("li", { class: "finding" },
      make("p", {}, make("b", {}, `${at + 1} `), severityMark(finding.severity), " ", code, ` ${finding.name ?? ""} `,
        hasPlace ? button("Show its place", () => this.showFinding(at), { class: "plain" }) : make("span", { class: "soft" }, "(of the whole row)")),
      addText(make("p", { dir: "auto" }), finding.message),
      (finding.because ?? []).map((cause) => addText(addText(make("p", { class: "because soft" }), `because ${cause.pointer} is `), written(cause.value).slice(0, 500))),
      finding.help ? addText(make("p", { class: "help" }, make("b", {}, "Help: ")), finding.help) : null);
  }

  /** Return the same question in the other systems. */
  others(found) {
    if (isEmpty(found.others)) return [];
    const parts = found.others.map((other, number) => {
      const answers = make("div");
      const act = async () => {
        show.remove();
        try {
          const theirs = await ask("record", { file: other.file, record: other.record });
          answers.append(...(theirs.fields?.outputs ?? []).map((output) => answerItem(output, () => null)));
          if (!answers.childElementCount) answers.append(make("p", { class: "soft" }, "No answer."));
        } catch (error) {
          answers.append(make("p", { class: "alert" }, error.message));
        }
      };
      const show = button("Show the answer", act);
      if (number < OTHERS) act();
      return make("section", { class: "answer other" }, addText(make("h4"), other.name),
        number < OTHERS ? null : show, answers, button(`Open record ${counted(other.record)}`,
          () => go({ file: String(other.file), open: String(other.record) }), { class: "plain" }));
    });
    return [part("The same question in other systems", ...parts)];
  }

  /** Return the form for a note, or how to get one. */
  note(found, file) {
    if (this.files.notes) return new NoteForm(Number(file), found).element;
    return make("p", { class: "soft" }, "To write notes on records, start the command with --notes FILE.");
  }
}

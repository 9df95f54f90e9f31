// A note on a record: a verdict and a text.
import { make, say } from "./dom.js";
import { tell } from "./server.js";

/** What was written and is not saved yet, by file and record. */
const drafts = new Map();
const VERDICTS = [["right", "Right"], ["wrong", "Wrong"], ["unclear", "Unclear"], ["", "Not given"]];

/** The form of one record. */
export class NoteForm {
  /** Make the form with what is saved or was being written. */
  constructor(file, found) {
    this.file = file;
    this.record = found.record;
    const note = drafts.get(this.key) ?? found.note ?? { verdict: "", text: "" };
    this.text = make("textarea", { rows: 3, name: "note" });
    this.text.value = note.text ?? "";
    this.choices = VERDICTS.map(([value, text]) => make("label", { class: "check" },
      make("input", { type: "radio", name: "verdict", value, checked: note.verdict === value }), text));
    const saved = drafts.has(this.key) ? "Not saved yet." : found.note ? "Saved." : "";
    this.status = make("span", { class: "soft", role: "status" }, saved);
    this.element = make("form", { class: "part note", onsubmit: (event) => this.save(event), oninput: () => this.keep() },
      make("h3", {}, "Note"),
      make("fieldset", {}, make("legend", {}, "Is the answer right?"), this.choices),
      make("label", { class: "whole" }, make("span", {}, "Text"), this.text),
      make("div", { class: "tools" }, make("button", { type: "submit" }, "Save the note"), this.status));
  }

  /** Return the name of the draft. */
  get key() {
    return `${this.file}:${this.record}`;
  }

  /** Return what is written now. */
  get value() {
    const chosen = this.element.querySelector("input[name=verdict]:checked");
    return { verdict: chosen?.value ?? "", text: this.text.value };
  }

  /** Keep what is written while other records are looked at. */
  keep() {
    drafts.set(this.key, this.value);
    this.status.textContent = "Not saved yet.";
  }

  /** Save the note. */
  async save(event) {
    event.preventDefault();
    const value = this.value;
    try {
      await tell("notes", { file: this.file, record: this.record, ...value });
      // What was written meanwhile is still to be saved.
      if (JSON.stringify(this.value) !== JSON.stringify(value)) return;
      drafts.delete(this.key);
      this.status.textContent = "Saved.";
    } catch (error) {
      this.status.textContent = `Not saved: ${error.message}`;
      say(this.status.textContent);
    }
  }
}

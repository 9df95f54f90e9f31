// The bar of filters, the active ones, and the box to jump.
import { FILTERS, go, isGiven, noFilters, selection, shown } from "./address.js";
import { button, choice, labelled, make, percent, say } from "./dom.js";
import { ask, tell } from "./server.js";
import { plain, setText } from "./text.js";

const NAMES = { text: "text", model: "model", category: "category", correct: "judged", answer: "answer",
  rule: "rule", severity: "severity" };
/** The words for the values of filters that have a few; those of others are of the data. */
const WORDS = { correct: { yes: "right", no: "wrong", unknown: "not judged" }, answer: { present: "there" } };
/** What goes with a filter when it is removed. */
const TOGETHER = { text: ["text", "regex", "case"], metric: ["metric", "low", "high", "below"], field: ["field", "is"] };

/** What stands for an empty text in a choice, whose empty value is any text. */
const EMPTY = "\u0000";

/** Return the active filters as pairs of a key and a text. */
function active(state) {
  const isAsked = (key) => (TOGETHER[key] ?? [key]).some((one) => isGiven(one, state[one]));
  const found = [];
  for (const key of Object.keys(NAMES)) {
    if (!isAsked(key)) continue;
    const how = key === "text" ? [state.regex && "regular expression", state.case && "same case"].filter(Boolean).join(", ") : "";
    found.push([key, `${NAMES[key]}: ${WORDS[key]?.[state[key]] ?? (state[key] || "(empty)")}${how ? ` (${how})` : ""}`]);
  }
  if (isAsked("metric")) {
    const end = [state.high, state.below && `below ${state.below}`].filter(Boolean).join(" and ");
    found.push(["metric", `${state.metric || "(no score)"}: ${state.low || "any"} to ${end || "any"}`]);
  }
  if (isAsked("field")) found.push(["field", `${state.field || "(no field)"}${state.is ? ` = ${state.is}` : " is there"}`]);
  return found;
}

/** The bar above the table. */
export class FilterBar {
  /** Make the bar; `jumped` is called with the record that was found. */
  constructor(jumped) {
    this.jumped = jumped;
    this.bar = make("div", { class: "filters" });
    this.chips = make("div", { class: "chips", role: "group", "aria-label": "Active filters" });
    this.search = make("p", { class: "searching soft", hidden: true });
    this.element = make("div", {}, this.bar, this.chips, this.search);
    this.signature = null;
  }

  /** Show the filters of the state, with the choices that the file has. */
  show(state, files) {
    const file = files.files[Number(state.file ?? 0)];
    const now = JSON.stringify([selection(state), files.redacted, file.index, file.models, file.metrics, file.rules.map((rule) => rule.code)]);
    if (now === this.signature) return;
    const wasSame = this.bar.contains(document.activeElement);
    // What is being typed is not taken away because more of the file is known.
    if (wasSame && this.state && JSON.stringify(selection(this.state)) === JSON.stringify(selection(state))) return;
    this.signature = now;
    this.state = state;
    const isOpen = this.more?.open ?? false;
    const focused = wasSame ? document.activeElement.name : null;
    this.bar.replaceChildren(this.form(state, file, files.redacted), this.jump(files.redacted));
    if (this.more) this.more.open = isOpen;
    if (focused) this.bar.querySelector(`[name="${focused}"]`)?.focus();
    this.chips.replaceChildren(...active(state).map(([key, text]) => {
      const chip = button("", () => go({ ...Object.fromEntries((TOGETHER[key] ?? [key]).map((one) => [one, null])), open: null }),
        { class: "chip", "aria-label": `Remove the filter ${plain(text)}` });
      const name = make("span", { dir: "auto" });
      setText(name, text);
      chip.append(name, make("span", { "aria-hidden": "true" }, " ✕"));
      return chip;
    }));
    if (this.chips.childElementCount > 1)
      this.chips.append(button("Remove all filters", () => go({ ...noFilters(), open: null }), { class: "plain" }));
    this.searched(null);
  }

  /** Return the form of filters. */
  form(state, file, isRedacted) {
    const fields = [];
    const input = (name, label, values = {}) => {
      const field = make("input", { name, value: state[name] ?? null, ...values });
      return fields.push(field), labelled(label, field);
    };
    const select = (name, label, pairs) => {
      const value = isGiven(name, state[name]) ? state[name] || EMPTY : "";
      const field = choice([["", "any"], ...pairs], value, { name, onchange: () => send() });
      // A value of a copied link may be one that the file has not shown yet.
      if (value && field.value !== value) field.append(make("option", { value, selected: true }, plain(state[name]) || "(empty)"));
      return fields.push(field), labelled(label, field);
    };
    const check = (name, label) => {
      const field = make("input", { name, type: "checkbox", value: "1", checked: Boolean(state[name]) });
      return fields.push(field), make("label", { class: "check" }, field, label);
    };
    const same = (names) => names.map((name) => [name || EMPTY, plain(name) || "(empty)"]);
    const rules = [["any", "any finding"], ["none", "no finding"], ...file.rules.map((rule) => [rule.code, `${rule.code} ${rule.name ?? ""}`])];
    const checks = [select("rule", "Rule", rules), select("severity", "Severity", same(["error", "warning", "note"]))];
    const values = [
      select("model", "Model", same(file.models)),
      input("category", "Category", { size: 12 }),
      select("correct", "Right or wrong", [["yes", "right"], ["no", "wrong"], ["unknown", "not judged"]]),
      select("answer", "Answer", [["missing", "missing"], ["present", "there"]]),
      ...checks,
      select("metric", "Score", same(file.metrics)),
      input("low", "from", { type: "number", step: "any", class: "short" }),
      input("high", "to", { type: "number", step: "any", class: "short" }),
      input("below", "below", { type: "number", step: "any", class: "short" }),
      input("field", "Field, such as metadata.topic", { size: 18, spellcheck: "false" }),
      input("is", "has the value", { size: 12 }),
    ];
    const send = () => {
      const changes = noFilters();
      for (const field of fields) changes[field.name] = field.type === "checkbox" ? (field.checked ? "1" : null) : (field.name === "text" || field.name === "is" ? field.value : field.value.trim()) || null;
      if (changes.model === EMPTY) changes.model = "";
      // An empty category comes from its bar, and is taken away by its own button only.
      if (state.category === "" && !changes.category) changes.category = "";
      if (!changes.text) changes.regex = changes.case = null;
      go({ ...changes, open: null });
    };
    const form = make("form", { class: "tools", role: "search", onsubmit: (event) => { event.preventDefault(); send(); } });
    const submit = make("button", { type: "submit" }, "Search");
    this.more = null;
    if (isRedacted) form.append(...checks, make("p", { class: "soft" },
      "Values are not shown (--redact): there are no search, counts of values or histograms."));
    else {
      this.more = make("details", { class: "more-filters" }, make("summary", {}, "More filters"),
        make("div", { class: "tools" }, values, make("button", { type: "submit" }, "Filter")));
      form.append(input("text", "Text in the row", { type: "search", size: 24, spellcheck: "false", "aria-keyshortcuts": "/" }),
        check("case", "Same case"), check("regex", "Regular expression"), submit, this.more);
    }
    return form;
  }

  /** Return the box that jumps to a line, a record or an id. */
  jump(isRedacted) {
    const kinds = [["record", "Record"], ["line", "Line"], ...(isRedacted ? [] : [["id", "Id"]])];
    const what = choice(kinds, "record", { name: "kind", "aria-label": "Jump to what" });
    const value = make("input", { name: "jump", size: 10, "aria-keyshortcuts": "g", spellcheck: "false" });
    const status = make("span", { class: "soft", role: "status" });
    const act = async (event) => {
      event.preventDefault();
      const wanted = value.value.trim();
      if (!wanted) return;
      const kind = !isRedacted && what.value !== "id" && !/^[0-9]+$/.test(wanted) ? "id" : what.value;
      try {
        const found = await ask("find", { file: shown().file ?? "0", [kind]: wanted });
        status.textContent = "";
        this.jumped(found.record);
      } catch (error) {
        status.textContent = error.message;
      }
    };
    return make("form", { class: "tools jump", onsubmit: act }, what, labelled("Jump to", value),
      make("button", { type: "submit" }, "Go"), status);
  }

  /** Put the cursor into the box of a name. */
  focus(name) {
    const field = this.bar.querySelector(`[name="${name}"]`);
    field?.focus();
    field?.select();
  }

  /** Say how far a search is. */
  searched(progress, total = 0) {
    const isRunning = progress && !progress.reason && progress.done < progress.of;
    this.search.hidden = !progress || (!isRunning && !progress.reason);
    if (this.search.hidden) return this.search.replaceChildren();
    const text = progress.reason ? `The search ended early: ${progress.reason}. `
      : `Searched ${percent(progress)} of the records. `;
    if (!this.cancel?.isConnected || !isRunning) {
      this.cancel = button("End the search", async () => {
        try {
          await tell("cancel", selection(shown(), FILTERS));
          say("The search is ended.");
        } catch (error) {
          say(error.message);
        }
      });
      this.search.replaceChildren(make("span"), ...(isRunning ? [this.cancel] : []));
    }
    this.search.firstChild.textContent = text;
    return undefined;
  }
}

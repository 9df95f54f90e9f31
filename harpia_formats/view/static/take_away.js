// Dialogs: taking rows away, and the keys of the page.
import { selection } from "./address.js";
import { button, choice, copyButton, counted, labelled, make, plural, table } from "./dom.js";
import { ask, requestOf } from "./server.js";
import { addText, written } from "./text.js";

const KEYS = [["j, k", "next and previous record"], ["n, p", "next and previous finding of the record"],
  ["↑ ↓, Page ↑ ↓, Home, End", "move in the table"], ["Enter", "open the marked record"], ["/", "search"],
  ["g", "jump to a record, line or id"], ["?", "this help"], ["Escape", "close"]];

/** Show a dialog with a title until it is closed. */
function dialog(title, ...content) {
  const head = make("h2", { id: "dialog-title" }, title);
  const box = make("dialog", { "aria-labelledby": "dialog-title", onclose: () => box.remove() },
    make("div", { class: "record-head" }, head, button("Close", () => box.close())), content);
  document.body.append(box);
  box.showModal();
  return box;
}

/** Show the keys of the page. */
export function showKeys() {
  dialog("Keys", table(["key", "what it does"], KEYS));
}

/** Return what becomes of the fields as a table. */
function lossTable(losses) {
  if (!losses?.length) return make("p", {}, "Nothing is lost.");
  const text = (value) => addText(make("span"), written(value ?? ""));
  return table(["field", "what becomes of it", "how", "records", "first in line"],
    losses.map(({ field, fate, how, records, line }) => [text(field), text(fate), text(how), counted(records), line ? counted(line) : ""]),
    "What is not kept as it is");
}

/** Return the part that converts the chosen rows. */
function conversion(formats, chosen) {
  const result = make("div", { role: "status" });
  const act = async (event) => {
    const to = event.target.value;
    if (!to) return result.replaceChildren();
    result.replaceChildren(make("p", { class: "soft" }, "The rows are being converted…"));
    try {
      const found = await ask("losses", { ...chosen, to });
      if (event.target.value !== to) return undefined;
      const parts = found.ok || found.losses?.length ? [lossTable(found.losses)] : [];
      if (found.skipped) parts.push(make("p", {}, `${plural(found.skipped, "row")} cannot be converted and will be left out.`));
      if (found.ok) parts.push(make("p", {}, make("a", { class: "action", href: requestOf("/take", { ...chosen, to }), download: true },
        `Download ${plural(found.rows, "row")} as ${to}`)));
      else parts.push(addText(make("p", { class: "alert" }), `These rows cannot be converted to this format: ${found.reason || "see above"}`));
      result.replaceChildren(...parts);
    } catch (error) {
      if (event.target.value === to) result.replaceChildren(make("p", { class: "alert" }, error.message));
    }
    return undefined;
  };
  const pairs = [["", "choose a format"], ...formats.to.map((name) => [name, name])];
  return make("div", {}, make("div", { class: "tools" }, labelled("Format", choice(pairs, "", { onchange: act }))), result);
}

/** Return a command line with a button that copies it. */
function commandLine(command) {
  return make("div", { class: "command" }, addText(make("code"), command), copyButton("Copy the command", () => command));
}

/** Show how the chosen rows can be taken away: those of now, though the way back may lead to others. */
export async function takeAway(total) {
  const chosen = selection();
  const converted = make("div", {}, make("p", { class: "soft" }, "…"));
  const command = make("div", {}, make("p", { class: "soft" }, "…"));
  const rows = total === null ? "the chosen rows" : total === 1 ? "the chosen row" : `the ${counted(total)} chosen rows`;
  dialog("Take rows away",
    make("section", { class: "part" }, make("h3", {}, "As they are"), make("p", {},
      make("a", { class: "action", href: requestOf("/take", chosen), download: true }, `Download ${rows}`)),
    make("p", { class: "soft" }, "Rows keep their bytes; a table keeps its header. Rows of Parquet files become JSON Lines, those of an archive one document in JSON.")),
    make("section", { class: "part" }, make("h3", {}, "In another format"), converted),
    make("section", { class: "part" }, make("h3", {}, "By a command"), command));
  const fill = async (place, name, values, render) => {
    try {
      place.replaceChildren(render(await ask(name, values)));
    } catch (error) {
      place.replaceChildren(make("p", { class: "alert" }, error.message));
    }
  };
  await Promise.all([fill(converted, "formats", {}, (formats) => conversion(formats, chosen)),
    fill(command, "command", chosen, (found) => commandLine(found.command))]);
}

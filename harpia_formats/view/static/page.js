// The page as a whole: its head, its parts, its keys, and what is known of the files.
import { addressOf, go, noFilters, onChange, shown } from "./address.js";
import { canCompare, Comparison } from "./compare.js";
import { button, choice, copyButton, labelled, make, say } from "./dom.js";
import { link } from "./facets.js";
import { factsText, isOpening, Overview, progressText } from "./overview.js";
import { Records } from "./records.js";
import { ask, onTrouble } from "./server.js";
import { showKeys, takeAway } from "./take_away.js";
import { plain, setText } from "./text.js";

const AGAIN = 500;
/** Milliseconds between two messages on the progress to those who listen. */
const ANNOUNCED = 10_000;
const parts = new Map();
const main = document.getElementById("main");
let files = null;
let systems = null;
let known = "";
let announcedAt = 0;
let timer = null;

/** Return the file that the state names. */
function fileOf(state) {
  return files.files[Number(state.file ?? 0)] ?? null;
}

/** Return the name of the part that the state names. */
function viewOf(state) {
  const names = ["overview", "records", ...(canCompare(systems) ? ["compare"] : [])];
  return names.includes(state.view) ? state.view : "overview";
}

/** Return a part of the page; it is made when it is first shown. */
function partOf(view, file) {
  const key = view === "records" ? `${view} ${file.index}` : view;
  if (!parts.has(key)) {
    for (const other of parts.keys())
      if (view === "records" && other.startsWith("records ")) {
        parts.get(other).table.close();
        parts.delete(other);
      }
    parts.set(key, view === "records" ? new Records() : view === "compare" ? new Comparison() : new Overview());
  }
  return parts.get(key);
}

/** Tell whether a file is as it was when it was opened. */
function isReadable(file) {
  return file.state !== "changed" && file.state !== "failed";
}

/** Tell whether rows of a file can be asked for. */
function hasRows(file) {
  return isReadable(file) && !isOpening(file);
}

/** Show the head: file, facts, progress, tabs. */
function showHead(state) {
  const file = fileOf(state);
  setText(document.getElementById("name"), file.name);
  document.title = `${plain(file.name)} · harpia-formats view`;
  setText(document.getElementById("facts"), factsText(file));
  const progress = progressText(file);
  document.getElementById("progress").textContent = progress;
  if (progress && performance.now() - announcedAt > ANNOUNCED) {
    announcedAt = performance.now();
    say(progress);
  }
  if (!progress && announcedAt) {
    announcedAt = 0;
    say("The file is read, and its findings are complete.");
  }
  const changed = files.files.filter((one) => !isReadable(one)).map((one) => {
    const text = make("p", { class: "alert", role: "alert" });
    setText(text, one.state === "changed"
      ? `${one.name} has changed since it was opened, and its rows are not shown: ${one.reason ?? "start the command again"}.`
      : `${one.name} cannot be read: ${one.reason ?? "the reason is not known"}.`);
    return text;
  });
  const alerts = document.getElementById("alerts");
  if (alerts.textContent !== changed.map((one) => one.textContent).join("")) alerts.replaceChildren(...changed);
  const titles = { overview: "Overview", records: "Records", ...(canCompare(systems) ? { compare: "Compare" } : {}) };
  const changesOf = (view) => ({ view, open: null, pair: null });
  const tabs = document.getElementById("tabs");
  if (tabs.childElementCount !== Object.keys(titles).length)
    tabs.replaceChildren(...Object.entries(titles).map(([view, title]) => link(title, changesOf(view), { "data-view": view })));
  for (const tab of tabs.children) {
    tab.href = addressOf(changesOf(tab.dataset.view));
    if (tab.dataset.view === viewOf(state)) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
}

/** Return the address of what is shown, with what the page has chosen while less was known of the files. */
function linkOf() {
  const chosen = viewOf(shown()) === "compare" ? parts.get("compare")?.chosen() : null;
  return location.origin + addressOf(chosen ?? {});
}

/** Show the choice of a file, and the buttons of the page; these stay as they are. */
function showTools() {
  if (files.files.length > 1) {
    const pairs = files.files.map(({ index, name }) => [String(index), plain(name)]);
    const select = choice(pairs, shown().file ?? "0", { onchange: (event) =>
      go({ ...noFilters(), sort: null, order: null, open: null, columns: null, file: event.target.value === "0" ? null : event.target.value }) });
    document.getElementById("choice").replaceChildren(labelled("File", select));
    onChange((state) => { select.value = state.file ?? "0"; });
  }
  document.getElementById("actions").replaceChildren(
    button("Take away", () => takeAway(parts.get(`records ${fileOf(shown()).index}`)?.table.total ?? null)),
    copyButton("Copy link", linkOf),
    button("Keys", showKeys, { "aria-keyshortcuts": "?" }));
}

/** Show what the state names. */
function show(state) {
  const file = fileOf(state);
  if (!file) {
    main.replaceChildren(make("p", { class: "alert" }, `There is no file ${state.file}.`));
    return;
  }
  showHead(state);
  const view = viewOf(state);
  document.body.dataset.view = view;
  if (view !== "records" && view !== "compare") document.body.classList.remove("has-record");
  const isShown = view === "overview" || hasRows(file);
  if (!isShown) {
    main.replaceChildren();
    return;
  }
  const part = partOf(view, file);
  if (main.firstElementChild !== part.element) main.replaceChildren(part.element);
  part.show(state, files, systems);
}

/** Tell whether more can become known of a file. */
function isOpenEnded(file) {
  return isReadable(file) && !(file.indexed.complete && file.scanned.complete && (file.validated.complete || !file.format));
}

/** Ask what is known of the files, again and again until all is known. */
async function follow() {
  let again = AGAIN;
  try {
    const answer = await ask("files", {}, undefined, true);
    const text = JSON.stringify(answer);
    const isFirst = files === null;
    files = answer;
    if (isFirst) await begin();
    else if (text !== known) await renew();
    known = text;
    if (!files.files.some(isOpenEnded)) again = null;
    if (document.body.classList.contains("lost")) show(shown());
    document.body.classList.remove("lost");
  } catch (error) {
    document.body.classList.add("lost");
    const text = make("p", { class: "alert", role: "alert" });
    setText(text, error.message);
    document.getElementById("alerts").replaceChildren(text);
    again = 4 * AGAIN;
  }
  clearTimeout(timer);
  timer = again === null ? null : setTimeout(follow, again);
}

/** Return the systems that are known by now; answers are not compared where values are not shown. */
async function knownSystems() {
  return files.redacted ? null : ask("systems").catch(() => systems);
}

/** Show the page for the first time. */
async function begin() {
  systems = await knownSystems();
  showTools();
  show(shown());
  onChange(show);
}

/** Show what has become known of the files. */
async function renew() {
  const state = shown();
  const file = fileOf(state);
  if (!file) return;
  if (!systems?.complete) systems = await knownSystems();
  showHead(state);
  const view = viewOf(state);
  if (view !== "overview" && !hasRows(file)) main.replaceChildren();
  else if (main.firstElementChild !== parts.get(view === "records" ? `records ${file.index}` : view)?.element) show(state);
  else partOf(view, file).update(files, state, systems);
}

/** Do what a key says, except where text is written. */
function key(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || !files) return;
  if (document.querySelector("dialog[open]")) return;
  const isField = event.target.matches("input, textarea, select");
  if (isField) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key === "Enter" && event.target.matches("a, button, summary")) return;
  const state = shown();
  let isDone = true;
  if (event.key === "?") showKeys();
  else if ((event.key === "/" || event.key === "g") && viewOf(state) !== "records") {
    go({ view: "records", pair: null });
    parts.get(`records ${fileOf(state).index}`)?.key(event.key);
  } else isDone = Boolean(main.firstElementChild && parts.size && viewOf(state) !== "overview" && partOf(viewOf(state), fileOf(state)).key(event.key));
  if (isDone) event.preventDefault();
}

addEventListener("keydown", key);
// A refusal may mean that a file has changed: what is known of the files is asked for again.
onTrouble(() => { timer ??= setTimeout(follow, AGAIN); });
follow();

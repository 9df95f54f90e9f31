// What the page shows, as it is in the address.

/** The keys that choose rows. */
export const FILTERS = ["text", "regex", "case", "model", "category", "metric", "low", "high", "below",
  "correct", "answer", "rule", "severity", "field", "is"];
const ORDER = ["sort", "order"];
/** The keys for which an empty text is a value: that of records whose model or category is empty. */
const MAY_BE_EMPTY = new Set(["model", "category"]);
const listeners = [];
let state = read();

/** Return the values of the address. */
function read() {
  return Object.fromEntries(new URLSearchParams(location.search));
}

/** Return what the page shows now. */
export function shown() {
  return state;
}

/** Tell whether a key has a value. */
export function isGiven(key, value) {
  return value !== null && value !== undefined && (value !== "" || MAY_BE_EMPTY.has(key));
}

/** Return the address of what the page shows after some changes. */
export function addressOf(changes) {
  const values = Object.entries({ ...state, ...changes })
    .filter(([key, value]) => isGiven(key, value));
  const text = new URLSearchParams(values).toString();
  return text ? "/?" + text : "/";
}

/** Show something else; the way back leads to what was shown, except with `replace`. */
export function go(changes, replace = false) {
  const address = addressOf(changes);
  if (address === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", address);
  changed();
}

/** Tell all parts of the page that something else is to be shown. */
function changed() {
  const before = state;
  state = read();
  for (const listener of listeners) listener(state, before);
}

/** Call a function with the new and the old state at each change. */
export function onChange(listener) {
  listeners.push(listener);
}

/** Return the chosen file and rows as values of a request. */
export function selection(from = state, keys = [...FILTERS, ...ORDER]) {
  const values = { file: from.file ?? "0" };
  for (const key of keys) if (isGiven(key, from[key])) values[key] = from[key];
  return values;
}

/** Return changes that remove all filters. */
export function noFilters() {
  return Object.fromEntries(FILTERS.map((key) => [key, null]));
}

/** Tell whether two states choose the same rows in the same order. */
export function isSameSelection(one, other) {
  return JSON.stringify(selection(one)) === JSON.stringify(selection(other));
}

addEventListener("popstate", changed);

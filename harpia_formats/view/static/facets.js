// What the chosen rows consist of: counts and histograms that filter.
import { addressOf, go } from "./address.js";
import { counted, make, plural, rounded } from "./dom.js";
import { addText, plain } from "./text.js";

const SEEN = 8;

/** Return a link to other rows, which is followed without loading the page. */
export function link(content, changes, values = {}) {
  return make("a", { href: addressOf(changes), onclick: (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    go(changes);
  }, ...values }, content);
}

/** Return a list of values with counts and bars; each leads to its rows. */
function countedList(title, pairs, changesOf, more = 0) {
  if (!pairs.length) return null;
  const most = Math.max(...pairs.map(([, , count]) => count), 1);
  const items = pairs.map(([value, text, count]) => {
    const bar = make("span", { class: "bar-part" });
    bar.style.width = `${(100 * count) / most}%`;
    const name = typeof text === "string" ? addText(make("span", { class: "name", dir: "auto" }), text || "(empty)") : text;
    return make("li", {}, link([name, make("span", { class: "number" }, counted(count)), bar], changesOf(value)));
  });
  const list = make("ul", { class: "counts" }, items.slice(0, SEEN));
  const rest = items.slice(SEEN);
  const parts = [make("h3", {}, title), list];
  if (rest.length) parts.push(make("details", {}, make("summary", {}, `${counted(rest.length)} more`),
    make("ul", { class: "counts" }, rest)));
  if (more) parts.push(make("p", { class: "soft" }, `and ${counted(more)} others that are not counted here`));
  return make("section", { class: "facet" }, parts);
}

/** Return the sign of a severity with its word. */
export function severityMark(severity, text = severity) {
  return make("span", { class: `severity ${severity}` }, text);
}

/** Return the findings of the rows by rule. */
function ruleList(rules, changesOf) {
  return countedList("Findings by rule, in records", rules.map((rule) => [rule.code,
    make("span", { class: "name" }, severityMark(rule.severity), ` ${rule.code} ${rule.name ?? ""}`),
    rule.records]), (rule) => changesOf({ rule }));
}

/** Return the scores of a metric as bars; each leads to the rows of its range, which ends where the next begins. */
function histogram(metric, changesOf) {
  const most = Math.max(...metric.bins.map((bin) => bin.count), 1);
  const bars = metric.bins.map((bin, at) => {
    const isLast = at === metric.bins.length - 1;
    const part = make("span", { class: "column" });
    part.style.height = `${Math.max(bin.count ? 3 : 0, (100 * bin.count) / most)}%`;
    const text = `${rounded(bin.low)} to ${isLast ? "" : "below "}${rounded(bin.high)}: ${plural(bin.count, "record")}`;
    return make("li", {}, link(part, changesOf({ metric: metric.name,
      low: String(bin.low), high: isLast ? String(bin.high) : null, below: isLast ? null : String(bin.high) }), { title: text, "aria-label": `${plain(metric.name)} ${text}` }));
  });
  const first = metric.bins.at(0);
  return make("section", { class: "facet" },
    make("h3", {}, addText(make("span"), metric.name), " ", make("span", { class: "soft" },
      `mean ${rounded(metric.mean)}, in ${plural(metric.count, "record")}`)),
    make("ul", { class: "histogram", "aria-label": `Scores of ${plain(metric.name)}` }, bars),
    first ? make("p", { class: "ends soft" }, make("span", {}, rounded(first.low)),
      make("span", {}, rounded(metric.bins.at(-1).high))) : null);
}

/** Return all counts of some rows, with links that make the changes `before` first. */
export function facets(summary, before = {}) {
  const changesOf = (changes) => ({ ...before, view: "records", open: null, ...changes });
  const answers = [["yes", "right", summary.correct.yes], ["no", "wrong", summary.correct.no],
    ["unknown", "not judged", summary.correct.unknown]].filter(([, , count]) => count);
  const missing = summary.missing ? [["missing", "no answer", summary.missing]] : [];
  return [
    ...summary.metrics.filter(({ count, bins }) => count && bins.length).map((metric) => histogram(metric, changesOf)),
    ruleList(summary.rules, changesOf),
    countedList("Models", summary.models.map(({ name, count }) => [name, name, count]), (model) => changesOf({ model })),
    countedList("Categories", summary.categories.map(({ name, count }) => [name, name, count]),
      (category) => changesOf({ category }), summary.more_categories),
    countedList("Right or wrong", answers, (correct) => changesOf({ correct })),
    countedList("Missing", missing, (answer) => changesOf({ answer })),
  ].filter(Boolean);
}

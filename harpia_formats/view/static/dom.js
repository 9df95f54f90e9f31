// Elements of the page: made from text only, never from HTML.

/** Return a new element with attributes, listeners (`onclick` and others) and children. */
export function make(name, values = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(values)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** Return a button that does something. */
export function button(text, act, values = {}) {
  return make("button", { type: "button", onclick: act, ...values }, text);
}

/** Return an input or a choice under its label. */
export function labelled(text, input, values = {}) {
  return make("label", values, make("span", {}, text), input);
}

/** Return a choice of values, each with the text that is shown for it. */
export function choice(pairs, chosen, values = {}) {
  const options = pairs.map(([value, text]) =>
    make("option", { value, selected: value === (chosen ?? "") }, text));
  return make("select", values, options);
}

/** Return the text of a number with its thousands separated. */
export function counted(number) {
  return Number(number).toLocaleString("en-US");
}

/** Return "1 record" or "2 records". */
export function plural(number, one, many = one + "s") {
  return `${counted(number)} ${number === 1 ? one : many}`;
}

/** Return a size in the unit that people read. */
export function size(bytes) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let at = 0;
  let number = bytes;
  while (number >= 1000 && at < units.length - 1) {
    number /= 1000;
    at += 1;
  }
  return at ? `${number.toFixed(number < 10 ? 2 : 1)} ${units[at]}` : plural(bytes, "byte");
}

/** Return a score in at most four digits after the point. */
export function rounded(number) {
  return typeof number === "number" ? String(Number(number.toFixed(4))) : "";
}

/** Return how much is done, in whole percent; all of it only if it is complete. */
export function percent(part) {
  const most = part.complete === false ? 99 : 100;
  return part.of ? `${Math.min(most, Math.floor((100 * part.done) / part.of))} %` : "0 %";
}

/** Say something to those who listen to the page. */
export function say(text) {
  document.getElementById("announcement").textContent = text;
}

/** Return a table of texts with its heads. */
export function table(columns, rows, caption = "") {
  const head = make("tr", {}, columns.map((text) => make("th", { scope: "col" }, String(text))));
  const body = rows.map((row) =>
    make("tr", {}, row.map((cell) => make("td", {}, cell instanceof Node ? cell : String(cell ?? "")))));
  return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption || "Table" },
    make("table", { class: "data" }, caption ? make("caption", {}, caption) : null,
      make("thead", {}, head), make("tbody", {}, body)));
}

/** Return a button that puts a text into the clipboard. */
export function copyButton(name, textOf) {
  const done = button(name, async () => {
    try {
      await navigator.clipboard.writeText(textOf());
      done.textContent = "Copied";
    } catch {
      done.textContent = "Your browser does not allow it; mark the text and copy it";
    }
    say(done.textContent);
    setTimeout(() => { done.textContent = name; }, 2000);
  });
  return done;
}

/** Return an element with some of many parts in it, and a button for the next ones. */
export function someOf(list, items, render, limit) {
  let shown = 0;
  const more = button("", () => {
    const part = items.slice(shown, shown + limit).map((item, at) => render(item, shown + at));
    shown += part.length;
    const rest = items.length - shown;
    list.append(...part);
    more.textContent = `Show ${counted(Math.min(rest, limit))} more of ${counted(rest)}`;
    more.hidden = rest <= 0;
  }, { class: "more" });
  more.click();
  return make("div", {}, list, more);
}

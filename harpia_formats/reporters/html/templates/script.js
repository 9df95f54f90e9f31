"use strict";
(() => {
  const make = (name, text, parent) => {
    const found = document.createElement(name);
    found.textContent = text;
    parent.append(found);
    return found;
  };
  for (const tools of document.querySelectorAll(".tools")) {
    const fields = [...document.querySelectorAll("." + tools.dataset.filter)];
    if (fields.length < 2) continue;
    tools.hidden = false;
    const input = make("input", "", tools);
    input.type = "search";
    input.placeholder = "Filter by rule, field, file or text";
    input.setAttribute("aria-label", input.placeholder);
    const said = make("span", "", tools);
    said.setAttribute("role", "status");
    said.className = "soft";
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const field of fields) {
        const rule = field.closest(".rule");
        const head = rule ? rule.querySelector("h3").textContent : "";
        const text = (head + " " + field.textContent).toLowerCase();
        field.hidden = !words.every((word) => text.includes(word));
        shown += !field.hidden;
      }
      for (const rule of document.querySelectorAll(".rule"))
        rule.hidden = !rule.querySelector(".field:not([hidden])") && words.length > 0;
      said.textContent = words.length ? shown + " of " + fields.length : "";
    });
    for (const open of [true, false]) {
      const button = make("button", open ? "Open all" : "Close all", tools);
      button.type = "button";
      button.addEventListener("click", () => {
        for (const field of fields) field.open = open;
      });
    }
  }
  const value = (row, at) => row.cells[at].textContent.trim();
  const number = (text) => {
    const found = Number(text.replace(/,/g, ""));
    return text === "" || Number.isNaN(found) ? null : found;
  };
  for (const table of document.querySelectorAll("table.data")) {
    const body = table.tBodies[0];
    if (body.rows.length < 3) continue;
    [...table.tHead.rows[0].cells].forEach((cell, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = cell.textContent;
      cell.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = cell.getAttribute("aria-sort") !== "descending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...body.rows].sort((left, right) => {
          const [one, two] = [value(left, at), value(right, at)];
          const [a, b] = [number(one), number(two)];
          const order = a !== null && b !== null ? a - b : one < two ? -1 : +(one > two);
          return down ? -order : order;
        });
        body.append(...rows);
      });
    });
  }
  const closed = [];
  addEventListener("beforeprint", () => {
    for (const field of document.querySelectorAll(".field:not([open])")) {
      field.open = true;
      closed.push(field);
    }
  });
  addEventListener("afterprint", () => {
    for (const field of closed.splice(0)) field.open = false;
  });
})();

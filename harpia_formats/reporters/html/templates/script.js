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
    const chosen = [];
    const choice = (all, valuesOf) => {
      const values = [...new Set(fields.flatMap(valuesOf))].filter(Boolean).sort();
      if (values.length < 2) return;
      const select = make("select", "", tools);
      select.setAttribute("aria-label", all);
      make("option", all, select).value = "";
      for (const value of values) make("option", value, select).value = value;
      chosen.push((field) => !select.value || valuesOf(field).includes(select.value)
        || (valuesOf === filesOf && field.querySelector(".files .more")));
      select.addEventListener("change", () => filter());
    };
    const heading = (field) => field.closest(".rule")?.querySelector("h3");
    const filesOf = (field) => field.dataset.file ? [field.dataset.file]
      : [...field.querySelectorAll(".files code")].map((one) => one.textContent);
    choice("All severities", (field) =>
      [heading(field)?.querySelector(".severity").textContent]);
    choice("All rules", (field) => [heading(field)?.dataset.rule]);
    choice("All files", filesOf);
    const status = make("span", "", tools);
    status.setAttribute("role", "status");
    status.className = "soft";
    const filter = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const field of fields) {
        const text = [heading(field)?.textContent, field.dataset.file, field.textContent]
          .join(" ").toLowerCase();
        field.hidden = !words.every((word) => text.includes(word))
          || !chosen.every((matches) => matches(field));
        shown += !field.hidden;
      }
      for (const rule of document.querySelectorAll(".rule"))
        rule.hidden = !rule.querySelector(".field:not([hidden])") && shown < fields.length;
      const isFiltered = words.length || tools.querySelector("select:has(option:checked:not([value='']))");
      status.textContent = isFiltered ? shown + " of " + fields.length : "";
    };
    input.addEventListener("input", filter);
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

// Tables that can be sorted by their heads and filtered together: a choice in one place holds for all of them.
const tables = [...document.querySelectorAll("[data-table]")];

{
  const FACETS = ["task", "batch", "strategy"];
  const NOTHING = "–";

  // A number where the cell begins with one (1,234.5 or −0.3 or 3 / 12), else its text; null sorts last either way.
  const valueOf = (row, column) => {
    const text = row.cells[column].querySelector("bdi").textContent.trim();
    const number = /^[+−-]?[\d,]*\.?\d+/.exec(text);
    if (text === NOTHING || text === "") return null;
    return number ? Number(number[0].replace("−", "-").replaceAll(",", "")) : text;
  };

  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a.localeCompare(b, "en", { numeric: true });
  };

  const sortable = (table) => {
    const body = table.tBodies[0];
    const original = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];

    const sort = (column, order) => {
      const sign = order === "descending" ? -1 : 1;
      const keyed = original.map((row) => [valueOf(row, column), row]);
      keyed.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : sign * compare(a, b)));
      body.append(...(order ? keyed.map(([, row]) => row) : original));
      for (const head of heads) head.removeAttribute("aria-sort");
      if (order) heads[column].setAttribute("aria-sort", order);
    };

    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const next = { null: "ascending", ascending: "descending", descending: "" };
        sort(column, next[head.getAttribute("aria-sort")]);
      });
    });
  };

  const filtered = (chosen) => {
    for (const table of tables) {
      const rows = [...table.querySelectorAll("tbody tr")];
      for (const row of rows) {
        row.hidden = FACETS.some((facet) => chosen[facet] && row.dataset[facet] && row.dataset[facet] !== chosen[facet]);
      }
      const shown = rows.filter((row) => !row.hidden).length;
      table.querySelector("output").textContent = shown < rows.length ? `${shown} of ${rows.length} rows` : "";
    }
  };

  const valuesOf = (facet) => {
    const values = new Set(tables.flatMap((t) => [...t.querySelectorAll(`tr[data-${facet}]`)]).map((r) => r.dataset[facet]));
    return [...values].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  };

  const chosen = {};
  const choose = (facet, value) => {
    chosen[facet] = value;
    for (const select of document.querySelectorAll(`[data-filters] [data-facet="${facet}"]`)) select.value = value;
    filtered(chosen);
  };

  const offer = (place) => {
    for (const facet of FACETS) {
      const values = valuesOf(facet);
      if (values.length < 2) continue;
      const label = document.createElement("label");
      const select = document.createElement("select");
      select.dataset.facet = facet;
      select.append(new Option("all", ""), ...values.map((value) => new Option(value, value)));
      select.addEventListener("change", () => choose(facet, select.value));
      label.append(facet, select);
      place.append(label);
    }
    place.hidden = !place.childElementCount;
  };

  for (const table of tables) {
    sortable(table.querySelector("table"));
    const tools = document.createElement("div");
    tools.className = "tools";
    tools.append(document.createElement("output"));
    table.querySelector(".scroll").before(tools);
  }
  for (const place of document.querySelectorAll("[data-filters]")) offer(place);
}

// What stands on the page to the clipboard: a table as CSV, Markdown or LaTeX, a command as it is.
{
  const said = document.querySelector("[data-said]");
  let silence = 0;

  const say = (text) => {
    said.textContent = text;
    clearTimeout(silence);
    silence = setTimeout(() => said.replaceChildren(), 2500);
  };

  // A page opened from disk may be refused the clipboard; the selection of a text area always works there.
  const copy = async (text, what) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      const focused = document.activeElement;
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      focused?.focus({ preventScroll: true });
    }
    say(`Copied ${what}`);
  };

  const cellOf = (cell) => ({
    text: cell.querySelector("bdi")?.textContent ?? cell.textContent.trim(),
    detail: [...cell.querySelectorAll("small")].map((line) => line.textContent),
    best: cell.classList.contains("best"),
  });

  const contentOf = (table) => ({
    title: table.querySelector(".scroll").getAttribute("aria-label"),
    heads: [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim()),
    rows: [...table.querySelectorAll("tbody tr:not([hidden])")].map((row) => [...row.cells].map(cellOf)),
  });

  const isNumber = (text) => /^[+−-]?[\d,]*\.?\d+$/.test(text);

  // Numbers as programs read them; text that a spreadsheet would run as a formula is disarmed by an apostrophe.
  const csvField = (text) => {
    if (text === "–") return "";
    if (isNumber(text)) return text.replace("−", "-").replaceAll(",", "").replace("+", "");
    const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };

  const asCsv = ({ heads, rows }) => {
    const detailed = heads.map((_, i) => rows.some((row) => row[i].detail.length));
    const head = heads.flatMap((text, i) => (detailed[i] ? [text, `${text}: interval and n`] : [text]));
    const lines = rows.map((row) => row.flatMap((c, i) => (detailed[i] ? [c.text, c.detail.join(", ")] : [c.text])));
    return [head, ...lines].map((line) => line.map(csvField).join(",")).join("\r\n") + "\r\n";
  };

  const markdownText = (text) => text.replaceAll(/[\\`*_{}[\]<>|#~&]/g, "\\$&").replaceAll(/\s+/g, " ");

  const asMarkdown = ({ heads, rows }) => {
    const line = (cells) => `| ${cells.join(" | ")} |`;
    const body = rows.map((row) => line(row.map((cell) => {
      const text = markdownText([cell.text, cell.detail.join(", ")].join(" ").trim());
      return cell.best ? `**${text}**` : text;
    })));
    return [line(heads.map(markdownText)), line(heads.map((_, i) => (i ? "---:" : "---"))), ...body].join("\n") + "\n";
  };

  const TEX = {
    "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "&": "\\&", "%": "\\%", "$": "\\$", "#": "\\#", "_": "\\_",
    "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "$<$", ">": "$>$", "|": "$|$",
    "*": "{*}", "[": "{[}", "]": "{]}", "−": "$-$", "–": "\\textendash{}", "×": "$\\times$", "·": "$\\cdot$",
    "↑": "$\\uparrow$", "↓": "$\\downarrow$", "…": "\\ldots{}", "⟨": "$\\langle$", "⟩": "$\\rangle$",
  };
  const texText = (text) => [...text.replaceAll(/\s+/g, " ")].map((char) => TEX[char] ?? char).join("").replaceAll(/(?<=-)-/g, "{}-");

  const asLatex = ({ title, heads, rows }) => {
    const row = (cells) => `${cells.join(" & ")} \\\\`;
    const body = rows.map((cells) => row(cells.map((cell) => {
      const value = cell.best ? `\\textbf{${texText(cell.text)}}` : texText(cell.text);
      return cell.detail.length ? `${value} {\\scriptsize ${texText(cell.detail.join(", "))}}` : value;
    })));
    return [
      "% needs \\usepackage{booktabs}", "\\begin{table}", "\\centering", `\\caption{${texText(title)}}`,
      `\\begin{tabular}{l${"r".repeat(heads.length - 1)}}`, "\\toprule", row(heads.map(texText)), "\\midrule", ...body,
      "\\bottomrule", "\\end{tabular}", "\\end{table}",
    ].join("\n") + "\n";
  };

  const button = (text, label, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  };

  for (const table of tables) {
    const title = contentOf(table).title;
    table.querySelector(".tools").append("copy as");
    for (const [name, write] of [["CSV", asCsv], ["Markdown", asMarkdown], ["LaTeX", asLatex]]) {
      const act = () => copy(write(contentOf(table)), `${name}: ${title}`);
      table.querySelector(".tools").append(button(name, `Copy “${title}” as ${name}`, act));
    }
  }
  for (const code of document.querySelectorAll("[data-copied]")) {
    const made = button("copy", "Copy the command", () => copy(code.textContent, "the command"));
    made.className = "copy";
    code.after(made);
  }
}

"""A table of the report as text for other documents, exactly as the page's copy buttons write it."""

import re

from reports.entries import Entry
from reports.names import visible
from reports.tables import Table

# Everything that TeX reads as a command, and the signs of ours that its usual fonts lack. A bracket or a star at the
# start of a row would be taken for an argument of the line break before it.
TEX = {
    "\\": "\\textbackslash{}",
    "{": "\\{",
    "}": "\\}",
    "&": "\\&",
    "%": "\\%",
    "$": "\\$",
    "#": "\\#",
    "_": "\\_",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "*": "{*}",
    "[": "{[}",
    "]": "{]}",
    "−": "$-$",
    "–": "\\textendash{}",
    "×": "$\\times$",
    "·": "$\\cdot$",
    "↑": "$\\uparrow$",
    "↓": "$\\downarrow$",
    "…": "\\ldots{}",
    "⟨": "$\\langle$",
    "⟩": "$\\rangle$",
}


def as_markdown(table: Table) -> str:
    """The table in GitHub's Markdown, small print behind each value, the best of a column in bold."""
    rows = [[_markdown_cell(entry) for entry in row] for row in table.rows]
    rule = ["---:" if i else "---" for i in range(len(table.heads))]
    lines = [[_markdown(head) for head in table.heads], rule, *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def as_latex(table: Table) -> str:
    """The table as a LaTeX float with booktabs rules, small print behind each value, the best of a column in bold."""
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{_tex(table.title)}}}",
        f"\\begin{{tabular}}{{l{'r' * (len(table.heads) - 1)}}}",
        "\\toprule",
        _tex_row([_tex(head) for head in table.heads]),
        "\\midrule",
        *(_tex_row([_tex_cell(entry) for entry in row]) for row in table.rows),
        "\\bottomrule",
        "\\end{tabular}",
        "\\end{table}",
    ]
    return "".join(f"{line}\n" for line in lines)


def _markdown_cell(entry: Entry) -> str:
    text = _markdown(" ".join([entry.text, ", ".join(entry.detail)]).strip())
    return f"**{text}**" if entry.best else text


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>|#~&])", r"\\\1", _one_line(text))


def _tex_row(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _tex_cell(entry: Entry) -> str:
    value = f"\\textbf{{{_tex(entry.text)}}}" if entry.best else _tex(entry.text)
    return f"{value} {{\\scriptsize {_tex(', '.join(entry.detail))}}}" if entry.detail else value


def _tex(text: str) -> str:
    """Two hyphens stay two: TeX would draw a dash."""
    return re.sub("(?<=-)-", "{}-", "".join(TEX.get(char, char) for char in _one_line(text)))


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", visible(text))

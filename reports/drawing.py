"""A matplotlib drawing to an inline SVG: the same bytes every time, coloured by the page, readable on a phone.

Text stays text. Ink is drawn in stand-in colours, which become CSS variables, so that one drawing serves the light and
the dark page. Every figure is drawn twice, wide and narrow, and the page shows the one that fits.
"""

import re
import textwrap
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

from reports.names import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, MUTED, GRID, PAPER = "#010203", "#010204", "#010205", "#010206"  # stand-ins; the page says what they look like
VARIABLES = {INK: "var(--ink)", MUTED: "var(--muted)", GRID: "var(--grid)", PAPER: "var(--panel)"}
LIGHT = {"ink": "#1c1d1f", "muted": "#5d6067", "grid": "#e5e2da", "panel": "#ffffff"}  # the light page's, of a file
TEXT = 12.0  # size of labels in the units of the drawing, which are CSS pixels
TITLE_LINE = 20  # height of a line of the title, in a file
SVG = "http://www.w3.org/2000/svg"
XLINK = "{http://www.w3.org/1999/xlink}href"


@dataclass(frozen=True, slots=True)
class Canvas:
    """Room for one drawing, in pixels. `names` is kept free at the right of each panel for direct labels."""

    width: float
    height: float  # of one panel
    names: float
    columns: int

    @property
    def narrow(self) -> bool:
        return self.columns == 1


Draw = Callable[[list["Axes"], Canvas], None]


def svg(
    name: str, title: str, description: str, panels: int, canvas: Canvas, looks: dict[str, Look], draw: Draw
) -> str:
    """The drawing as an <svg> element; `name` keeps its ids apart from those of the page's other figures."""
    import matplotlib

    matplotlib.use("Agg")
    with matplotlib.rc_context(_settings(name)), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # the browser's fonts draw the text
        raw = _raw(panels, canvas, draw)
    colours = VARIABLES | {look.light: f"var(--s-{look.css})" for look in looks.values()}
    return _inline(raw, name, title, description, colours)


def standalone(drawing: str, title: str, looks: dict[str, Look]) -> str:
    """The <svg> element of a page as a file of its own: on white paper whatever lies around it, below its title."""
    root = ET.fromstring(drawing)
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    lines = textwrap.wrap(title, 105)
    room = 8 + TITLE_LINE * len(lines)
    root.attrib |= {
        "viewBox": f"{left:g} {top - room:g} {width:g} {height + room:g}",
        "width": f"{width:g}",
        "height": f"{height + room:g}",
        "style": "font-family: system-ui, 'Segoe UI', Helvetica, Arial, sans-serif",
    }
    paper = {"x": f"{left:g}", "y": f"{top - room:g}", "width": "100%", "height": "100%", "fill": "var(--panel)"}
    root.insert(2, ET.Element(f"{{{SVG}}}rect", paper))  # behind all that is drawn, after <title> and <desc>
    for i, line in enumerate(lines):
        place = {"x": "16", "y": f"{top - TITLE_LINE * (len(lines) - 1 - i):g}"}
        heading = ET.SubElement(root, f"{{{SVG}}}text", place | {"style": "font-size: 14px; fill: var(--ink)"})
        heading.text = line
    text = ET.tostring(root, encoding="unicode")
    for css, colour in LIGHT.items() | {(f"s-{look.css}", look.light) for look in looks.values()}:
        text = text.replace(f"var(--{css})", colour)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _settings(name: str) -> Any:
    return {
        "svg.hashsalt": name,
        "svg.fonttype": "none",
        "text.parse_math": False,
        "font.family": "DejaVu Sans",
        "font.size": TEXT,
        "axes.edgecolor": GRID,
        "axes.labelcolor": MUTED,
        "axes.linewidth": 1.0,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.spines.left": False,
        "axes.titlesize": TEXT,
        "axes.titlecolor": INK,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": GRID,
        "grid.linewidth": 0.8,
        "xtick.color": GRID,
        "xtick.labelcolor": MUTED,
        "ytick.color": GRID,
        "ytick.labelcolor": MUTED,
        "ytick.major.size": 0,
        "xtick.minor.size": 0,
        "ytick.minor.size": 0,
        "text.color": INK,
        "lines.linewidth": 1.8,
        "lines.markersize": 5.5,
    }


def _raw(panels: int, canvas: Canvas, draw: Draw) -> bytes:
    from matplotlib.figure import Figure

    columns = min(canvas.columns, panels)
    rows = -(-panels // columns)
    width, height = canvas.width, canvas.height * rows
    figure = Figure(figsize=(width / 72, height / 72), dpi=72)
    cell = width / columns
    left, top, bottom = 46.0, 44.0, 44.0
    axes = []
    for i in range(panels):
        row, column = divmod(i, columns)
        x, y = column * cell + left, height - (row + 1) * canvas.height + bottom
        size = (cell - left - canvas.names, canvas.height - top - bottom)
        axes.append(figure.add_axes((x / width, y / height, size[0] / width, size[1] / height)))
    draw(axes, canvas)
    out = BytesIO()
    figure.savefig(
        out, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Type": None, "Format": None}
    )
    return out.getvalue()


def _inline(raw: bytes, name: str, title: str, description: str, colours: dict[str, str]) -> str:
    """The SVG as part of a page: no header, no metadata, no global style, no id that nothing points to."""
    ET.register_namespace("", SVG)
    root = ET.fromstring(raw)
    for child in [c for c in root if c.tag.endswith(("metadata", "}defs")) and c.find(f"{{{SVG}}}style") is not None]:
        root.remove(child)
    for child in [c for c in root if c.tag.endswith("metadata")]:
        root.remove(child)
    used = set(re.findall(r"#([\w-]+)", " ".join(v for node in root.iter() for v in node.attrib.values())))
    for node in root.iter():
        _clean(node, used, colours)
    root.attrib.pop("width", None)
    root.attrib.pop("height", None)
    root.attrib |= {"role": "img", "aria-labelledby": f"{name}-title {name}-desc"}
    for i, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ET.Element(f"{{{SVG}}}{tag}", {"id": f"{name}-{tag}"})
        element.text = text
        root.insert(i, element)
    return ET.tostring(root, encoding="unicode")


def _clean(node: ET.Element, used: set[str], colours: dict[str, str]) -> None:
    if node.get("id") not in used:
        node.attrib.pop("id", None)
    if (target := node.attrib.pop(XLINK, None)) is not None:
        node.set("href", target)
    for key, value in node.attrib.items():
        for stand_in, variable in colours.items():
            value = value.replace(stand_in, variable)
        node.set(key, re.sub(r"font: ([\d.]+)px '[^']*'", r"font-size: \1px", value))

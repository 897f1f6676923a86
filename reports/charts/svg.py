"""From a matplotlib figure to SVG that may stand inside a page with a strict Content-Security-Policy.

matplotlib puts its styling into `style` attributes, which such a policy blocks, and repeats ids between figures. Both
are rewritten here; artists with a `mark` as their gid become classes that the page's CSS colours and its script finds.
"""

from __future__ import annotations

import io
import re
from html import escape
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes

_RC: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.linewidth": 0.6,
}
_MARK = re.compile(r'<g id="mark:([^"#]*)#([^"]*)">')
_GROUP = re.compile(r"<(/?)g\b")
_STYLE = re.compile(r' style="([^"]*)"')
_INKS = {"#000000": "currentColor", "#ffffff": "var(--paper)"}


def mark(classes: str, key: str = "") -> str:
    """The gid of an artist that gets CSS `classes`; with a `key`, a link to the element of that id on the page."""
    return f"mark:{classes}#{key}"


def inline_svg(
    draw: Callable[[Axes], None], *, size: tuple[float, float], prefix: str, title: str, links: Mapping[str, str]
) -> str:
    """Draw on new axes of `size` inches and return `<svg>` with ids under `prefix`.

    `title` is its name for readers who don't see it; `links` maps the keys of marks to what the link says.
    """
    with mpl.rc_context(_RC | {"svg.hashsalt": prefix}):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure.add_subplot())
        figure.patch.set_visible(False)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return _inline(text.getvalue(), prefix, title, links)


def _inline(svg: str, prefix: str, title: str, links: Mapping[str, str]) -> str:
    body = svg[svg.index("<svg") : svg.rindex("</svg>")]
    head, _, body = body.partition(">")
    found = re.search(r'viewBox="([^"]*)"', head)
    box = found.group(1) if found else "0 0 1 1"
    body = re.sub(r"<style.*?</style>|<!--.*?-->|<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = _STYLE.sub(lambda match: _attributes(match.group(1)), body)
    body = _marked(body, links)
    body = re.sub(r'<g id="[^"]*"', "<g", body)
    body = re.sub(r'\bid="', f'id="{prefix}-', body)
    body = re.sub(r"url\(#", f"url(#{prefix}-", body)
    body = re.sub(r'xlink:href="#(m\w)', rf'href="#{prefix}-\1', body)
    body = re.sub(r"\s*\n\s*", " ", body)
    return f'<svg class="chart" viewBox="{box}" role="group" aria-label="{escape(title)}" stroke-linejoin="round">{body}</svg>'


def _attributes(style: str) -> str:
    """CSS declarations as presentation attributes, black as the text's colour and white as the paper's."""
    pairs = (declaration.split(":", 1) for declaration in style.split(";") if ":" in declaration)
    said = {key.strip(): value.strip() for key, value in pairs}
    return "".join(f' {key}="{escape(_INKS.get(value, value))}"' for key, value in said.items())


def _marked(body: str, links: Mapping[str, str]) -> str:
    """Groups with a mark become groups with classes, those with a key links around their shapes."""
    parts, at = [], 0
    for match in _MARK.finditer(body):
        if match.start() < at:
            continue
        classes, key = match.groups()
        end = _end_of_group(body, match.end())
        inner = body[match.end() : end]
        if key:
            label = escape(links.get(key, key))
            made = f'<a class="{classes}" href="#{key}" data-key="{key}" aria-label="{label}">{inner}</a>'
        else:
            made = f'<g class="{classes}">{inner}</g>'
        parts += [body[at : match.start()], made]
        at = end + len("</g>")
    return "".join([*parts, body[at:]])


def _end_of_group(body: str, start: int) -> int:
    depth = 1
    for tag in _GROUP.finditer(body, start):
        depth += -1 if tag.group(1) else 1
        if depth == 0:
            return tag.start()
    raise ValueError("a group of the chart does not end")

"""The report page: one file that opens offline, asks nothing of any network, and runs no script but its own."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import BaseLoader, Environment, StrictUndefined
from markupsafe import Markup, escape

from . import units, wording
from .charts.style import known
from .charts.timeline import GAP, LANE
from .definitions import CLASSES, DEFINITIONS
from .facts import flatten
from .inert import inert
from .memory import memory_of
from .views import Caps, kernel_name, view_phases

if TYPE_CHECKING:
    from boundby.analyzers.analysis import Analysis

LONGEST_PROSE = 1000
LARGEST_PAGE = 2_900_000
"""Bytes. A page that comes out larger is made again with fewer rows."""


def render(analysis: Analysis, caps: Caps | None = None) -> str:
    """The page as HTML, under 3 MB; tables are cut by `caps` and say what was left out."""
    caps = caps or Caps()
    page = _render(analysis, caps)
    for _ in range(3):
        if len(page.encode()) <= LARGEST_PAGE:
            break
        caps = caps.tighter()
        page = _render(analysis, caps)
    return page


def _render(analysis: Analysis, caps: Caps) -> str:
    css, script = inline_asset("report.css"), inline_asset("report.js")
    views = view_phases(analysis, caps)
    more = len(analysis.phases) - len(views)
    return (
        environment()
        .get_template("report.html")
        .render(
            analysis=analysis,
            views=views,
            more_phases=more,
            css=Markup(css),  # noqa: S704
            script=Markup(script),  # noqa: S704
            policy=policy_for(css, script),
            environment=flatten(analysis.trace.metadata),
            memory=memory_of(analysis),
            classes=CLASSES,
            definitions=DEFINITIONS,
            most_warnings=40,
        )
    )


def policy_for(css: str, script: str) -> str:
    """Only this very style and script; no connection, frame, form, font, or image but one in the page itself."""
    return (
        f"default-src 'none'; style-src 'sha256-{_digest(css)}'; script-src 'sha256-{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


@cache
def inline_asset(name: str) -> str:
    """A file of templates/ as text."""
    return files("boundby.reports").joinpath("templates", name).read_text(encoding="utf-8")


class _Templates(BaseLoader):
    """Templates by way of package resources, so that they load from a zip too."""

    def get_source(self, environment: Environment, template: str) -> Any:  # noqa: ARG002
        return inline_asset(template), None, lambda: True


@cache
def environment() -> Environment:
    """The templates, with the filters that every page shares. Escapes by default."""
    made = Environment(
        loader=_Templates(), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters.update(
        us=units.duration,
        pct=units.percent,
        count=units.count,
        number=units.number,
        flops=units.flops,
        size=units.size,
        flop_rate=units.flop_rate,
        byte_rate=units.byte_rate,
        inert=inert,
        known=known,
        prose=_prose,
        sentence=lambda text: text if text.endswith((".", "!", "?", "`")) else f"{text}.",
        embed=_embed,
        svg=Markup,  # made by this package, with every text in it escaped
    )
    made.globals.update(
        warning=wording.warning,
        base_name=_base_name,
        symbols=wording.SYMBOLS,
        kernel_name=kernel_name,
        cause_name=wording.cause_name,
        LANE=LANE,
        GAP=GAP,
    )
    return made


def _base_name(path: str) -> str:
    return re.split(r"[/\\]", path.rstrip("/"))[-1] or path


_CODE = re.compile(r"```(?:\w+\n)?(.+?)```|`([^`]+)`", re.DOTALL)
_NUMBER_UNIT = re.compile(r"(\d) (%|[µnm]?s\b|[kMGTPE]?(?:B|FLOP)(?:/s)?\b)")


def _prose(text: str) -> Markup:
    """A sentence with `code` marked as such, and numbers kept on one line with their unit."""
    parts: list[str] = []
    at = 0
    for match in _CODE.finditer(text):
        parts.append(_words(text[at : match.start()]))
        if match.group(1):
            lines = "\n".join(inert(line) for line in match.group(1).strip().splitlines())
            parts.append(f'<pre class="code"><code>{escape(lines)}</code></pre>')
        else:
            parts.append(f"<code>{escape(inert(match.group(2)))}</code>")
        at = match.end()
    return Markup("".join([*parts, _words(text[at:])]))  # noqa: S704


def _words(text: str) -> str:
    return _NUMBER_UNIT.sub("\\1\u00a0\\2", str(escape(inert(text, LONGEST_PROSE)))) if text else ""


def _embed(data: Any) -> Markup:
    """`data` as JSON that can't end the script element it stands in."""
    text = (
        json.dumps(data, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    )
    return Markup(text)  # noqa: S704

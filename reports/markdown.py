"""A comparison as Markdown: the body of a pull-request comment, and a job's summary."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from . import comparison_text as words
from .inert import inert

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boundby.analyzers.comparison.compare import Comparison
    from boundby.analyzers.comparison.gates import GateResult

GROUPS = (("fail", "Regressed"), ("improved", "Improved"), ("unknown", "Could not tell"), ("pass", "Untouched"))


def comparison_markdown(comparison: Comparison, results: Sequence[GateResult] = (), *, top: int = 8) -> str:
    """The comparison; with gate results, grouped into regressed, improved, could not tell, untouched."""
    lines = [f"## boundby: {words.summary(results) if results else 'what changed'}", ""]
    differences = words.environment_lines(comparison)
    if differences:
        lines += ["**Not recorded alike**", "", *(f"- {_text(line)}" for line in differences), ""]
    for outcome, title in GROUPS:
        chosen = [r for r in results if r.outcome == outcome]
        if chosen:
            lines += [f"**{title}**", "", *(f"- `{_code(r.phase)}` {_text(r.message)}" for r in chosen), ""]
    for change in comparison.phases:
        lines += [f"<details><summary>{_html(words.phase_title(change))}</summary>", ""]
        timed = words.time_line(change)
        lines += [timed, ""] if timed else []
        lines += _table(("figure", "before", "after", "change"), words.figure_rows(change))
        lines += _table(("kernel", "calls a step", "time a step", ""), words.kernel_rows(change, top))
        lines += ["</details>", ""]
    return "\n".join(lines)


def _table(heads: Sequence[str], rows: Iterable[tuple[str, ...]]) -> list[str]:
    body = ["| " + " | ".join(_text(cell) for cell in row) + " |" for row in rows]
    if not body:
        return []
    return ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads), *body, ""]


def _text(text: str) -> str:
    """Untrusted text as Markdown shows it: no markup, no mention, no link."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~@:&$])", r"\\\1", inert(text)).replace("\\<", "&lt;").replace("\\>", "&gt;")


def _html(text: str) -> str:
    """Untrusted text inside an HTML tag, where Markdown's backslashes would show; entities keep it from linking."""
    return re.sub(r"[@`\[\]]", lambda m: f"&#{ord(m[0])};", html.escape(inert(text)))


def _code(text: str) -> str:
    return inert(text).replace("`", "'").replace("|", "\\|")

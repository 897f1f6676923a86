"""A comparison on a terminal: the environment first, then each phase, then the gates."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from rich.table import Table
from rich.text import Text

from . import comparison_text as words
from .inert import inert
from .terminal import console

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, JustifyMethod

    from boundby.analyzers.comparison.compare import Comparison
    from boundby.analyzers.comparison.gates import GateResult

_MARKS = {"fail": ("FAIL", "bold red"), "unknown": ("?", "yellow"), "pass": ("ok", ""), "improved": ("better", "green")}


def print_comparison(comparison: Comparison, *, top: int = 8, file: TextIO | None = None) -> None:
    """Print what changed; `top` kernels a phase."""
    out = console(file)
    _line(out, f"before  {comparison.before}")
    _line(out, f"after   {comparison.after}")
    differences = words.environment_lines(comparison)
    if differences:
        _line(out, "Not recorded alike; times compare only on one machine with one software:", style="bold")
        for line in differences:
            _line(out, f"  {line}")
    for change in comparison.phases:
        out.print()
        _line(out, words.phase_title(change), style="bold red" if change.flipped else "bold")
        timed = words.time_line(change)
        if timed:
            _line(out, f"  {timed}")
        _table(out, ("figure", "before", "after", "change"), words.figure_rows(change))
        _table(out, ("kernel", "calls a step", "time a step", ""), words.kernel_rows(change, top))


def print_gates(results: Sequence[GateResult], *, file: TextIO | None = None) -> None:
    """Print each gate's outcome with its figures, and the count."""
    out = console(file)
    out.print()
    for result in results:
        mark, style = _MARKS[result.outcome]
        text = Text.assemble((f"{mark:>6}", style), "  ", inert(f"{result.phase}: {result.message}"))
        out.print(text, soft_wrap=True)
    _line(out, words.summary(results), style="bold")


def _line(out: Console, text: str, style: str = "") -> None:
    out.print(Text(inert(text), style=style), soft_wrap=True)


def _table(out: Console, heads: Sequence[str], rows: Iterable[tuple[str, ...]]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 2), header_style="dim")
    for number, head in enumerate(heads):
        justify: JustifyMethod = "left" if number in (0, 3) else "right"
        table.add_column(
            head, justify=justify, overflow="ellipsis", no_wrap=True, min_width=len(head) if number else None
        )
    filled = False
    for row in rows:
        table.add_row(*(Text(inert(cell)) for cell in row))
        filled = True
    if filled:
        out.print(table)

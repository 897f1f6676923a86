"""A comparison in words: the lines that the terminal, Markdown and CI annotations share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import units
from .names import fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boundby.analyzers.comparison.compare import Comparison, FigureChange, PhaseChange
    from boundby.analyzers.comparison.gates import GateResult

NOTABLE = 0.02
"""A figure that moved by less than this is not worth a line of its own."""


def environment_lines(comparison: Comparison) -> list[str]:
    """What differs between the recordings' environments, before anything is said of what regressed."""
    return [f"{key}: {_value(a)} -> {_value(b)}" for key, (a, b) in comparison.environment.items()]


def phase_title(change: PhaseChange) -> str:
    """The phase and what became of its label."""
    if change.before is None:
        return f"{change.id}: new ({change.after.bound if change.after else ''})"
    if change.after is None:
        return f"{change.id}: gone (was {change.before.bound})"
    if change.flipped:
        return f"{change.id}: {change.before.bound} -> {change.after.bound}"
    return f"{change.id}: {change.after.bound}, as before"


def time_line(change: PhaseChange) -> str | None:
    """The step times against each other, with how sure that is."""
    if change.time is None or change.before is None or change.after is None:
        return None
    t = change.time
    how = "untraced" if change.before.untraced and change.after.untraced else "traced"
    counts = f"{len(change.before.samples_us)} and {len(change.after.samples_us)} {how} steps"
    if t.p is None:
        return f"step time x{t.ratio:.3f} ({counts}: too few to tell a change from chance)"
    sure = f"99 % interval {t.low:.3f} to {t.high:.3f}, p = {t.p:.2g}, fastest tenth x{t.fast:.3f}"
    return f"step time x{t.ratio:.3f} ({sure}, {counts})"


def figure_rows(change: PhaseChange) -> Iterator[tuple[str, str, str, str]]:
    """Name, before, after and change of every figure that moved notably, or is known on one side only."""
    for figure in change.figures:
        if figure.before is None or figure.after is None or _moved(figure):
            yield figure.name, _figure(figure.name, figure.before), _figure(figure.name, figure.after), _change(figure)


def kernel_rows(change: PhaseChange, most: int) -> Iterator[tuple[str, str, str, str]]:
    """Name, calls per step, time per step and its change, of the kernels that changed most."""
    for kernel in change.kernels[:most]:
        same_calls = kernel.before_calls == kernel.after_calls
        if same_calls and abs(kernel.change_us) < NOTABLE * max(kernel.before_us, kernel.after_us):
            continue
        state = "new" if not kernel.before_calls else "gone" if not kernel.after_calls else ""
        calls = f"{kernel.after_calls:g}" if same_calls else f"{kernel.before_calls:g} -> {kernel.after_calls:g}"
        sign = "+" if kernel.change_us >= 0 else "-"
        yield fold(kernel.name), calls, f"{sign}{units.duration(abs(kernel.change_us))}", state


def summary(results: Sequence[GateResult]) -> str:
    """One line: how many gates failed, could not tell, passed, improved."""
    counts = {
        outcome: sum(r.outcome == outcome for r in results) for outcome in ("fail", "unknown", "pass", "improved")
    }
    words = {"fail": "failed", "unknown": "could not tell", "pass": "passed", "improved": "improved"}
    return ", ".join(f"{n} {words[outcome]}" for outcome, n in counts.items() if n) or "no gate applied"


def _change(figure: FigureChange) -> str:
    """In per cent; of a share in points, since a per cent of a per cent misleads."""
    if figure.before is None or figure.after is None:
        return ""
    if figure.name.startswith("share_"):
        return f"{(figure.after - figure.before) * 100:+.0f} points"
    return "" if figure.ratio is None else f"{figure.ratio - 1:+.1%}"


def _moved(figure: FigureChange) -> bool:
    before, after = figure.before, figure.after
    assert before is not None
    assert after is not None
    if figure.name.startswith("share_"):
        return abs(after - before) >= NOTABLE
    return abs(after - before) > NOTABLE * max(abs(before), abs(after))


def _figure(name: str, value: float | None) -> str:
    if value is None:
        return units.UNKNOWN
    if name.endswith(("_us", "_us_per_step")):
        return units.duration(value)
    if name.startswith("share_") or name in {"efficiency", "cost_coverage"}:
        return units.percent(value)
    if "bytes" in name:
        return units.size(value)
    return units.flops(value) if "flops" in name else f"{value:,.6g}"


def _value(value: Any) -> str:
    return "not recorded" if value is None else str(value)

"""What a notebook shows of an `Analysis`: the verdicts as a small table, frames, and plots on matplotlib axes."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from boundby.analyzers.errors import UsageError

from . import units, wording
from .inert import inert

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes

    from boundby.analyzers.analysis import Analysis, Phase


def fragment(analysis: Analysis) -> str:
    """The verdicts as an HTML table without script or style of the page's own."""
    rows = "".join(
        f"<tr><td>{_text(phase.id)}</td><td>{wording.SYMBOLS.get(phase.bound, '○')} <b>{_text(wording.label(phase))}</b></td>"
        f"<td>{units.duration(wording.step_wall_us(phase))}</td>"
        f'<td style="text-align:left">{_text(wording.headline(phase, analysis.device))}</td></tr>'
        for phase in analysis.phases
    )
    head = "<tr><th>phase</th><th>bound</th><th>a step</th><th>verdict</th></tr>"
    caption = f"{_text(analysis.trace.path)}, {_text(analysis.device.name or 'unknown device')}"
    return f"<table><caption>{caption}</caption><thead>{head}</thead><tbody>{rows}</tbody></table>"


def _text(text: str) -> str:
    return escape(inert(text, 400))


def to_polars(analysis: Analysis, table: str = "phases") -> pl.DataFrame:
    """The rows of `table` (`reports.tables.TABLES`). Raises `UsageError` for another one."""
    from .tables import frame

    return frame([analysis], table)


def to_pandas(analysis: Analysis, table: str = "phases") -> pd.DataFrame:
    """As `to_polars`, for pandas."""
    return to_polars(analysis, table).to_pandas()


@dataclass(frozen=True)
class Plots:
    """`analysis.plot`: each method draws on `ax`, or on new axes, and returns them. `phase` is an id; the longest if None."""

    analysis: Analysis

    def roofline(self, ax: Axes | None = None, *, phase: str | None = None) -> Axes:
        """Operators by intensity and rate under the device's roof. Raises `UsageError` when its peaks are not known."""
        from .charts.roofline import draw_roofline, points, roof

        chosen = self._phase(phase)
        if roof(chosen, self.analysis.device) is None:
            raise UsageError(f"no peaks are known of {self.analysis.device.name or 'this device'}; pass device=")
        axes = ax or _new_axes()
        draw_roofline(axes, chosen, self.analysis.device, points(chosen, key="op", limit=60), legend=True)
        axes.set_title(inert(chosen.id, 80))
        return axes

    def steps(self, ax: Axes | None = None, *, phase: str | None = None) -> Axes:
        """The time of each step, against its context where that grows."""
        from .charts.steps import draw_steps

        chosen = self._phase(phase)
        if not chosen.steps:
            raise UsageError(f"phase {chosen.id!r} has no step with a time account")
        axes = ax or _new_axes()
        draw_steps(axes, chosen.steps)
        return axes

    def shares(self, ax: Axes | None = None) -> Axes:
        """One bar a phase: the shares of its wall time."""
        from .charts.shares import draw_shares

        axes = ax or _new_axes()
        draw_shares(axes, self.analysis.phases)
        return axes

    def _phase(self, name: str | None) -> Phase:
        phases = {phase.id: phase for phase in self.analysis.phases}
        if name is None and phases:
            return max(phases.values(), key=lambda phase: phase.wall_us or 0.0)
        if name not in phases:
            raise UsageError(f"phase {name!r} is not in this trace; it has {', '.join(phases) or 'none'}")
        return phases[name]


def _new_axes() -> Axes:
    # pyplot, so that a notebook shows the figure by itself.
    import matplotlib.pyplot as plt

    axes: Any = plt.subplots(figsize=(8.4, 4.9), layout="constrained")[1]
    return axes  # type: ignore[no-any-return]

"""The step series: how long each step took, against its context where it grows, with the outliers named."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from .style import colour
from .svg import mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from boundby.analyzers.analysis import StepRow

MOST_STEPS = 2000
"""Steps drawn; of more, every n-th and all outliers."""


def outliers(steps: Sequence[StepRow]) -> list[StepRow]:
    """Steps that take more than 1.2 x the median and stand 5 median deviations above it, longest first."""
    walls = [step.wall_us for step in steps]
    if len(walls) < 4:
        return []
    middle = median(walls)
    spread = median(abs(wall - middle) for wall in walls)
    over = [step for step in steps if step.wall_us > max(1.2 * middle, middle + 5 * spread)]
    return sorted(over, key=lambda step: -step.wall_us)


def grows(steps: Sequence[StepRow]) -> bool:
    """Whether the steps' context is known and differs, so that it makes an axis."""
    contexts = {step.context_tokens for step in steps}
    return None not in contexts and len(contexts) > 1


def draw_steps(ax: Axes, steps: Sequence[StepRow], *, ylabel: str = "time of a step") -> None:
    """Wall and busy time of each step, in ms, against context tokens or the step's number."""
    named = outliers(steps)[:5]
    stride = -(-len(steps) // MOST_STEPS)
    kept = [step for n, step in enumerate(steps) if n % stride == 0 or step in named]
    by_context = grows(steps)
    xs = [float(step.context_tokens or 0) if by_context else float(step.index) for step in kept]
    order = sorted(range(len(kept)), key=lambda n: xs[n])
    xs, kept = [xs[n] for n in order], [kept[n] for n in order]
    wall = [step.wall_us / 1e3 for step in kept]
    busy = [step.busy_us / 1e3 for step in kept]
    ax.fill_between(xs, busy, color=colour("bandwidth"), alpha=0.25, linewidth=0, gid=mark("busy"))
    ax.plot(
        xs,
        wall,
        color=colour("bandwidth"),
        linewidth=1.4,
        marker="o" if len(xs) <= 60 else None,
        markersize=3.5,
        gid=mark("wall"),
    )
    for step in named:
        x = float(step.context_tokens or 0) if by_context else float(step.index)
        ax.annotate(
            f"step {step.index}: {step.wall_us / 1e3:,.3g} ms",
            (x, step.wall_us / 1e3),
            xytext=(6, -2),
            textcoords="offset points",
            fontsize=9,
        )
    ax.set_xlabel("context tokens of the step" if by_context else "step")
    ax.set_ylabel(f"{ylabel} (ms)")
    ax.set_ylim(0, max(wall) * 1.12 or 1.0)
    ax.set_facecolor("none")
    ax.grid(visible=True, axis="y", color="#000000", alpha=0.12, linewidth=0.6)

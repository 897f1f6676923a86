"""The shares of each phase's wall time, as stacked bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import wording
from ..inert import inert
from .style import colour

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from boundby.analyzers.analysis import Phase

HATCHES = {"bandwidth": "///", "launch": "..", "communication": "xx", "transfer": "||", "stall": "--"}


def draw_shares(ax: Axes, phases: Sequence[Phase]) -> None:
    """One horizontal bar a phase that has a time account, in per cent, from the top down."""
    counted = [phase for phase in phases if phase.shares is not None]
    for name in wording.SHARES:
        widths = [100 * float(getattr(phase.shares, name)) for phase in counted]
        if any(widths):
            before = [100 * _before(phase, name) for phase in counted]
            ax.barh(
                range(len(counted)), widths, left=before, color=colour(name), edgecolor="#ffffff", hatch=HATCHES.get(name),
                label=f"{wording.SYMBOLS[name]} {name}",
            )  # fmt: skip
    ax.set_yticks(range(len(counted)), [inert(phase.id, 40) for phase in counted])
    ax.invert_yaxis()
    ax.set_xlim(0, 100)
    ax.set_xlabel("share of the wall time (%)")
    if counted:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=4, frameon=False)


def _before(phase: Phase, name: str) -> float:
    earlier = wording.SHARES[: wording.SHARES.index(name)]
    return sum(float(getattr(phase.shares, other)) for other in earlier)

"""`TimeAccount`: the disjoint shares of a phase's wall time, after taking back what the profiler itself added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .account import Pieces
from .analysis import Shares
from .classes import CLASSES, LAUNCH
from .idle import CAUSES, PYTHON, Idle
from .window import Windows
from .work import MEMCPY, Work

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

TINY = "tiny_kernels"
"""The cause of launch time that is busy time: kernels that cost more to start than to run."""


@dataclass(frozen=True, slots=True)
class TimeAccount:
    """Sums over a phase's steps, ns (floats, since the untraced correction divides). busy + idle = wall, and
    `by_class` sums to wall."""

    wall: float
    busy: float
    """Kernels and memory sets. Copies run on engines of their own: exposed, they are in their class, not in here."""
    by_class: Floats
    """Indexed like `CLASSES`."""
    causes: dict[str, float]
    """Launch time by cause; sums to the launch class."""
    traced_wall: float
    untraced_median: float | None
    """Per step, ns: the median of the same steps timed without the profiler."""
    edge_lead_in: float
    """Lead-in (ns, within launch time) of the capture's very first and last steps."""
    step_wall: Floats
    step_busy: Floats
    step_launch: Floats

    @property
    def idle(self) -> float:
        """Wall time in which nothing occupied the device, ns."""
        return self.wall - self.busy

    @property
    def distortion(self) -> float | None:
        """How much longer a step is under the profiler: traced / untraced - 1; None without an untraced time."""
        if not self.untraced_median:
            return None
        return self.traced_wall / len(self.step_wall) / self.untraced_median - 1.0

    @property
    def shares(self) -> Shares:
        """Fractions of the wall; they sum to 1."""
        return Shares(**dict(zip(CLASSES, (self.by_class / self.by_class.sum()).tolist(), strict=True)))


def account_phase(
    numbers: Sequence[int],
    windows: Windows,
    pieces: Pieces,
    idle: Idle,
    work: Work,
    classes: Ints,
    *,
    untraced_ns: Sequence[float | None],
    edges: frozenset[int],
) -> TimeAccount | None:
    """Add up a phase's steps (by number); None when none of them has a window. `untraced_ns` is the median of each step's
    shape without the profiler. `edges` are the steps at either end of
    the capture."""
    wanted = np.array([n for n in numbers if not windows.empty[n]], np.int64)
    if not len(wanted) or (windows.close_ns[wanted] <= windows.open_ns[wanted]).all():
        return None
    position = np.full(len(windows.open_ns), -1)
    position[wanted] = np.arange(len(wanted))
    n, k = len(wanted), len(CLASSES)

    mine = position[pieces.step] >= 0
    busy_at, busy_class = position[pieces.step[mine]], classes[pieces.item[mine]]
    own = pieces.own_ns[mine].astype(float)
    busy_table: Floats = np.bincount(busy_at * k + busy_class, weights=own, minlength=n * k).astype(float).reshape(n, k)

    gaps = position[pieces.gaps.step] >= 0
    length = (pieces.gaps.end - pieces.gaps.start)[gaps].astype(float)
    gap_at, gap_class = position[pieces.gaps.step[gaps]], idle.klass[gaps]
    idle_table: Floats = (
        np.bincount(gap_at * k + gap_class, weights=length, minlength=n * k).astype(float).reshape(n, k)
    )

    traced = (windows.close_ns - windows.open_ns)[wanted].astype(float)
    occupied = busy_table.sum(axis=1)
    known = {n: np.nan if t is None else t for n, t in zip(numbers, untraced_ns, strict=True)}
    untraced = np.array([known[n] for n in wanted.tolist()], float)
    # A step that was never timed without the profiler keeps its traced wall.
    undistorted = np.fmin(untraced, np.maximum(traced, occupied))
    idle_table, scale = _without_profiler(idle_table, occupied, undistorted)
    computes = work.kind[pieces.item[mine]] != MEMCPY
    busy = np.bincount(busy_at[computes], weights=own[computes], minlength=n).astype(float)
    table = busy_table + idle_table
    causes = {
        cause: float((idle.causes[cause][gaps] * scale[gap_at]).sum()) for cause in CAUSES if idle.causes[cause].any()
    }
    causes[TINY] = float(busy_table[:, LAUNCH].sum())
    unexplained = float(table[:, LAUNCH].sum()) - sum(causes.values())
    causes[PYTHON] = causes.get(PYTHON, 0.0) + max(unexplained, 0.0)
    is_edge = np.array([int(number) in edges for number in wanted])
    lead = pieces.gaps.lead_in[gaps] & (gap_class == LAUNCH) & is_edge[gap_at]
    return TimeAccount(
        wall=float(table.sum()),
        busy=float(busy.sum()),
        by_class=table.sum(axis=0),
        causes={cause: ns for cause, ns in causes.items() if ns > 0},
        traced_wall=float(traced.sum()),
        untraced_median=None if np.isnan(untraced).any() else float(np.median(untraced)),
        edge_lead_in=float((length[lead] * scale[gap_at[lead]]).sum()),
        step_wall=table.sum(axis=1),
        step_busy=busy,
        step_launch=table[:, LAUNCH],
    )


def _without_profiler(idle: Floats, occupied: Floats, undistorted: Floats) -> tuple[Floats, Floats]:
    """Idle time per step and class with wall = max(undistorted wall, occupied time): the profiler slows the host, so
    launch time is what remains. Returns the table and the factor applied to each step's launch time.

    The undistorted wall of a step is its untraced median, and never more than its traced wall: a profiler takes time
    and gives none, so an untraced median above that is the machine's noise."""
    idle = idle.copy()
    allowed = np.maximum(undistorted - occupied, 0.0)
    launch = idle[:, LAUNCH].copy()
    others = idle.sum(axis=1) - launch
    shrink = np.where(others > allowed, allowed / np.maximum(others, 1e-9), 1.0)
    idle *= shrink[:, None]
    idle[:, LAUNCH] = allowed - others * shrink
    scale = np.where(launch > 0, idle[:, LAUNCH] / np.maximum(launch, 1e-9), 1.0)
    return idle, scale

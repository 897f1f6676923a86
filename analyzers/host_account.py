"""The account of a CPU trace: ops take the kernels' place, a step's span is its window, gaps are what no op covers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .account import Gaps, Pieces
from .classes import LAUNCH
from .correlate import Linked
from .idle import CAUSES, PYTHON, Idle
from .intervals import Union
from .step import Step
from .window import Windows
from .work import Work

Ints = npt.NDArray[np.int64]


def assign_ops(work: Work, linked: Linked, steps: Sequence[Step]) -> tuple[Ints, Windows]:
    """Per item: the step in whose span, on whose thread, it started (-1 for none); and the spans as windows."""
    ops = linked.trace.ops
    pid, tid = ops["pid"].to_numpy()[work.anchor], ops["tid"].to_numpy()[work.anchor]
    owner = np.full(len(work), -1, np.int64)
    n = len(steps)
    opens, closes = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for number, step in enumerate(steps):
        low, high = np.searchsorted(work.start, [step.start_ns, step.end_ns])
        rows = np.arange(low, high)
        mine = (pid[rows] == step.pid) if step.pid is not None else np.ones(len(rows), bool)
        thread = step.tid if step.tid is not None else _busiest(tid[rows], work.time[rows])
        owner[rows[mine & (tid[rows] == thread)]] = number
        opens[number], closes[number] = step.start_ns, step.end_ns
    counts = np.bincount(owner[owner >= 0], minlength=n)
    return owner, Windows(opens, closes, opens.copy(), counts == 0)


def _busiest(tid: Ints, time: Ints) -> int:
    return int(np.argmax(np.bincount(tid, weights=time))) if len(tid) else -1


def cut_spans(work: Work, owner: Ints, windows: Windows) -> tuple[Pieces, Idle]:
    """Each item's own time is a busy piece; what no op of the step covers is idle, and the framework's."""
    owned = np.flatnonzero(owner >= 0)
    found: list[tuple[Ints, Ints, Ints, Ints]] = []
    for number in range(len(windows.open_ns)):
        if windows.empty[number]:
            continue
        items = owned[owner[owned] == number]
        start, end = Union.of(work.start[items], work.end[items]).gaps(
            int(windows.open_ns[number]), int(windows.close_ns[number])
        )
        ender = items[np.minimum(np.searchsorted(work.start[items], end), len(items) - 1)]
        found.append((np.full(len(start), number), start, end, ender))
    step, start, end, item = (
        tuple(np.concatenate(column).astype(np.int64) for column in zip(*found, strict=True))
        if found
        else tuple(np.empty(0, np.int64) for _ in range(4))
    )
    gaps = Gaps(step, start, end, item, start == windows.open_ns[step])
    causes = {cause: np.zeros(len(start), np.int64) for cause in CAUSES}
    causes[PYTHON] = end - start
    return Pieces(owner[owned], owned, work.time[owned], gaps), Idle(np.full(len(start), LAUNCH), causes)

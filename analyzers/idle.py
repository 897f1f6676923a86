"""Why the device was idle: each gap is laid to the launch of the item that ends it.

host-late: the launch call began, or was still running, after the gap opened: launch time, split by what the host did
meanwhile. dispatch: enqueued before, and the gap is no longer than a start latency: launch time too. stall: enqueued
before and long: waiting for an event, another stream, another rank. A gap whose launch is not in the trace is unknown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from .account import Gaps
from .classes import LAUNCH, STALL, UNKNOWN
from .correlate import Linked
from .intervals import Union
from .work import Work

Ints = npt.NDArray[np.int64]

HOST_CAUSES = {
    # A stream that waits for an event and a query of one return at once: the host goes on.
    "synchronize": r"(?i)synchronize",
    "blocking_copy": r"^(cuda|hip|cu)Memcpy(?!.*Async)",
    "allocate": r"(?i)malloc|memfree|^(cuda|hip)Free|HostAlloc|MemPool|MemAlloc|MemCreate|MemMap",
    "graph_launch": r"(?i)GraphLaunch",
    "compile": r"(?i)ModuleLoad|LibraryLoad|ModuleGetFunction|nvrtc|hiprtc|FuncSetAttribute|FuncGetAttributes|GraphInstantiate",
}
"""Runtime calls that hold the host up, by what it then does. In order: the first that matches names the call."""
PYTHON, DISPATCH = "python_and_framework", "dispatch"
CAUSES = (*HOST_CAUSES, PYTHON, DISPATCH)


@dataclass(frozen=True, slots=True)
class Idle:
    """Per gap: its class (an index into `CLASSES`); and how its launch time divides among the causes, ns."""

    klass: Ints
    causes: dict[str, Ints]


def explain_gaps(work: Work, linked: Linked, gaps: Gaps, *, latency_ns: int) -> Idle:
    """Lay each gap to its cause. `latency_ns` is the longest start latency of an enqueued item on this device."""
    n = len(gaps.start)
    causes = {cause: np.zeros(n, np.int64) for cause in CAUSES}
    klass = np.full(n, UNKNOWN)
    launches = linked.trace.launches
    if not n or not launches.height:
        return Idle(klass, causes)
    launch = work.launch[gaps.item]
    known = launch >= 0
    starts = launches["ts_ns"].to_numpy()
    called = starts[launch]
    returned = called + launches["dur_ns"].to_numpy()[launch]
    late = known & (returned > gaps.start)
    short = (gaps.end - gaps.start) <= latency_ns
    klass[late | (known & short)] = LAUNCH
    klass[known & ~late & ~short] = STALL
    waiting = known & ~late & short
    causes[DISPATCH][waiting] = (gaps.end - gaps.start)[waiting]
    _split_host_late(linked, gaps, launch, late, causes)
    return Idle(klass, causes)


def _split_host_late(
    linked: Linked, gaps: Gaps, launch: Ints, late: npt.NDArray[np.bool_], causes: dict[str, Ints]
) -> None:
    """What the launching thread did within each gap until its launch returned: runtime calls by kind, and the rest is
    Python and framework. From then on the gap is start latency: what the host does next does not hold this item up."""
    launches = linked.trace.launches
    tid = launches["tid"].to_numpy()
    start = launches["ts_ns"].to_numpy()
    end = start + launches["dur_ns"].to_numpy()
    kinds = cause_of_calls(linked)
    thread_of_gap = tid[launch]
    for thread in np.unique(thread_of_gap[late]):
        rows = np.flatnonzero(late & (thread_of_gap == thread))
        until = np.minimum(gaps.end[rows], end[launch[rows]])
        causes[DISPATCH][rows] = gaps.end[rows] - until
        left = until - gaps.start[rows]
        for number, cause in enumerate(HOST_CAUSES):
            calls = np.flatnonzero((tid == thread) & (kinds == number))
            spent = Union.of(start[calls], end[calls]).covered(gaps.start[rows], until)
            spent = np.minimum(spent, left)
            causes[cause][rows] = spent
            left = left - spent
        causes[PYTHON][rows] = left


def cause_of_calls(linked: Linked) -> Ints:
    """Per launch row: the number of its cause in `HOST_CAUSES`, -1 for a call that does not hold the host up."""
    names = linked.trace.launches["name"]
    if not len(names):
        return np.empty(0, np.int64)
    distinct = names.unique(maintain_order=True)
    kinds = [next((n for n, p in enumerate(HOST_CAUSES.values()) if re.search(p, name)), -1) for name in distinct]
    return names.replace_strict(distinct, pl.Series(kinds, dtype=pl.Int64), return_dtype=pl.Int64).to_numpy()

"""Windows: when each step held the device. DESIGN's definition, in one place.

A window closes at the end of the step's last kernel. If the device was waiting for the host when the step's first
kernel came, it opens at the latest of the host span's start, the previous step's close and the end of any other work;
otherwise at the first kernel's start, because the device was still busy with earlier work, recorded or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .correlate import Linked
from .step import Step
from .work import MEMCPY, Work

Ints = npt.NDArray[np.int64]

IDLE_QUEUE_NS = 10_000
"""A launch that starts this soon found an idle device."""
NEVER = int(np.iinfo(np.int64).min)
BLOCKING = r"^(cuda|hip|cu)Memcpy(DtoH|HtoD|DtoD|2D|3D|_v2)?$|MemcpyWithStream"
"""Copies that return when they are done."""


@dataclass(frozen=True, slots=True)
class Windows:
    """Per step, ns: when its window opens and closes, and when its first item starts. `empty` steps have no item."""

    open_ns: Ints
    close_ns: Ints
    first_ns: Ints
    empty: npt.NDArray[np.bool_]


def launch_delays(work: Work, linked: Linked) -> Ints:
    """Per item: nanoseconds from its launch call to its own start; -1 where the launch is unknown.

    An item that starts while its call is still running has waited for nothing but the call: the delay counts from the
    call's return (0 if it starts before). A blocking copy returns after its item, so there it counts from the call's start."""
    launches = linked.trace.launches
    if not len(work) or not launches.height:
        return np.full(len(work), -1, np.int64)
    called = launches["ts_ns"].to_numpy()
    returned = called + launches["dur_ns"].to_numpy()
    since = np.where(launches["name"].str.contains(BLOCKING).to_numpy(), called, returned)
    return np.where(work.launch >= 0, np.maximum(work.start - since[work.launch], 0), -1)


def idle_queue_delay(work: Work, linked: Linked) -> int:
    """The longest launch-to-start delay (ns) that still means the device was waiting: 10 us, or three times the
    trace's median delay of launches that found the device idle."""
    delays = launch_delays(work, linked)
    if not (delays >= 0).any():
        return IDLE_QUEUE_NS
    called = linked.trace.launches["ts_ns"].to_numpy()[work.launch]
    busy_until = np.concatenate([[np.iinfo(np.int64).max], np.maximum.accumulate(work.end)[:-1]])
    # Before the first recorded item the device may be busy with work that the trace does not hold: no delay is told.
    unqueued = (delays >= 0) & (busy_until <= called)
    # Only the first item of a launch shows its latency: later nodes of a graph wait for their predecessors.
    _, first = np.unique(work.launch, return_index=True)
    is_first = np.zeros(len(work), bool)
    is_first[first] = True
    unqueued &= is_first
    if not unqueued.any():
        return IDLE_QUEUE_NS
    return max(IDLE_QUEUE_NS, int(3 * np.median(delays[unqueued])))


def assign_steps(work: Work, linked: Linked, steps: Sequence[Step]) -> Ints:
    """Per item: the number of the step that launched it, -1 for other work."""
    owner = np.full(len(work), -1, np.int64)
    if not len(work) or not steps:
        return owner
    launches = linked.trace.launches
    has_launch = work.launch >= 0
    for number, step in enumerate(steps):
        if step.kernel_rows is not None:
            owner[step.kernel_rows[0] : step.kernel_rows[1]] = number
    hosted = [n for n, s in enumerate(steps) if s.kernel_rows is None]
    if not hosted:
        return owner
    if not has_launch.any():
        return _assign_by_time(work, steps, hosted, owner)
    ts = launches["ts_ns"].to_numpy()
    pid, tid = launches["pid"].to_numpy(), launches["tid"].to_numpy()
    step_of_launch = np.full(launches.height, -1, np.int64)
    for same_thread in (True, False):
        served = set(step_of_launch[work.launch[has_launch]].tolist())
        for number in hosted:
            step = steps[number]
            if number in served or (same_thread and step.tid is None):
                continue
            low, high = np.searchsorted(ts, [step.start_ns, step.end_ns])
            rows = np.arange(low, high)
            mine = (pid[rows] == step.pid) if step.pid is not None else np.ones(len(rows), bool)
            if same_thread:
                mine &= tid[rows] == step.tid
            rows = rows[mine & (step_of_launch[rows] < 0)]
            step_of_launch[rows] = number
    owner[has_launch] = np.where(owner[has_launch] >= 0, owner[has_launch], step_of_launch[work.launch[has_launch]])
    return owner


def _assign_by_time(work: Work, steps: Sequence[Step], hosted: list[int], owner: Ints) -> Ints:
    """Without launches an item belongs to the last step whose span began before it."""
    starts = np.array([steps[n].start_ns for n in hosted])
    order = np.argsort(starts)
    at = np.searchsorted(starts[order], work.start, side="right") - 1
    found = np.where(at >= 0, np.array(hosted)[order][at], -1)
    return np.where(owner >= 0, owner, found)


def windows_of(work: Work, linked: Linked, steps: Sequence[Step], owner: Ints, *, idle_ns: int) -> Windows:
    """Open and close of each step's window on its devices. `idle_ns` is `idle_queue_delay`."""
    n = len(steps)
    opens, closes, firsts = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    empty = np.ones(n, bool)
    delays = launch_delays(work, linked)
    reach = _reach_by_device(work)
    order = np.argsort(owner, kind="stable")
    bounds = np.searchsorted(owner[order], np.arange(n + 1))
    for number, step in enumerate(steps):
        items = order[bounds[number] : bounds[number + 1]]
        if not len(items):
            continue
        if step.kernel_rows is not None:
            # Nobody marked this step: copies before its first kernel and after its last may be anything.
            computes = items[work.kind[items] != MEMCPY]
            items = computes if len(computes) else items
        first = int(items[0])
        empty[number] = False
        firsts[number] = work.start[first]
        closes[number] = work.end[items].max()
        # The end of the last item that started earlier on the step's devices: other work, the previous step's included.
        devices = np.unique(work.device[items]).tolist()
        earlier = max(int(reach[d][first - 1]) for d in devices) if first else NEVER
        # Before the first recorded item a step that nobody marked has no known beginning.
        begun = step.kernel_rows is None and (step.marked or earlier > NEVER)
        if begun and 0 <= delays[first] <= idle_ns:
            opens[number] = min(max(step.start_ns, earlier), firsts[number])
        else:
            opens[number] = firsts[number]
    return Windows(opens, closes, firsts, empty)


def _reach_by_device(work: Work) -> dict[int, Ints]:
    """Per device: at each item, the latest end of that device's items so far."""
    devices = np.unique(work.device).tolist()
    return {d: np.maximum.accumulate(np.where(work.device == d, work.end, NEVER)) for d in devices}

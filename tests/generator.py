"""Traces with a known truth: a host and a device that take turns as described, written as Kineto writes them.

The host runs a step's calls one after another: what holds it up, then a launch. The device runs kernels in order, each as soon as
it has been launched, the one before has ended, and its own wait (another stream, another rank) is over. The truth is worked out
beside the events by the definitions of docs/method.md, in plain loops, and shares no code with the analyzers. Times are in ns.
"""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass, field
from typing import Any

LAUNCH_NS = 2_000
LATENCY_NS = 10_000
"""Up to this long an enqueued kernel's gap is start latency; beyond it, a stall."""
TINY_NS = 4_000
"""Two starts of 2 us: a kernel of unknown cost that is no longer is launch time."""
CALLS = {
    "synchronize": "cudaStreamSynchronize",
    "allocate": "cudaMalloc",
    "blocking_copy": "cudaMemcpy",
    "python_and_framework": "",
}


@dataclass(frozen=True)
class Work:
    """One launch: what the host does before it, for how long, and the kernels that it starts (more than one: a graph)."""

    kernels: tuple[int, ...]
    """Durations."""
    held_up: str = "python_and_framework"
    held_ns: int = 0
    wait_ns: int = 0
    """The first kernel waits this long beyond launch and predecessor."""
    between_ns: int = 0
    """Between the nodes of a graph."""


@dataclass
class Truth:
    """What a right analysis says of one step."""

    wall: int = 0
    busy: int = 0
    stall: int = 0
    causes: dict[str, int] = field(default_factory=dict)
    kernels: int = 0
    launches: int = 0


@dataclass
class _Machine:
    events: list[dict[str, Any]] = field(default_factory=list)
    host: int = 1_000_000
    free: int = 0
    number: int = 0
    latency: int = LATENCY_NS
    unqueued: list[int] = field(default_factory=list)
    """Delays of launches that found the device idle, after the first recorded kernel."""


def lay_out(steps: list[list[Work]], *, earlier_ns: int = 0) -> tuple[bytes, list[Truth]]:
    """The trace as JSON, and the truth of each step. `earlier_ns` of unrecorded-launch work keeps the device busy at first."""
    # The longest start latency is a figure of the whole trace: lay it out once for that, then again for the truth.
    first = _lay_out(steps, earlier_ns, LATENCY_NS)[2]
    latency = max(LATENCY_NS, int(3 * statistics.median(first))) if first else LATENCY_NS
    return _lay_out(steps, earlier_ns, latency)[:2]


def _lay_out(steps: list[list[Work]], earlier_ns: int, latency: int) -> tuple[bytes, list[Truth], list[int]]:
    machine = _Machine(latency=latency)
    machine.free = machine.host
    if earlier_ns:
        machine.free += earlier_ns
        _kernel(machine, machine.host, earlier_ns, None)
    truths, closed = [], machine.free if earlier_ns else 0
    for index, works in enumerate(steps):
        truth, closed = _step(machine, index, works, closed)
        truths.append(truth)
        machine.host += 5_000
    trace = {"schemaVersion": 1, "deviceProperties": [], "traceEvents": machine.events}
    return json.dumps(trace).encode(), truths, machine.unqueued


def _step(machine: _Machine, index: int, works: list[Work], closed: int) -> tuple[Truth, int]:
    truth, span = Truth(), machine.host
    busy_until: int | None = None
    for work in works:
        held = (machine.host, machine.host + work.held_ns)
        if CALLS[work.held_up] and work.held_ns:
            _call(machine, CALLS[work.held_up], *held, None)
        machine.host = held[1]
        machine.number += 1
        launched = machine.host
        name = "cudaGraphLaunch" if len(work.kernels) > 1 else "cudaLaunchKernel"
        _call(machine, name, launched, launched + LAUNCH_NS, machine.number)
        machine.host = returned = launched + LAUNCH_NS
        truth.launches += 1
        for node, duration in enumerate(work.kernels):
            extra = work.wait_ns if node == 0 else work.between_ns
            start = max(returned, machine.free) + extra
            if busy_until is None:
                waited = start - returned <= machine.latency
                opened = min(max(span, closed), start) if waited else start
                busy_until, truth.wall = opened, -opened
            graph = launched if name == "cudaGraphLaunch" else None
            _gap(truth, busy_until, start, returned, work, held, graph=graph, latency=machine.latency)
            if node == 0 and machine.free <= launched and any(e["cat"] == "kernel" for e in machine.events):
                machine.unqueued.append(start - returned)
            _kernel(machine, start, duration, machine.number)
            machine.free = busy_until = start + duration
            truth.busy += duration
            truth.kernels += 1
            if duration <= TINY_NS:
                truth.causes["tiny_kernels"] = truth.causes.get("tiny_kernels", 0) + duration
    assert busy_until is not None
    truth.wall += busy_until
    machine.events.append(
        _event("user_annotation", f"boundby.step[decode b=1 q=1 k=9 i={index}]", span, machine.host, {})
    )
    return truth, busy_until


def _gap(
    truth: Truth,
    opened: int,
    ended: int,
    returned: int,
    work: Work,
    held: tuple[int, int],
    *,
    graph: int | None,
    latency: int,
) -> None:
    if ended <= opened:
        return
    causes = truth.causes
    if returned > opened:
        until = min(returned, ended)
        left = ended - opened
        spent = max(0, min(held[1], until) - max(held[0], opened)) if work.held_up != "python_and_framework" else 0
        pieces = {work.held_up: spent, "dispatch": ended - until}
        if graph is not None:
            pieces["graph_launch"] = max(0, until - max(graph, opened))
        for cause, ns in pieces.items():
            causes[cause] = causes.get(cause, 0) + ns
            left -= ns
        causes["python_and_framework"] = causes.get("python_and_framework", 0) + left
    elif ended - opened <= latency:
        causes["dispatch"] = causes.get("dispatch", 0) + ended - opened
    else:
        truth.stall += ended - opened


def _event(category: str, name: str, start: int, end: int, args: dict[str, Any]) -> dict[str, Any]:
    place = {"pid": 0, "tid": 7} if category == "kernel" else {"pid": 1, "tid": 1}
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        **place,
        "ts": start / 1000,
        "dur": (end - start) / 1000,
        "args": args,
    }


def _call(machine: _Machine, name: str, start: int, end: int, number: int | None) -> None:
    args = {} if number is None else {"correlation": number}
    machine.events.append(_event("cuda_runtime", name, start, end, args))


def _kernel(machine: _Machine, start: int, duration: int, number: int | None) -> None:
    args: dict[str, Any] = {"device": 0, "stream": 7}
    if number is not None:
        args["correlation"] = number
    machine.events.append(_event("kernel", "elementwise_kernel", start, start + duration, args))

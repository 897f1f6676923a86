"""What a forward pass costs by the formulas, from its own recording: real ops, real nesting, no trace reader in between."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

from boundby.analyzers.costs import Call, Cost, anchor_rows, costs_of


@dataclass(frozen=True)
class Recorded:
    """The ops of one recording, parents before children, and which of them stand for the work."""

    calls: list[Call]
    call: np.ndarray
    costs: tuple[Cost | None, ...]
    anchor: np.ndarray
    idle: np.ndarray

    @property
    def standing(self) -> list[tuple[Call, Cost]]:
        """The ops whose costs are the recording's, each once."""
        rows = np.unique(self.anchor[self.anchor >= 0])
        found = [(self.calls[c], self.costs[c]) for c in self.call[rows]]
        return [(call, cost) for call, cost in found if cost is not None]

    def total(self, figure: str, family: str | None = None) -> float:
        """The sum of one figure of `Cost`, over a family or all."""
        return sum(getattr(cost, figure) for _, cost in self.standing if family in (None, cost.family))

    @property
    def unknown(self) -> set[str]:
        """Names of ops that no cost covers and that are not known to do nothing, where nothing around them is known either."""
        lost = (self.anchor < 0) & ~self.idle
        return {self.calls[c].name for c in self.call[lost]}


def record(run: Callable[[], Any], folder: Path) -> Recorded:
    """Run once under the profiler with shapes, on the CPU."""
    with torch.no_grad(), profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        run()
    path = folder / "recording.json"
    profiler.export_chrome_trace(str(path))
    events = [e for e in json.loads(path.read_text())["traceEvents"] if e.get("cat") == "cpu_op"]
    events.sort(key=lambda e: (e["ts"], -e["dur"]))
    calls: dict[str, int] = {}
    distinct: list[Call] = []
    call, parent, stack = [], [], []
    for row, event in enumerate(events):
        while stack and event["ts"] >= stack[-1][1]:
            stack.pop()
        made = _call(event)
        key = repr((made.name, made.dims, made.types, made.strides, made.concrete))
        if key not in calls:
            calls[key] = len(distinct)
            distinct.append(made)
        call.append(calls[key])
        parent.append(stack[-1][0] if stack else -1)
        stack.append((row, event["ts"] + event["dur"]))
    costs = costs_of(distinct)
    rows = np.array(call, np.int64)
    anchor, idle = anchor_rows(rows, np.array(parent, np.int64), distinct, costs)
    return Recorded(distinct, rows, costs, anchor, idle)


def _call(event: dict[str, Any]) -> Call:
    args = event.get("args", {})
    names = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")
    return Call(event["name"], *(tuple(args.get(name) or ()) for name in names))

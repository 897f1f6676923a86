"""Steps that are replays of a whole-model CUDA or HIP graph: one launch, all layers' kernels.

Servers replay such graphs for steps of a captured size, which are decode steps or verifications; the kernels' names must
say which. Piecewise graphs hold a layer or less and are no steps.
"""

from __future__ import annotations

import numpy as np

from boundby.analyzers.correlate import Linked
from boundby.analyzers.step import Step, StepsFound

from .kernel_evidence import ATTENTION, kind_by_attention, matches
from .registry import engine

GRAPH_LAUNCH = r"GraphLaunch"
BY_GRAPH = "nothing names the phases: each replay of a graph that holds all layers is taken as a step"


@engine("graph-replays", order=85, conclusive=False)
def find(linked: Linked) -> StepsFound | None:
    """One step per replay whose graph holds several attention kernels."""
    steps = replays(linked)
    return StepsFound(engine="graph-replays", steps=tuple(steps), notes=(BY_GRAPH,)) if steps else None


def replays(linked: Linked) -> list[Step]:
    """Each replay of a whole-model graph as a step: from its launch call to the next one's, or to that of other attention."""
    kernels, launches = linked.trace.kernels, linked.trace.launches
    if not launches.height or not kernels.height:
        return []
    is_graph = launches["name"].str.contains(GRAPH_LAUNCH).to_numpy()
    owner = linked.launch_of
    attends = matches(kernels["name"], ATTENTION) & (owner >= 0)
    in_graph = np.zeros(kernels.height, bool)
    in_graph[owner >= 0] = is_graph[owner[owner >= 0]]
    calls, counts = np.unique(owner[attends & in_graph], return_counts=True)
    calls = calls[counts >= 2]
    if not len(calls):
        return []
    ts = launches["ts_ns"].to_numpy()
    finish = ts + launches["dur_ns"].to_numpy()
    pid, tid = launches["pid"].to_numpy(), launches["tid"].to_numpy()
    eager = np.sort(ts[owner[attends & ~in_graph]])
    steps = []
    for n, call in enumerate(calls.tolist()):
        end = int(ts[calls[n + 1]]) if n + 1 < len(calls) else int(finish.max())
        other = int(np.searchsorted(eager, ts[call]))
        end = min(end, int(eager[other])) if other < len(eager) else end
        kind = kind_by_attention(kernels["name"].filter(owner == call))
        start, p, t = int(ts[call]), int(pid[call]), int(tid[call])
        steps.append(Step(kind=kind, start_ns=start, end_ns=end, pid=p, tid=t, label="graph replay", marked=False))
    return steps

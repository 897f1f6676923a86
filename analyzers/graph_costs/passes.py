"""`passes_of`: the forward passes of a trace, each a sequence of kernels, and which of them run the same sequence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..predict.parts import Workload
from ..predicted import workload_of
from ..step import Step
from ..work import KERNEL, Work
from .order import Named

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pass:
    """One step's kernels in order of their start."""

    step: Step
    rows: Ints
    """Rows of the work."""
    workload: Workload


@dataclass(frozen=True, slots=True)
class Sequences:
    """Passes that run the same kernels in the same order."""

    kernels: tuple[Named, ...]
    passes: tuple[Pass, ...]


def passes_of(work: Work, owner: Ints, steps: Sequence[Step]) -> tuple[Sequences, ...]:
    """The passes with a kernel whose cost is unknown, by their sequence of names, those that take most time first.

    A step whose tokens are unknown, or that runs on several devices, is left out."""
    unknown = np.bincount(owner[(work.kind == KERNEL) & np.isnan(work.bytes)] + 1, minlength=len(steps) + 1)[1:]
    order = np.argsort(owner, kind="stable")
    first = np.searchsorted(owner[order], np.arange(len(steps) + 1))
    groups: dict[bytes, list[Pass]] = {}
    for number in np.flatnonzero(unknown).tolist():
        workload = _tokens(steps[number])
        rows = order[first[number] : first[number + 1]]
        rows = rows[work.kind[rows] == KERNEL]
        if workload is None or len(np.unique(work.device[rows])) > 1:
            continue
        groups.setdefault(work.name[rows].tobytes(), []).append(Pass(steps[number], rows, workload))
    found = [Sequences(_names(work, passes[0].rows), tuple(passes)) for passes in groups.values()]
    return tuple(sorted(found, key=lambda s: -sum(float(work.time[p.rows].sum()) for p in s.passes)))


def _tokens(step: Step) -> Workload | None:
    """The step's tokens; a context of 0 stands for an unknown one, with which attention has no price."""
    known = workload_of(step)
    if known is not None or step.draft or step.kind == "unknown" or not step.query_tokens:
        return known
    batch = step.batch or 1
    return Workload(batch=batch, query=step.query_tokens, context=0, pairs=0.0, lm_head_tokens=batch)


def _names(work: Work, rows: Ints) -> tuple[Named, ...]:
    return tuple(Named(work.names[n], work.full_names[n]) for n in work.name[rows].tolist())

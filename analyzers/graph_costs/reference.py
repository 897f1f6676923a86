"""`copy_costs`: costs of replayed kernels from another trace in which the same kernels ran under ops with shapes.

A capture trace holds the runs that an engine makes before it captures a graph, an eager trace of the same model its
ordinary steps. A run of replayed kernels that also ran there, in the same order by name (or, failing that, by family),
takes the costs found there. Of captures the smallest that holds the step's tokens is taken as it is: a graph computes
the size it was captured with. Of an eager trace the run nearest in tokens is taken: with other tokens, products keep
their weights and scale the rest with the tokens, and operators that work on each token alone scale with them; mixtures
(experts touched) do not scale and stay unknown. Attention is never taken: its cost is the context's, and captures run on
made-up contexts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..correlate import Linked, correlate
from ..costs.cost import Call, Cost
from ..errors import UsageError
from ..reading import read_trace
from ..step import Step
from ..trace import Trace
from ..work import KERNEL, Work, device_work
from .filling import Filling
from .passes import Pass, passes_of

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_FEWEST = 4
"""Shorter runs of kernels occur by chance."""
_PER_TOKEN = frozenset(
    ["norm", "activation", "rope", "cache", "elementwise", "copy", "cat", "embedding", "quantize", "index", "softmax"]
)
_AGREE = 1e-6
_MOST_PADDING = 2
"""Engines capture sizes at most a factor of two apart."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A trace to take costs from: its kernels in order."""

    work: Work
    rows: Ints
    names: tuple[str, ...]
    families: tuple[str, ...]
    tokens: Floats
    """Per kernel: the rows of its product's left operand; NaN where its op is no product of matrices."""
    capture: bool
    """The runs before a graph was captured: the very kernels of its replays."""


class Taken(NamedTuple):
    """What one kernel of a run takes: its figures, and the call of the reference that they come from."""

    flops: float
    bytes: float
    call: Call
    cost: Cost


def read_references(paths: Iterable[str], *, capture: bool) -> tuple[Reference, ...]:
    """The traces named, or all traces in the folders named. Raises `UsageError` for one without kernels under ops with
    shapes, and what `read_trace` raises."""
    return tuple(_reference(path, capture=capture) for text in paths for path in _traces(Path(text)))


def _traces(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    found = sorted(p for p in path.iterdir() if p.name.endswith((".json", ".json.gz", ".json.zst")))
    if not found:
        raise UsageError(f"{path} holds no trace (.json, .json.gz, .json.zst)")
    yield from found


def _reference(path: Path, *, capture: bool) -> Reference:
    found = reference_of(read_trace(str(path)), capture=capture)
    if found is None:
        raise UsageError(f"{path} has no kernels under ops with shapes; record it with shapes, and without graphs")
    return found


def reference_of(trace: Trace, *, capture: bool) -> Reference | None:
    """The kernels of a trace as a reference; None where no cost of theirs is known."""
    work = device_work(correlate(trace))
    rows = np.flatnonzero(work.kind == KERNEL)
    if not len(rows) or np.isnan(work.bytes[rows]).all():
        return None
    lefts = [_left_rows(call, cost) for call, cost in zip(work.calls, work.costs, strict=True)]
    per_call = np.array([*lefts, np.nan])
    return Reference(
        work=work,
        rows=rows,
        names=tuple(work.full_names[n] for n in work.name[rows].tolist()),
        families=tuple(work.names[n].family for n in work.name[rows].tolist()),
        tokens=per_call[work.call[rows]],
        capture=capture,
    )


def _left_rows(call: Call, cost: Cost | None) -> float:
    if cost is None or cost.family != "gemm":
        return np.nan
    matrices = [d for d in call.dims if isinstance(d, (list, tuple)) and len(d) >= 2]
    return float(np.prod(matrices[0][:-1])) if matrices else np.nan


def copy_costs(work: Work, linked: Linked, owner: Ints, steps: Sequence[Step], references: Sequence[Reference]) -> Work:
    """Fill in the costs of unexplained kernels in `steps` from the references, the first that has them."""
    filling = Filling(work, linked)
    cache: dict[tuple[bytes, int, bool], tuple[Floats, Floats, Ints]] = {}
    for sequence in passes_of(work, owner, steps):
        for one in sequence.passes:
            tokens = one.workload.query
            for rows in _runs(filling, one):
                replayed = bool(filling.in_graph[rows[0]])
                key = (work.name[rows].tobytes(), tokens, replayed)
                if key not in cache:
                    taken = _look_up(work, rows, tokens, references)
                    cache[key] = _columns(filling, taken, tokens, replayed=replayed)
                filling.put_each(rows, *cache[key])
    return filling.result()


def _runs(filling: Filling, one: Pass) -> Iterator[Ints]:
    """The kernels of each graph launch, and those outside of graphs together."""
    work = filling.work
    launch = np.where(filling.in_graph[one.rows], work.launch[one.rows], -1)
    for number in np.unique(launch):
        rows = one.rows[launch == number]
        if len(rows) >= _FEWEST and np.isnan(work.bytes[rows]).any():
            yield rows


def _columns(
    filling: Filling, taken: Sequence[Taken | None], tokens: int, *, replayed: bool
) -> tuple[Floats, Floats, Ints]:
    """FLOPs, bytes and call of each kernel of a run; NaN and -1 for none."""
    flops = np.array([np.nan if t is None else t.flops for t in taken])
    moved = np.array([np.nan if t is None else t.bytes for t in taken])
    numbers = [
        -1 if t is None else filling.number((t.call.name, t.call.dims, tokens), t.call, t.cost, replayed=replayed)
        for t in taken
    ]
    return flops, moved, np.array(numbers, np.int64)


def _look_up(work: Work, rows: Ints, tokens: int, references: Sequence[Reference]) -> tuple[Taken | None, ...]:
    names = tuple(work.full_names[n] for n in work.name[rows].tolist())
    families = tuple(work.names[n].family for n in work.name[rows].tolist())
    for by_name in (True, False):
        for reference in references:
            wanted, there = (names, reference.names) if by_name else (families, reference.families)
            starts = occurrences(there, wanted)
            told = _choose(reference, starts, len(rows), tokens)
            if told is not None:
                return told
    return (None,) * len(rows)


def occurrences(sequence: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where `wanted` occurs in `sequence`, as a contiguous run."""
    numbers = {name: n for n, name in enumerate(dict.fromkeys([*sequence, *wanted]))}
    text = np.array([numbers[n] for n in sequence], np.int32).tobytes()
    piece = np.array([numbers[n] for n in wanted], np.int32).tobytes()
    found, at = [], text.find(piece)
    while at >= 0:
        if at % 4 == 0:
            found.append(at // 4)
        at = text.find(piece, at + 1)
    return found


def _choose(reference: Reference, starts: Sequence[int], length: int, tokens: int) -> tuple[Taken | None, ...] | None:
    """The run whose tokens are the step's, or the next captured size above it, or in an eager trace the nearest. Runs of
    one size that differ in their costs tell nothing."""
    by_tokens: dict[int, list[int]] = {}
    for start in starts:
        size = _run_tokens(reference.tokens[start : start + length])
        if size is not None and (not reference.capture or tokens <= size <= _MOST_PADDING * tokens):
            by_tokens.setdefault(size, []).append(start)
    if not by_tokens:
        return None
    size = min(by_tokens, key=lambda n: (n < tokens, abs(n - tokens)))
    runs = [_figures(reference, start, length) for start in by_tokens[size]]
    if any(not np.allclose(runs[0], run, rtol=_AGREE, equal_nan=True) for run in runs[1:]):
        return None
    ratio = 1.0 if reference.capture else tokens / size
    return tuple(_take(reference, by_tokens[size][0] + at, ratio) for at in range(length))


def _run_tokens(rows: Floats) -> int | None:
    known = Counter(rows[~np.isnan(rows)].tolist())
    return int(known.most_common(1)[0][0]) if known else None


def _figures(reference: Reference, start: int, length: int) -> Floats:
    work, rows = reference.work, reference.rows[start : start + length]
    per_call = np.array(
        [[np.nan, np.nan] if c is None else [c.flops, c.bytes] for c in work.costs] + [[np.nan, np.nan]]
    )
    return per_call[work.call[rows]]


def _take(reference: Reference, at: int, ratio: float) -> Taken | None:
    work, row = reference.work, reference.rows[at]
    number = int(work.call[row])
    cost = work.costs[number] if number >= 0 else None
    if cost is None or np.isnan(work.bytes[row]) or cost.family == "attention":
        return None
    flops, moved = float(work.flops[row]), float(work.bytes[row])
    if ratio != 1.0:
        if cost.family == "gemm" and cost.weight_bytes and cost.bytes:
            weights = moved * cost.weight_bytes / cost.bytes
            flops, moved = flops * ratio, weights + (moved - weights) * ratio
        elif cost.family in _PER_TOKEN:
            flops, moved = flops * ratio, moved * ratio
        else:
            return None
    call = work.calls[number]
    return Taken(flops, moved, Call(call.name, call.dims, call.types), cost)


__all__ = ["Reference", "copy_costs", "read_references", "reference_of"]

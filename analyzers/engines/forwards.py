"""Forward passes told by the shapes of ops: each begins at the lookup of token ids in the vocabulary's embedding.

Position and segment embeddings stand beside that lookup, with no matrix product between, and belong to the same forward;
a small table (relative position bias) never begins one. Lengths come from the ids' shape and from the attention ops that
agree with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from boundby.analyzers.correlate import Linked

from .attention_calls import AttentionCalls
from .attention_shapes import AttentionShape
from .encoders import encoder_like, is_causal
from .lookups import PRODUCTS, Lookup, token_lookups

Ints = npt.NDArray[np.int64]

SCALAR_READ = "aten::_local_scalar_dense"


@dataclass(frozen=True, slots=True)
class Forward:
    """One pass of one model, as its ops' shapes tell it. Lengths are per sequence, padding included."""

    start_ns: int
    end_ns: int
    pid: int
    tid: int
    table: tuple[int, int]
    """Rows and width of the embedding: which model it is."""
    tokens: int
    """New tokens, all sequences."""
    batch: int | None
    query: int | None
    contexts: tuple[int, ...]
    """The distinct context lengths that the layers' attention saw, rising; empty where no attention op tells."""
    causal: bool | None
    """None where only a mask may hide later tokens, or nothing tells."""
    encoder_like: bool = False
    """Signs of an encoder: segment embeddings, or no product as wide as the vocabulary."""

    @property
    def context(self) -> int | None:
        """Tokens that full attention sees of one sequence: layers with a sliding window see fewer."""
        return self.contexts[-1] if self.contexts else None


def forwards_of(linked: Linked, attention: AttentionCalls) -> list[Forward]:
    """Every forward that the shapes show, in time order; empty where shapes or the lookup are missing.

    A forward lasts until the next one of its thread begins, or until the host has read the last result before that
    (sampling belongs to the step that it ends); the last one until its thread's last op.
    """
    tids = linked.trace.ops["tid"].to_numpy()
    found: list[Forward] = []
    for tid, starts in token_lookups(linked).items():
        found += _thread_forwards(linked, np.flatnonzero(tids == tid), starts, attention)
    return sorted(found, key=lambda forward: forward.start_ns)


def has_shapes(linked: Linked) -> bool:
    """Whether any op's input shapes were recorded."""
    return any(signature.dims for signature in linked.trace.signatures)


def _thread_forwards(linked: Linked, rows: Ints, starts: list[Lookup], attention: AttentionCalls) -> list[Forward]:
    ops = linked.trace.ops
    ts = ops["ts_ns"].to_numpy()
    ends = ts + ops["dur_ns"].to_numpy()
    pid, tid = int(ops["pid"][starts[0].row]), int(ops["tid"][starts[0].row])
    begin = np.array([start.row for start in starts])
    cuts = _cuts(linked, rows, begin)
    opens = [int(ts[begin[0]]), *cuts]
    closes = [*cuts, int(ends[rows[rows >= begin[-1]]].max())]
    stops = [*begin[1:].tolist(), ops.height]
    found = []
    for start, stop, opened, closed in zip(starts, stops, opens, closes, strict=True):
        shapes = attention.within(start.row, stop, tid=tid)
        forward = _forward(start, shapes, (opened, closed, pid, tid))
        low, high = np.searchsorted(rows, [start.row, stop])
        found.append(_with_direction(forward, linked, rows[low:high], start, shapes))
    return found


def _cuts(linked: Linked, rows: Ints, begin: Ints) -> list[int]:
    """Where one forward gives way to the next: after the last scalar that the host read once the products were done."""
    ops = linked.trace.ops
    ts = ops["ts_ns"].to_numpy()
    ends = ts + ops["dur_ns"].to_numpy()
    names = ops["name"]
    reads = rows[(names == SCALAR_READ).to_numpy()[rows]]
    products = rows[names.is_in(PRODUCTS).to_numpy()[rows]]
    cuts = []
    for previous, following in pairwise(begin.tolist()):
        done = products[max(int(np.searchsorted(products, following)) - 1, 0)] if len(products) else previous
        at = int(np.searchsorted(reads, following)) - 1
        read = at >= 0 and reads[at] > max(int(done), int(previous))
        cuts.append(min(int(ends[reads[at]]), int(ts[following])) if read else int(ts[following]))
    return cuts


def _forward(start: Lookup, shapes: list[AttentionShape], place: tuple[int, int, int, int]) -> Forward:
    tokens = math.prod(start.ids)
    batch, query = (start.ids[0], start.ids[1]) if len(start.ids) == 2 else (None, None)
    mine = [shape for shape in _unfolded(shapes, batch, query) if shape.batch * shape.query == tokens]
    if batch is None and len({(shape.batch, shape.query) for shape in mine}) == 1:
        batch, query = mine[0].batch, mine[0].query
    contexts = tuple(sorted({shape.context for shape in mine if (shape.batch, shape.query) == (batch, query)}))
    return Forward(*place, start.table, tokens, batch, query, contexts, None)


def _with_direction(
    forward: Forward, linked: Linked, rows: Ints, start: Lookup, shapes: list[AttentionShape]
) -> Forward:
    if forward.query == 1 and forward.contexts:
        return replace(forward, causal=True)
    mine = [shape for shape in shapes if (shape.batch, shape.query) == (forward.batch, forward.query)]
    causal = is_causal(linked, rows, mine)
    return replace(forward, causal=causal, encoder_like=causal is None and encoder_like(linked, rows, start))


def _unfolded(shapes: list[AttentionShape], batch: int | None, query: int | None) -> list[AttentionShape]:
    """The rows of one new token's grouped heads are one token."""
    return [replace(s, query=1) if query == 1 and s.batch == batch else s for s in shapes]

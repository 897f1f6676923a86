"""Forward passes told by the shapes of ops: each begins at the lookup of token ids in the vocabulary's embedding.

Position and segment embeddings stand beside that lookup, with no matrix product between, and belong to the same forward;
a small table (relative position bias) never begins one. Lengths come from the ids' shape and from the attention ops that
agree with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

from boundby.analyzers.correlate import Linked

from .attention_shapes import ATTENTION_OPS, SOFTMAX, AttentionShape, attention_shape

Ints = npt.NDArray[np.int64]

EMBEDDING = "aten::embedding"
PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::linear", "aten::matmul", "aten::baddbmm")
MASKING = ("aten::add", "aten::add_", "aten::masked_fill", "aten::masked_fill_", "aten::where")
VOCABULARY_SHARE = 8
"""A table with less than an eighth of the largest one's rows holds no vocabulary."""
MOST_SEGMENTS = 4
"""A table this small numbers the segments of an encoder's input."""
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


@dataclass(frozen=True, slots=True)
class _Start:
    row: int
    table: tuple[int, int]
    ids: tuple[int, ...]
    smallest: int
    """Rows of the smallest table among the lookups beside it."""


def forwards_of(linked: Linked) -> list[Forward]:
    """Every forward that the shapes show, in time order; empty where shapes or the lookup are missing.

    A forward lasts until the next one of its thread begins, or until the host has read the last result before that
    (sampling belongs to the step that it ends); the last one until its thread's last op.
    """
    ops = linked.trace.ops
    if not has_shapes(linked):
        return []
    lookups = _lookups(linked)
    most = max((start.table[0] for start in lookups), default=0)
    found: list[Forward] = []
    tids = ops["tid"].to_numpy()
    for tid in sorted({int(tids[start.row]) for start in lookups}):
        rows = np.flatnonzero(tids == tid)
        mine = [start for start in lookups if tids[start.row] == tid]
        starts = [s for s in _clusters(linked, rows, mine) if s.table[0] * VOCABULARY_SHARE >= most]
        found += _thread_forwards(linked, rows, starts)
    return sorted(found, key=lambda forward: forward.start_ns)


def has_shapes(linked: Linked) -> bool:
    """Whether any op's input shapes were recorded."""
    return any(signature.dims for signature in linked.trace.signatures)


def attention_within(linked: Linked, rows: Ints) -> list[AttentionShape]:
    """The distinct shapes of the attention ops among these rows of `ops`."""
    ops, signatures = linked.trace.ops, linked.trace.signatures
    mine = ops[rows].filter(pl.col("name").is_in(list(ATTENTION_OPS))).select("name", "signature").unique()
    shapes = [attention_shape(name, signatures[s]) for name, s in mine.sort("name", "signature").iter_rows()]
    return list(dict.fromkeys(shape for shape in shapes if shape is not None))


def has_mask(linked: Linked, rows: Ints, query: int, context: int) -> bool:
    """Whether an op among these rows lays a (new tokens, seen tokens) mask over unfused attention's scores."""
    ops, signatures = linked.trace.ops, linked.trace.signatures
    mine = ops[rows].filter(pl.col("name").is_in(MASKING))["signature"].unique()
    return any(_is_mask(signatures[s].dims, (query, context)) for s in mine)


def _is_mask(dims: tuple[object, ...], lengths: tuple[int, int]) -> bool:
    tensors = [tuple(d) for d in dims if isinstance(d, (tuple, list)) and len(d) >= 2]
    ending = [shape for shape in tensors if shape[-2:] == lengths]
    return len(ending) >= 2 and len(set(ending)) >= 2


def _lookups(linked: Linked) -> list[_Start]:
    ops, signatures = linked.trace.ops, linked.trace.signatures
    calls = ops.with_row_index("row").filter(pl.col("name") == EMBEDDING).select("row", "signature")
    shapes = {s: _lookup_shape(signatures[s].dims) for s in calls["signature"].unique()} if calls.height else {}
    return [
        _Start(row, *shape, smallest=shape[0][0])
        for row, signature in calls.iter_rows()
        if (shape := shapes[signature]) is not None
    ]


def _lookup_shape(dims: tuple[object, ...]) -> tuple[tuple[int, int], tuple[int, ...]] | None:
    if len(dims) < 2 or not isinstance(dims[0], (tuple, list)) or not isinstance(dims[1], (tuple, list)):
        return None
    table, ids = tuple(dims[0]), tuple(dims[1])
    return ((table[0], table[1]), ids) if len(table) == 2 and ids and math.prod(ids) else None


def _clusters(linked: Linked, rows: Ints, starts: list[_Start]) -> list[_Start]:
    """Of lookups with no product between them, the one in the largest table, placed where the first of them is."""
    products = rows[linked.trace.ops["name"].is_in(PRODUCTS).to_numpy()[rows]]
    before = np.searchsorted(products, [start.row for start in starts])
    clusters: dict[int, _Start] = {}
    for start, count in zip(starts, before.tolist(), strict=True):
        first = clusters.get(count, start)
        largest = start if start.table[0] > first.table[0] else first
        clusters[count] = _Start(first.row, largest.table, largest.ids, min(first.smallest, start.table[0]))
    return list(clusters.values())


def _thread_forwards(linked: Linked, rows: Ints, starts: list[_Start]) -> list[Forward]:
    if not starts:
        return []
    ops = linked.trace.ops
    ts = ops["ts_ns"].to_numpy()
    ends = ts + ops["dur_ns"].to_numpy()
    pid = int(ops["pid"][starts[0].row])
    begin = np.array([start.row for start in starts])
    cuts = _cuts(linked, rows, begin)
    last = int(ends[rows[rows >= begin[-1]]].max())
    opens = [int(ts[begin[0]]), *cuts]
    closes = [*cuts, last]
    found = []
    for n, start in enumerate(starts):
        stop = begin[n + 1] if n + 1 < len(begin) else ops.height
        low, high = np.searchsorted(rows, [begin[n], stop])
        found.append(_forward(linked, rows[low:high], start, (opens[n], closes[n], pid, int(ops["tid"][start.row]))))
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


def _forward(linked: Linked, rows: Ints, start: _Start, place: tuple[int, int, int, int]) -> Forward:
    tokens = math.prod(start.ids)
    batch, query = (start.ids[0], start.ids[1]) if len(start.ids) == 2 else (None, None)
    shapes = [_unfolded(shape, batch, query) for shape in attention_within(linked, rows)]
    shapes = [shape for shape in shapes if shape.batch * shape.query == tokens]
    if batch is None and shapes and len({(shape.batch, shape.query) for shape in shapes}) == 1:
        batch, query = shapes[0].batch, shapes[0].query
    shapes = [shape for shape in shapes if (shape.batch, shape.query) == (batch, query)]
    contexts = tuple(sorted({shape.context for shape in shapes}))
    causal, encoder = _causal(linked, rows, shapes), _encoder_like(linked, rows, start)
    return Forward(*place, start.table, tokens, batch, query, contexts, causal, encoder)


def _unfolded(shape: AttentionShape, batch: int | None, query: int | None) -> AttentionShape:
    """The rows of one new token's grouped heads are one token."""
    return replace(shape, query=1, causal=True) if query == 1 and shape.batch == batch else shape


def _encoder_like(linked: Linked, rows: Ints, start: _Start) -> bool:
    if start.smallest <= MOST_SEGMENTS:
        return True
    ops, signatures = linked.trace.ops, linked.trace.signatures
    products = ops[rows].filter(pl.col("name").is_in(PRODUCTS))["signature"].unique()
    sizes = {size for s in products for dims in signatures[s].dims if dims for size in dims}
    # A head may be padded to a round number of rows.
    return not any(isinstance(size, int) and start.table[0] <= size <= 1.1 * start.table[0] for size in sizes)


def _causal(linked: Linked, rows: Ints, shapes: Iterable[AttentionShape]) -> bool | None:
    shapes = list(shapes)
    known = {shape.causal for shape in shapes}
    if True in known or False in known:
        return True in known
    if not linked.trace.ops["name"][rows].is_in([SOFTMAX]).any():
        return None
    masked = any(has_mask(linked, rows, shape.query, shape.context) for shape in shapes)
    return None if masked or not shapes else False

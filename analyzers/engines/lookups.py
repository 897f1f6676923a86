"""Lookups of token ids in the vocabulary's embedding: where a forward pass begins, and of which model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from boundby.analyzers.correlate import Linked

Ints = npt.NDArray[np.int64]

EMBEDDING = "aten::embedding"
PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::linear", "aten::matmul", "aten::baddbmm")
VOCABULARY_SHARE = 8
"""A table with less than an eighth of the largest one's rows holds no vocabulary."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """The lookup of one forward's token ids."""

    row: int
    """In `ops`: the first of the lookups that stand together."""
    table: tuple[int, int]
    ids: tuple[int, ...]
    smallest: int
    """Rows of the smallest table among the lookups beside it."""


def token_lookups(linked: Linked) -> dict[int, list[Lookup]]:
    """Per thread: the lookups that begin a forward, in time order."""
    lookups = _lookups(linked)
    most = max((lookup.table[0] for lookup in lookups), default=0)
    tids = linked.trace.ops["tid"].to_numpy()
    threads: dict[int, list[Lookup]] = {}
    for lookup in lookups:
        threads.setdefault(int(tids[lookup.row]), []).append(lookup)
    products = np.flatnonzero(linked.trace.ops["name"].is_in(PRODUCTS).to_numpy())
    found = {}
    for tid, mine in sorted(threads.items()):
        starts = [s for s in _clusters(products[tids[products] == tid], mine) if s.table[0] * VOCABULARY_SHARE >= most]
        if starts:
            found[tid] = starts
    return found


def unshaped_starts(linked: Linked) -> list[int]:
    """Where forwards begin, ns, as far as the order of ops tells without shapes: a lookup after a product starts one."""
    ops = linked.trace.ops.filter(pl.col("name").is_in([EMBEDDING, *PRODUCTS])).select(
        "ts_ns", "tid", (pl.col("name") == EMBEDDING).alias("lookup")
    )
    after = pl.col("lookup").shift(1, fill_value=False).over("tid")
    return ops.filter(pl.col("lookup") & ~after)["ts_ns"].to_list()


def _lookups(linked: Linked) -> list[Lookup]:
    ops, signatures = linked.trace.ops, linked.trace.signatures
    calls = ops.with_row_index("row").filter(pl.col("name") == EMBEDDING).select("row", "signature")
    shapes = {s: _lookup_shape(signatures[s].dims) for s in calls["signature"].unique()} if calls.height else {}
    return [
        Lookup(row, *shape, smallest=shape[0][0])
        for row, signature in calls.iter_rows()
        if (shape := shapes[signature]) is not None
    ]


def _lookup_shape(dims: tuple[object, ...]) -> tuple[tuple[int, int], tuple[int, ...]] | None:
    if len(dims) < 2 or not isinstance(dims[0], (tuple, list)) or not isinstance(dims[1], (tuple, list)):
        return None
    table, ids = tuple(dims[0]), tuple(dims[1])
    return ((table[0], table[1]), ids) if len(table) == 2 and ids and math.prod(ids) else None


def _clusters(products: Ints, starts: list[Lookup]) -> list[Lookup]:
    """Of lookups with no product between them, the one in the largest table, placed where the first of them is."""
    before = np.searchsorted(products, [start.row for start in starts])
    clusters: dict[int, Lookup] = {}
    for start, count in zip(starts, before.tolist(), strict=True):
        first = clusters.get(count, start)
        largest = start if start.table[0] > first.table[0] else first
        clusters[count] = Lookup(first.row, largest.table, largest.ids, min(first.smallest, start.table[0]))
    return list(clusters.values())

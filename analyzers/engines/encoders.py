"""Signs that a forward is an encoder's: all tokens see each other, so it is no prefill."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from boundby.analyzers.correlate import Linked

from .attention_shapes import SOFTMAX, AttentionShape
from .lookups import PRODUCTS, Lookup

Ints = npt.NDArray[np.int64]

MASKING = ("aten::add", "aten::add_", "aten::masked_fill", "aten::masked_fill_", "aten::where")
MOST_SEGMENTS = 4
"""A table this small numbers the segments of an encoder's input."""


def is_causal(linked: Linked, rows: Ints, shapes: Sequence[AttentionShape]) -> bool | None:
    """Whether tokens are kept from seeing later ones; None where only a mask may do so, or nothing tells. `rows` are the
    forward's in `ops`, `shapes` those of its attention."""
    known = {shape.causal for shape in shapes}
    if True in known or False in known:
        return True in known
    if not shapes or not linked.trace.ops["name"][rows].is_in([SOFTMAX]).any():
        return None
    return None if any(_has_mask(linked, rows, shape.query, shape.context) for shape in shapes) else False


def encoder_like(linked: Linked, rows: Ints, start: Lookup) -> bool:
    """Whether it numbers segments, or has no product as wide as the vocabulary."""
    if start.smallest <= MOST_SEGMENTS:
        return True
    ops, signatures = linked.trace.ops, linked.trace.signatures
    products = ops[rows].filter(pl.col("name").is_in(PRODUCTS))["signature"].unique()
    sizes = {size for s in products for dims in signatures[s].dims if dims for size in dims}
    # A head may be padded to a round number of rows.
    return not any(isinstance(size, int) and start.table[0] <= size <= 1.1 * start.table[0] for size in sizes)


def _has_mask(linked: Linked, rows: Ints, query: int, context: int) -> bool:
    """Whether an op among these rows lays a (new tokens, seen tokens) mask over unfused attention's scores."""
    ops, signatures = linked.trace.ops, linked.trace.signatures
    mine = ops[rows].filter(pl.col("name").is_in(MASKING))["signature"].unique()
    return any(_is_mask(signatures[s].dims, (query, context)) for s in mine)


def _is_mask(dims: tuple[object, ...], lengths: tuple[int, int]) -> bool:
    tensors = [tuple(d) for d in dims if isinstance(d, (tuple, list)) and len(d) >= 2]
    ending = [shape for shape in tensors if shape[-2:] == lengths]
    return len(ending) >= 2 and len(set(ending)) >= 2

"""The ops of a small decoder's forward pass, as rows for `tracebuild.make_trace`."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]

VOCABULARY, WIDTH, HEADS, LAYERS = 1000, 64, 4, 2
SDPA = "aten::scaled_dot_product_attention"
STEP_NS = 1_000
"""Ops start this far apart and last half of it."""


def forward_ops(
    start_ns: int,
    *,
    batch: int = 1,
    query: int,
    context: int,
    vocabulary: int = VOCABULARY,
    width: int = WIDTH,
    causal: bool | None = None,
    contexts: tuple[int, ...] = (),
    head: bool = True,
    tid: int = 0,
) -> list[Row]:
    """Embedding, then per layer a product and an attention, then the head; `causal` False sees everything, None is the rule
    of scaled dot-product attention (a flag for several tokens with an empty cache, a mask for several behind one)."""
    size = width // HEADS
    rows = [{"name": "aten::embedding", "dims": ((vocabulary, width), (batch, query), (), (), ())}]
    flag = (query > 1 and query == context) if causal is None else causal
    for seen in contexts or (context,) * LAYERS:
        rows.append({"name": "aten::mm", "dims": ((batch * query, width), (width, width))})
        masked = causal is None and 1 < query != seen
        mask = (batch, 1, query, seen) if masked else ()
        dims = (
            (batch, HEADS, query, size),
            (batch, HEADS, seen, size),
            (batch, HEADS, seen, size),
            mask,
            (),
            (),
            (),
            (),
        )
        rows.append({"name": SDPA, "dims": dims, "concrete": ("", "", "", "", "0.", str(flag), "", "False")})
    if head:
        rows.append({"name": "aten::mm", "dims": ((batch * query, width), (width, vocabulary))})
    return [{**row, "ts_ns": start_ns + n * STEP_NS, "dur_ns": STEP_NS // 2, "tid": tid} for n, row in enumerate(rows)]

"""`part_of`: which part of the model an op serves: attention, mlp, moe, lm_head, embedding, norm, sampling, communication.

A module's mark says it best; then shapes, against the model's sizes; then the kind of op alone. What none of them tells is
"other". Sizes come from the model's facts, or from the trace's own shapes (`sizes_from`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from .costs.cost import Call, Cost


class Sizes(NamedTuple):
    """What shapes are held against; None where unknown. In elements."""

    hidden: int | None = None
    vocabulary: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_size: int | None = None
    intermediate: int | None = None
    """Inner width of the dense feed-forward layer."""
    experts: int | None = None
    expert_widths: tuple[int, ...] = ()
    """Inner widths of one expert and of the shared ones together."""
    projections: tuple[int, ...] = ()
    """Outer widths of attention's projections beyond those that follow from the heads: latent ranks."""


_SEGMENTS = (
    ("lm_head", r"lm_head|output_layer|embed_out|unembed|logits_processor"),
    ("embedding", r"embed(ding)?s?(_tokens|_in)?|tok_embeddings|word(_token)?_embeddings|wte|wpe|position_embeddings"),
    ("moe", r"moe|block_sparse_moe|experts?|router|shared_experts?"),
    ("attention", r"(self_|cross_)?attn|(self_|cross_|linear_)?attention|rotary_emb|mixer|mamba"),
    ("mlp", r"mlp|feed_forward|ffn|fc[12]|(gate|up|down|gate_up)_proj"),
    ("norm", r"\w*(norm|ln)(_\w+|\d+)?|ln_\w+"),
    ("sampling", r"sampler|sampling"),
)
_PATTERNS = tuple((part, re.compile(pattern)) for part, pattern in _SEGMENTS)
_BY_FAMILY = {
    "attention": "attention",
    "rope": "attention",
    "cache": "attention",
    "scan": "attention",
    "moe": "moe",
    "norm": "norm",
    "embedding": "embedding",
    "activation": "mlp",
    "sampling": "sampling",
    "softmax": "attention",
    "communication": "communication",
}


def part_of(
    family: str,
    names: Sequence[str] = (),
    dims: Sequence[Any] = (),
    *,
    sizes: Sizes | None = None,
    path: str | None = None,
) -> str:
    """The part of the model that an op or a kernel serves.

    `family` is that of its cost (or of its kernel's name), `names` the op's and its kernels' names, `dims` its recorded
    shapes, `sizes` the model's, `path` the innermost module mark around it ("model.layers.3.mlp.down_proj").
    """
    if family == "communication":
        return "communication"
    marked = _by_path(path) if path else None
    if marked is not None:
        return marked
    if any("moe" in name or "expert" in name for name in names):
        return "moe"
    shapes = [d for d in dims if isinstance(d, (list, tuple)) and d and all(type(n) is int for n in d)]
    told = _by_shapes(family, shapes, sizes) if sizes is not None and shapes else None
    return told or _BY_FAMILY.get(family, "other")


def _by_path(path: str) -> str | None:
    segments = [s for s in re.split(r"[./\s]+", path.lower()) if s]
    for segment in segments:
        found = next((part for part, pattern in _PATTERNS if pattern.fullmatch(segment)), None)
        if found == "mlp" and any(_PATTERNS[2][1].fullmatch(s) for s in segments):
            return "moe"
        if found is not None:
            return found
    return None


def _by_shapes(family: str, shapes: Sequence[Sequence[int]], sizes: Sizes) -> str | None:
    if family == "gemm":
        return _product(shapes, sizes)
    last = shapes[0][-1]
    if sizes.vocabulary and last == sizes.vocabulary and family != "embedding":
        return "sampling"
    if family in ("elementwise", "copy", "cat", "reduction", "fused", "softmax", "activation", "index"):
        head = sizes.head_size
        if head and len(shapes[0]) == 4 and last in (head, head // 2):
            return "attention"
        return _feed_forward(last, sizes)
    return None


def _feed_forward(width: int, sizes: Sizes) -> str | None:
    """The dense layer or the experts, whose inner width this is, alone or gate and up together."""
    if sizes.intermediate and width in (sizes.intermediate, 2 * sizes.intermediate):
        return "mlp"
    return "moe" if any(w and width in (w, 2 * w) for w in sizes.expert_widths) else None


def _product(shapes: Sequence[Sequence[int]], sizes: Sizes) -> str | None:
    matrices = [s for s in shapes if len(s) >= 2]
    if len(matrices) < 2:
        return None
    if all(len(s) >= 3 for s in matrices[:2]):
        return "attention" if sizes.head_size and any(sizes.head_size in s[-2:] for s in matrices[:2]) else None
    weight = next((s for s in reversed(matrices[:2]) if len(s) == 2), None)
    if weight is None:
        return None
    if sizes.vocabulary and sizes.vocabulary in weight:
        return "lm_head"
    if not set(sizes.projections).isdisjoint(weight):
        return "attention"
    if sizes.hidden is None or sizes.hidden not in weight:
        return None
    other = weight[1] if weight[0] == sizes.hidden else weight[0]
    if other == sizes.experts:
        return "moe"
    feed_forward = _feed_forward(other, sizes)
    if feed_forward is not None:
        return feed_forward
    widths = _attention_widths(sizes)
    if other in widths:
        return "attention"
    return "mlp" if widths and not sizes.intermediate and not sizes.experts else None


def _attention_widths(sizes: Sizes) -> set[int]:
    """Outer sizes of the query, key, value and output projections, apart and fused."""
    if not sizes.heads or not sizes.head_size:
        return set()
    q = sizes.heads * sizes.head_size
    # Without the number of KV heads any that divides the heads may be it.
    options = [sizes.kv_heads] if sizes.kv_heads else [n for n in range(1, sizes.heads + 1) if sizes.heads % n == 0]
    widths = {q}
    for kv_heads in options:
        kv = kv_heads * sizes.head_size
        widths |= {kv, 2 * kv, q + 2 * kv}
    return widths


def sizes_from(calls: Iterable[tuple[Call, Cost | None]]) -> Sizes:
    """The model's sizes as a trace's own shapes tell them: vocabulary and hidden size from the largest embedding table,
    heads from the commonest attention call. KV heads stay open, as keys may have been repeated before the call."""
    tables: list[tuple[int, int]] = []
    heads: Counter[tuple[int, int]] = Counter()
    for call, cost in calls:
        if cost is None or not call.dims:
            continue
        first = call.dims[0]
        if cost.family == "embedding" and len(first) == 2:
            tables.append((first[0], first[1]))
        elif cost.family == "attention" and len(first) in (3, 4):
            at = 1 if "scaled_dot_product" in call.name else -2
            heads[(first[at], first[-1])] += 1
    vocabulary, hidden = max(tables, default=(None, None))
    count, size = heads.most_common(1)[0][0] if heads else (None, None)
    return Sizes(hidden=hidden, vocabulary=vocabulary, heads=count, head_size=size)

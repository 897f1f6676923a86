"""What the recorded inputs of an attention op say: sequences, new tokens, tokens attended to, and whether it is causal.

Only lengths are read here; what an attention costs is `costs/`'s business.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from boundby.analyzers.trace import Signature


@dataclass(frozen=True, slots=True)
class AttentionShape:
    """One attention call over `batch` sequences of `query` rows each, which see `context` tokens each.

    A row is a new token, except where a decode step folds the heads of a group into rows: then all rows of its one token see
    the whole context, and `causal` is False."""

    batch: int
    query: int
    context: int
    causal: bool | None
    """Whether a row is kept from seeing later tokens; False when each sees the whole context; None where the inputs do not
    tell (a full mask may hide anything)."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where an op's inputs stand: the sequence axis of q and k, the causal flag's place, the mask's place."""

    sequence_axis: int
    causal_at: int | None
    mask_at: int | None


_HEADS_FIRST = 2
_TOKENS_FIRST = 1
_LAYOUTS = {
    "aten::scaled_dot_product_attention": _Layout(_HEADS_FIRST, 5, 3),
    "aten::_scaled_dot_product_flash_attention": _Layout(_HEADS_FIRST, 4, None),
    "aten::_scaled_dot_product_flash_attention_for_cpu": _Layout(_HEADS_FIRST, 4, 5),
    "aten::_scaled_dot_product_efficient_attention": _Layout(_HEADS_FIRST, 6, 3),
    "aten::_scaled_dot_product_cudnn_attention": _Layout(_HEADS_FIRST, 6, 3),
    "aten::_scaled_dot_product_fused_attention_overrideable": _Layout(_HEADS_FIRST, 5, 3),
    "aten::_scaled_dot_product_attention_math": _Layout(_HEADS_FIRST, 5, 3),
    "flash_attn::_flash_attn_forward": _Layout(_TOKENS_FIRST, 5, None),
}
_PACKED = {"flash_attn::_flash_attn_varlen_forward": 9}
"""Ops whose sequences lie end to end, (tokens, heads, size) with the sequences' bounds after q, k, v; and the causal flag."""
SOFTMAX = "aten::_softmax"
"""Unfused attention shows as the softmax over its scores, (batch, heads, new, seen)."""

ATTENTION_OPS = frozenset({*_LAYOUTS, *_PACKED, SOFTMAX})


def attention_shape(name: str, signature: Signature) -> AttentionShape | None:
    """The lengths of one attention call; None for another op, or where its shapes were not recorded."""
    if name == SOFTMAX:
        return _of_scores(signature)
    if name in _PACKED:
        return _of_packed(signature, _PACKED[name])
    layout = _LAYOUTS.get(name)
    q, k = _dims(signature, 0), _dims(signature, 1)
    if layout is None or len(q) != 4 or len(k) != 4:
        return None
    query, context = q[layout.sequence_axis], k[layout.sequence_axis]
    return AttentionShape(q[0], query, context, _causal(signature, layout, query))


def _of_scores(signature: Signature) -> AttentionShape | None:
    scores = _dims(signature, 0)
    if len(scores) != 4:
        return None
    return AttentionShape(scores[0], scores[2], scores[3], True if scores[2] == 1 else None)


def _of_packed(signature: Signature, causal_at: int) -> AttentionShape | None:
    q, bounds = _dims(signature, 0), _dims(signature, 3)
    longest = [_concrete(signature, place) for place in (5, 6)]
    if len(q) != 3 or len(bounds) != 1 or not all(text.isdecimal() for text in longest):
        return None
    batch, (query, context) = bounds[0] - 1, map(int, longest)
    if batch < 1 or batch * query != q[0]:
        return None  # ragged: no single length stands for all
    return AttentionShape(batch, query, context, _flag(_concrete(signature, causal_at)))


def _causal(signature: Signature, layout: _Layout, query: int) -> bool | None:
    if query == 1:
        return True
    if layout.causal_at is not None and _flag(_concrete(signature, layout.causal_at)):
        return True
    mask = _dims(signature, layout.mask_at) if layout.mask_at is not None else ()
    if len(mask) >= 2:
        # A mask with one row for all new tokens hides padding, not the future.
        one_row = mask[-2] == 1 or _stride(signature, layout.mask_at, -2) == 0
        return False if one_row else None
    return None if layout.causal_at is None else _flag(_concrete(signature, layout.causal_at))


def _dims(signature: Signature, place: int | None) -> tuple[int, ...]:
    if place is None or place >= len(signature.dims):
        return ()
    dims = signature.dims[place]
    return tuple(dims) if dims and all(isinstance(d, int) for d in dims) else ()


def _stride(signature: Signature, place: int | None, axis: int) -> Any:
    if place is None or place >= len(signature.strides):
        return None
    strides = signature.strides[place]
    return strides[axis] if len(strides) >= -axis else None


def _concrete(signature: Signature, place: int) -> str:
    return signature.concrete[place] if place < len(signature.concrete) else ""


def _flag(text: str) -> bool | None:
    return {"True": True, "False": False, "true": True, "false": False, "1": True, "0": False}.get(text)

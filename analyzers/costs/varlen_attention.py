"""Attention over sequences of different lengths packed in one tensor, and over a paged KV cache.

A trace holds shapes, not the lengths themselves. What shapes pin down is counted: all sequences of one length (the
sum of queries is the batch times the longest), a single sequence, or packed keys whose total is known. Where the
lengths could differ so much that the pairs are not known within a factor of two, or the cache could be read to any
depth, there is no cost from shapes, and an engine's own token counts must tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .arguments import Arguments, Tensor, Unusable, require
from .attention import attention, causal_pairs
from .cost import Cost
from .moves import spelled
from .registry import formula


class Varlen(NamedTuple):
    """Where a varlen op keeps its inputs: q[sum of queries, H, D], k and v (packed, or pages of the cache), cumulative query
    lengths[B + 1], longest query and key, causal flag, left window (-1: none)."""

    q: int = 0
    k: int = 1
    v: int = 2
    cu_q: int = 3
    max_q: int = 5
    max_k: int = 6
    causal: int = 9
    window: int | None = None
    pages: int | None = None
    """Position of a block table or page list: where one is given, k and v are the whole cache."""


def pairs_and_keys(
    total_q: int, batch: int, max_q: int, max_k: int, total_k: int | None, *, causal: bool, window: int | None
) -> tuple[float, float, float]:
    """(pairs, uncut pairs, keys) summed over the sequences, from what shapes tell; raises `Unusable` where they don't
    tell enough. `total_k` is None for a paged cache."""
    require(batch > 0 and 0 < max_q <= total_q <= batch * max_q and max_k > 0)
    even_q = total_q == batch * max_q
    if batch == 1 or (even_q and (total_k == batch * max_k or (max_q == max_k and causal))):
        keys = max_k if total_k is None else total_k // batch
        queries = total_q // batch
        cut = causal_pairs(queries, keys, window=window) if causal or window else queries * keys
        return float(batch * cut), float(batch * queries * keys), float(batch * keys)
    # Lengths differ, without a cache: between even lengths and as many as possible of the longest.
    if total_k is None or total_k != total_q or max_q != max_k:
        raise Unusable
    low, high = total_q * total_q / batch, float(total_q * max_q)
    require(high <= 2 * low)
    square = (low + high) / 2
    pairs = (square + total_q) / 2 if causal else square
    require(window is None or window >= max_k)
    return pairs, square, float(total_k)


def varlen(a: Arguments, at: Varlen) -> Cost:
    """The cost of one varlen call by its row."""
    q, k, v = a.tensor(at.q, rank=3), a.tensor(at.k), a.tensor(at.v)
    batch = a.tensor(at.cu_q, rank=1).shape[0] - 1
    paged = at.pages is not None and a.maybe(at.pages) is not None
    (total_q, heads, d), dv = q.shape, v.shape[-1]
    require(len(k.shape) >= 3 and k.shape[-1] == d)
    kv_heads = k.shape[-2]
    require(kv_heads > 0 and heads % kv_heads == 0)
    causal = a.flag(at.causal) is True
    left = a.integer(at.window) if at.window is not None and a.text(at.window) else -1
    pairs, uncut, keys = pairs_and_keys(
        total_q,
        batch,
        a.integer(at.max_q),
        a.integer(at.max_k),
        None if paged else k.shape[0],
        causal=causal,
        window=left + 1 if left >= 0 else None,
    )
    return _cost(q, k, v, heads=heads, kv_heads=kv_heads, d=d, dv=dv, pairs=pairs, uncut=uncut, keys=keys)


def _cost(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    heads: int,
    kv_heads: int,
    d: int,
    dv: int,
    pairs: float,
    uncut: float,
    keys: float,
) -> Cost:
    per_pair = 2.0 * heads * (d + dv)
    return Cost(
        family="attention",
        flops=per_pair * pairs,
        flops_uncut=per_pair * uncut,
        bytes_read=q.bytes + keys * kv_heads * (d * k.width + dv * v.width),
        bytes_written=q.numel // d * dv * q.width,
        unit=q.unit,
    )


def register_varlen(table: Mapping[str, Varlen]) -> None:
    """Register one formula a row."""
    for ops, at in table.items():
        _register(ops.split(), at)


def _register(ops: list[str], at: Varlen) -> None:
    @formula(*ops)
    def listed(a: Arguments) -> Cost:
        return varlen(a, at)


register_varlen(
    {
        # in order: q, k, v, cu_q, cu_k, max_q, max_k, dropout, scale, causal, left, right, ...
        spelled("_flash_attn_varlen_forward", "flash_attn", "aiter"): Varlen(window=10),
        # in order: q, k, v, out?, cu_q, cu_k, used k?, left pad?, block table?, alibi?, max_q, max_k, dropout, scale,
        # zero, causal, ...
        spelled("varlen_fwd", "_vllm_fa2_C", "sgl_kernel"): Varlen(
            cu_q=4, max_q=10, max_k=11, causal=15, window=16, pages=8
        ),
        # in order: q, k, v, new k?, new v?, qv?, out?, cu_q, cu_k, cu new k, used q, used k, max_q, max_k, page table, ...
        spelled("fwd", "_vllm_fa3_C", "flash_attn_3", "sgl_kernel"): Varlen(
            cu_q=7, max_q=12, max_k=13, causal=24, window=25, pages=14
        ),
        # in order: q, k cache, v cache, cu_q, kv pages, page list, max_q, max_k, dropout, scale, softcap, zero, causal, left, ...
        spelled("mha_batch_prefill", "aiter"): Varlen(max_q=6, max_k=7, causal=12, window=13, pages=5),
        # in order: q, k, v, cu_q, cu_k, max_q, max_k, min_q, dropout, scale, softcap, zero, causal, left, ...
        spelled("mha_varlen_fwd", "aiter"): Varlen(causal=12, window=13),
        spelled("fmha_v3_varlen_fwd", "aiter"): Varlen(causal=12, window=13),
    }
)


@formula("aten::_flash_attention_forward")
def flash_attention_forward(a: Arguments) -> Cost:
    """_flash_attention_forward(q, k, v, cu_q?, cu_k?, max_q, max_k, dropout, is_causal, debug, scale?, left?, right?, ...):
    [B, S, H, D] each, or packed where cumulative lengths are given."""
    if a.maybe(3) is not None:
        return varlen(a, Varlen(causal=8, window=11))
    return dense(a, causal=8, window=11)


@formula("flash_attn::_flash_attn_forward", "aiter::_flash_attn_forward")
def flash_attn_forward(a: Arguments) -> Cost:
    """_flash_attn_forward(q[B, S, H, D], k, v, dropout, scale, causal, left, right, ...)."""
    return dense(a, causal=5, window=6)


@formula("aiter::mha_fwd", "aiter::fmha_v3_fwd", "aiter::wrapper_fmha_v3_fwd")
def aiter_mha(a: Arguments) -> Cost:
    """mha_fwd(q[B, S, H, D], k, v, dropout, scale, causal, left, right, ...)."""
    return dense(a, causal=5, window=6)


def dense(a: Arguments, *, causal: int, window: int | None = None) -> Cost:
    """[B, S, H, D] tensors under a bottom-right causal mask, perhaps with a left window."""
    q, k, v = a.tensor(0, rank=4), a.tensor(1, rank=4), a.tensor(2, rank=4)
    (batch, s, heads, d), (_, t, kv_heads, _), dv = q.shape, k.shape, v.shape[3]
    require(k.shape[0] == batch and kv_heads > 0 and heads % kv_heads == 0 and k.shape[3] == d)
    left = a.integer(window) if window is not None and a.text(window) else -1
    limit = left + 1 if left >= 0 else None
    cut = a.flag(causal) is True
    pairs = causal_pairs(s, t, window=limit) if cut else s * t
    return attention(q, k, v, batch=batch, heads=heads, s=s, t=t, d=d, dv=dv, pairs=pairs, mask=0.0)


@formula("aten::_efficient_attention_forward")
def efficient_attention_forward(a: Arguments) -> Cost:
    """_efficient_attention_forward(q[B, S, H, D], k, v, bias?, cu_q?, cu_k?, max_q?, max_k?, dropout, mask type, ...): mask
    type 1 is causal from the top left, 2 from the bottom right."""
    q, k, v = a.tensor(0, rank=4), a.tensor(1, rank=4), a.tensor(2, rank=4)
    if a.maybe(4) is not None:
        raise Unusable
    (batch, s, heads, d), t, dv = q.shape, k.shape[1], v.shape[3]
    kind = a.integer(9) if a.text(9) else 0
    bias = a.maybe(3)
    pairs = s * t if kind == 0 else causal_pairs(s, t, bottom_right=kind == 2)
    mask = bias.bytes if bias else 0.0
    return attention(q, k, v, batch=batch, heads=heads, s=s, t=t, d=d, dv=dv, pairs=pairs, mask=mask)

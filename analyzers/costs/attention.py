"""Attention over dense tensors: the SDPA forms of torch and the kernels they dispatch to.

softmax(Q K^T) V with B sequences, H query heads, H_kv key heads, S queries, T keys, head sizes D (keys) and D_v
(values): FLOPs 2 B H pairs (D + D_v), where pairs = S T, or what a causal kernel executes (`causal_pairs`); bytes: Q,
K, V (the KV heads once, GQA shares them) and a mask read once, the output written once. The softmax is not counted.
Source: the scaling book's inference chapter (4 B S T D per head), with the causal cut of flash attention 2 (section
3.1.1 of its paper).
"""

from __future__ import annotations

from .arguments import Arguments, Tensor, require
from .cost import Cost
from .registry import formula


def causal_pairs(queries: int, keys: int, *, bottom_right: bool = True, window: int | None = None) -> int:
    """Query-key pairs under a causal mask. Bottom-right: the last query sees all keys, so query i (from 0) sees
    keys - queries + i + 1 of them; top-left: i + 1. `window` limits each query to its last `window` keys."""
    seen = keys - queries + 1 if bottom_right else 1
    cut = 0 if window is None else _ramp(seen - window, queries, keys)
    return _ramp(seen, queries, keys) - cut


def _ramp(first: int, count: int, limit: int) -> int:
    """The sum of `first`, `first + 1`, ... over `count` terms, each held within 0 and `limit`."""
    low, high = max(first, 1), min(first + count - 1, limit)
    rising = (low + high) * (high - low + 1) // 2 if high >= low else 0
    flat = max(first + count - 1 - max(limit, first - 1), 0) * limit
    return rising + flat


def attention(
    q: Tensor, k: Tensor, v: Tensor, *, batch: int, heads: int, s: int, t: int, d: int, dv: int, pairs: int, mask: float
) -> Cost:
    """The cost from named sizes; `pairs` per sequence and head, `mask` its bytes."""
    per_pair = 2.0 * batch * heads * (d + dv)
    return Cost(
        family="attention",
        flops=per_pair * pairs,
        flops_uncut=per_pair * s * t,
        bytes_read=q.bytes + k.bytes + v.bytes + mask,
        bytes_written=batch * heads * s * dv * q.width,
        unit=q.unit,
    )


def sdpa(a: Arguments, *, mask: int | None, causal: int | None, bottom_right: bool = False) -> Cost:
    """q[B, H, S, D], k[B, H_kv, T, D], v[B, H_kv, T, D_v] at inputs 0 to 2; the mask's and the causal flag's positions.
    Torch defines its causal mask from the top left; only the flash kernels align it at the bottom right. An explicit
    mask cuts nothing: the kernel computes all pairs."""
    q, k, v = a.tensor(0, rank=4), a.tensor(1, rank=4), a.tensor(2, rank=4)
    (batch, heads, s, d), (keys_of, kv_heads, t, _), dv = q.shape, k.shape, v.shape[3]
    require(v.shape[:3] == k.shape[:3] and k.shape[3] == d)
    require(keys_of in (1, batch) and kv_heads > 0 and heads % kv_heads == 0)
    bias = a.maybe(mask) if mask is not None else None
    is_causal = causal is not None and a.flag(causal) is True
    pairs = causal_pairs(s, t, bottom_right=bottom_right) if is_causal else s * t
    return attention(
        q, k, v, batch=batch, heads=heads, s=s, t=t, d=d, dv=dv, pairs=pairs, mask=bias.bytes if bias else 0.0
    )


@formula("aten::scaled_dot_product_attention", hands_on=True)
def scaled_dot_product_attention(a: Arguments) -> Cost:
    """scaled_dot_product_attention(q, k, v, mask?, dropout, is_causal, scale?, enable_gqa)."""
    return sdpa(a, mask=3, causal=5)


@formula("aten::_scaled_dot_product_attention_math", hands_on=True)
def math(a: Arguments) -> Cost:
    """_scaled_dot_product_attention_math(q, k, v, mask?, dropout, is_causal, ...): the plain products, never cut."""
    return sdpa(a, mask=3, causal=None)


@formula("aten::_scaled_dot_product_flash_attention", "aten::_scaled_dot_product_flash_attention_for_cpu")
def flash(a: Arguments) -> Cost:
    """_scaled_dot_product_flash_attention(q, k, v, dropout, is_causal, return_debug_mask | attn_mask?, scale?)."""
    return sdpa(a, mask=5, causal=4, bottom_right=not a.name.endswith("cpu"))


@formula("aten::_scaled_dot_product_efficient_attention")
def efficient(a: Arguments) -> Cost:
    """_scaled_dot_product_efficient_attention(q, k, v, bias?, compute_log_sumexp, dropout, is_causal, scale?)."""
    return sdpa(a, mask=3, causal=6)


@formula("aten::_scaled_dot_product_cudnn_attention", "aten::_scaled_dot_product_fused_attention_overrideable")
def cudnn(a: Arguments) -> Cost:
    """_scaled_dot_product_cudnn_attention(q, k, v, bias?, compute_log_sumexp, dropout, is_causal, ...); the
    overrideable form (XPU, other back ends) has dropout at 4 and is_causal at 5."""
    return sdpa(a, mask=3, causal=5 if "overrideable" in a.name else 6)

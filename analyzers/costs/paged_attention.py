"""Decode attention over a paged KV cache, and over the latent cache of MLA.

One query per sequence reads the keys and values of its whole context: FLOPs 2 H (D + D_v) per key; bytes: the keys
and values at the cache's width. The context lengths are data; the trace has the longest (`max_seq_len`), so a single
sequence is counted and more than one is left to an engine's own token counts (`decode_cost` takes them).

MLA keeps one latent of R + P values per token, shared by all heads: scores take R + P, values R: FLOPs 2 H (2 R + P)
per key, bytes R + P per key once. Source: the absorbed form in the DeepSeek-V2 report, section 2.1.
"""

from __future__ import annotations

from .arguments import Arguments, Tensor, Unusable, require
from .cost import Cost, Unit
from .registry import formula


def decode_cost(
    *,
    pairs: float,
    keys: float,
    queries: float,
    heads: int,
    kv_heads: int,
    d: int,
    dv: int,
    width: float,
    cache_width: float,
    unit: Unit | None,
    shared: bool = False,
) -> Cost:
    """Attention from token counts: `pairs` of query and key (all that a causal kernel computes), `keys` read in total,
    `queries` tokens, widths in bytes per element. `shared`: values are part of the keys (MLA), read once."""
    per_key = d if shared else d + dv
    return Cost(
        family="attention",
        flops=2.0 * heads * (d + dv) * pairs,
        bytes_read=queries * heads * d * width + keys * kv_heads * per_key * cache_width,
        bytes_written=queries * heads * dv * width,
        unit=unit,
    )


def _single(q: Tensor, longest: int, kv_heads: int, cache: Tensor) -> Cost:
    sequences, heads, d = q.shape
    if sequences != 1:
        raise Unusable
    require(longest > 0 and kv_heads > 0 and heads % kv_heads == 0)
    return decode_cost(
        pairs=longest,
        keys=longest,
        queries=1,
        heads=heads,
        kv_heads=kv_heads,
        d=d,
        dv=d,
        width=q.width,
        cache_width=cache.width,
        unit=q.unit,
    )


@formula("_C::paged_attention_v1")
def paged_v1(a: Arguments) -> Cost:
    """paged_attention_v1(out, q[B, H, D], key cache, value cache, kv heads, scale, tables, lengths, block, longest, ...)."""
    return _single(a.tensor(1, rank=3), a.integer(9), a.integer(4), a.tensor(2))


@formula("_C::paged_attention_v2")
def paged_v2(a: Arguments) -> Cost:
    """paged_attention_v2(out, three partial results, q, key cache, value cache, kv heads, scale, tables, lengths, block,
    longest, ...)."""
    return _single(a.tensor(4, rank=3), a.integer(12), a.integer(7), a.tensor(5))


@formula("_rocm_C::paged_attention")
def paged_rocm(a: Arguments) -> Cost:
    """paged_attention(out, three partial results, q, key cache, value cache, kv heads, scale, tables, lengths,
    query starts?, block, longest, ...)."""
    return _single(a.tensor(4, rank=3), a.integer(13), a.integer(7), a.tensor(5))

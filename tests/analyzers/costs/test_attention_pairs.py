"""Pairs of query and key under masks, and what packed sequences tell of them."""

from __future__ import annotations

import pytest
from costcalls import BF16, INT32, T, call
from hypothesis import given
from hypothesis import strategies as st

from boundby.analyzers.costs import cost_of
from boundby.analyzers.costs.attention import causal_pairs
from boundby.analyzers.costs.paged_attention import decode_cost

lengths = st.integers(1, 12)


@given(lengths, lengths, st.booleans(), st.one_of(st.none(), lengths))
def test_causal_pairs_are_those_of_the_mask_drawn_out(s: int, t: int, bottom_right: bool, window: int | None) -> None:
    shift = t - s if bottom_right else 0
    drawn = sum(
        1
        for query in range(s)
        for key in range(t)
        if key <= query + shift and (window is None or key > query + shift - window)
    )
    assert causal_pairs(s, t, bottom_right=bottom_right, window=window) == drawn


def test_a_whole_prompt_computes_half_and_half_a_diagonal() -> None:
    assert causal_pairs(512, 512) == 512 * 513 // 2


def test_a_chunk_behind_a_cache_misses_only_its_own_upper_half() -> None:
    q, k = 128, 640
    assert causal_pairs(q, k) == q * k - q * (q - 1) // 2


def test_one_decode_step_sees_its_whole_context() -> None:
    assert causal_pairs(1, 1024) == 1024
    assert causal_pairs(1, 1024, window=128) == 128


def _varlen(max_q: int, max_k: int, batch: int, table: T | None = None) -> object:
    q, kv, cu = T([6, 4, 8], BF16), T([50 if table else 6, 2, 8], BF16), T([batch + 1], INT32)
    return cost_of(
        call(
            "_vllm_fa2_C::varlen_fwd",
            *(q, kv, kv, None, cu, cu, None, None, table, None, max_q, max_k, 0.0, 0.35, False, True, -1, -1),
        )
    )


def test_lengths_that_shapes_leave_open_give_no_cost() -> None:
    table = T([6, 9], INT32)
    # Six decode steps whose contexts may be anything up to 40.
    assert _varlen(1, 40, 6, table) is None
    # A sequence of five tokens beside one of one: their squares lie between 18 and 30; two and four: 18 and 24.
    assert _varlen(5, 5, 3) is None
    assert _varlen(4, 4, 2) is not None


def test_token_counts_give_decode_attention() -> None:
    """32 sequences, 32,785 cached and new tokens, Qwen3-8B's 32 heads, 8 KV heads of 128, fp8 cache."""
    cost = decode_cost(
        pairs=32785,
        keys=32785,
        queries=32,
        heads=32,
        kv_heads=8,
        d=128,
        dv=128,
        width=2,
        cache_width=1,
        unit="bf16",
    )
    assert cost.flops == 4 * 32 * 128 * 32785
    assert cost.bytes_read == 32 * 32 * 128 * 2 + 32785 * 8 * 256
    assert cost.bytes_written == 32 * 32 * 128 * 2


def test_mla_reads_one_latent_a_token_for_all_heads() -> None:
    """DeepSeek-V3's 128 heads on a latent of 512 + 64: 2 * 128 * (576 + 512) FLOPs a key, 576 values read once."""
    cost = decode_cost(
        pairs=1000,
        keys=1000,
        queries=1,
        heads=128,
        kv_heads=1,
        d=576,
        dv=512,
        width=2,
        cache_width=2,
        unit="bf16",
        shared=True,
    )
    assert cost.flops == pytest.approx(278_528_000)
    assert cost.bytes_read == 128 * 576 * 2 + 1000 * 576 * 2

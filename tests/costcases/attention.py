"""Attention in its forms. Two sequences, four heads of 8, three tokens: Q, K and V are [2, 4, 3, 8] bf16, 384 bytes each.

All pairs: 2 * 2 * 4 * 9 * (8 + 8) = 2304 FLOPs; a causal kernel computes 6 of 9 pairs: 1536.
"""

from costcalls import BF16, FP8, INT32, Case, T

Q = T([2, 4, 3, 8], BF16)
KV = T([2, 2, 3, 8], BF16)
"""Two KV heads, shared by two query heads each: 192 bytes."""
QS = T([2, 3, 4, 8], BF16)
KVS = T([2, 3, 2, 8], BF16)
ONE = T([2, 4, 1, 8], BF16)
"""One query a sequence: 128 bytes."""
LONG = T([2, 4, 5, 8], BF16)
"""Five keys: 640 bytes."""
MASK = T([2, 1, 3, 3], BF16)
"""36 bytes."""
PACKED, PACKED_KV = T([6, 4, 8], BF16), T([6, 2, 8], BF16)
CU, CU1 = T([3], INT32), T([2], INT32)
CACHE = T([50, 2, 8], BF16)
BLOCKS = T([20, 2, 16, 8], BF16)


def attend(ops: str, inputs: tuple, read: float, flops: float, uncut: float = 2304, written: float = 384) -> Case:
    return Case(ops, inputs, read, written, flops, "bf16", uncut)


CASES = [
    attend("aten::scaled_dot_product_attention", (Q, Q, Q, None, 0.0, True, None, False), 1152, 1536),
    attend("aten::scaled_dot_product_attention", (Q, Q, Q, MASK, 0.0, False, None, False), 1188, 2304),
    # GQA reads the KV heads there are.
    attend("aten::scaled_dot_product_attention", (Q, KV, KV, None, 0.0, False, None, True), 768, 2304),
    attend("aten::_scaled_dot_product_attention_math", (Q, Q, Q, None, 0.0, True, None, None, False), 1152, 2304),
    attend(
        "aten::_scaled_dot_product_flash_attention aten::_scaled_dot_product_flash_attention_for_cpu",
        (Q, Q, Q, 0.0, True, None, None),
        1152,
        1536,
    ),
    # One query against five keys sees them all: 2 * 2 * 4 * 5 * 16 FLOPs.
    attend(
        "aten::_scaled_dot_product_flash_attention", (ONE, LONG, LONG, 0.0, True, False, None), 1408, 1280, 1280, 128
    ),
    # Three queries behind two cached keys: 3 + 4 + 5 of 15 pairs.
    attend("aten::_scaled_dot_product_flash_attention", (Q, LONG, LONG, 0.0, True, False, None), 1664, 3072, 3840),
    # From the top left, as torch defines it, the same call would see 1 + 2 + 3.
    attend(
        "aten::_scaled_dot_product_flash_attention_for_cpu", (Q, LONG, LONG, 0.0, True, None, None), 1664, 1536, 3840
    ),
    attend("aten::_scaled_dot_product_flash_attention_for_cpu", (Q, Q, Q, 0.0, False, MASK, None), 1188, 2304),
    attend(
        "aten::_scaled_dot_product_efficient_attention aten::_scaled_dot_product_cudnn_attention",
        (Q, Q, Q, None, False, 0.0, True, None),
        1152,
        1536,
    ),
    attend(
        "aten::_scaled_dot_product_fused_attention_overrideable", (Q, Q, Q, None, 0.0, True, False, None), 1152, 1536
    ),
    attend(
        "aten::_flash_attention_forward",
        (QS, QS, QS, None, None, 3, 3, 0.0, True, False, None, None, None, None, None),
        1152,
        1536,
    ),
    # Packed: two sequences of three.
    attend(
        "aten::_flash_attention_forward",
        (PACKED, PACKED_KV, PACKED_KV, CU, CU, 3, 3, 0.0, True, False, None, None, None, None, None),
        768,
        1536,
    ),
    # Each query sees itself and the one before: 1 + 2 + 2 pairs.
    attend(
        "flash_attn::_flash_attn_forward aiter::_flash_attn_forward aiter::mha_fwd aiter::fmha_v3_fwd "
        "aiter::wrapper_fmha_v3_fwd",
        (QS, KVS, KVS, 0.0, 0.35, True, 1, 0),
        768,
        1280,
    ),
    attend(
        "aten::_efficient_attention_forward",
        (QS, KVS, KVS, None, None, None, None, None, 0.0, 2, False, None, None),
        768,
        1536,
    ),
    attend(
        "aten::_efficient_attention_forward",
        (QS, KVS, KVS, None, None, None, None, None, 0.0, 0, False, None, None),
        768,
        2304,
    ),
    attend(
        "flash_attn::_flash_attn_varlen_forward aiter::_flash_attn_varlen_forward",
        (PACKED, PACKED_KV, PACKED_KV, CU, CU, 3, 3, 0.0, 0.35, True, -1, -1, 0.0),
        768,
        1536,
    ),
    # Lengths differ, say 2 and 4: sum of squares between 18 (even) and 24 (six tokens of the longest); 21 is taken, and
    # (21 + 6) / 2 = 13.5 pairs are below the diagonals: 2 * 4 * 16 * 13.5.
    attend(
        "flash_attn::_flash_attn_varlen_forward",
        (PACKED, PACKED_KV, PACKED_KV, CU, CU, 4, 4, 0.0, 0.35, True, -1, -1, 0.0),
        768,
        1728,
        2688,
    ),
    attend(
        "_vllm_fa2_C::varlen_fwd sgl_kernel::varlen_fwd",
        (PACKED, PACKED_KV, PACKED_KV, None, CU, CU, None, None, None, None, 3, 3, 0.0, 0.35, False, True, -1, -1),
        768,
        1536,
    ),
    # One sequence of six tokens on a paged cache of 50 slots, nothing cached: 21 of 36 pairs, 6 keys of 2 heads read.
    attend(
        "_vllm_fa2_C::varlen_fwd",
        (
            PACKED,
            CACHE,
            CACHE,
            None,
            CU1,
            CU1,
            None,
            None,
            T([1, 9], INT32),
            None,
            6,
            6,
            0.0,
            0.35,
            False,
            True,
            -1,
            -1,
        ),
        384 + 384,
        2688,
        4608,
    ),
    attend(
        "_vllm_fa3_C::fwd flash_attn_3::fwd sgl_kernel::fwd",
        (
            *(PACKED, PACKED_KV, PACKED_KV, None, None, None, None, CU, CU, None, None, None, 3, 3, None),
            *(None,) * 8,
            0.35,
            True,
            -1,
            -1,
        ),
        768,
        1536,
    ),
    # Two sequences of three on a page list: the cache is 50 slots, 6 of which are read.
    attend(
        "aiter::mha_batch_prefill",
        (PACKED, CACHE, CACHE, CU, CU, T([38], INT32), 3, 3, 0.0, 0.35, 0.0, False, True, -1, -1),
        768,
        1536,
    ),
    attend(
        "aiter::mha_varlen_fwd aiter::fmha_v3_varlen_fwd",
        (PACKED, PACKED_KV, PACKED_KV, CU, CU, 3, 3, 0, 0.0, 0.35, 0.0, False, True, -1, -1),
        768,
        1536,
    ),
    # One sequence, 40 keys of two heads at 8: 2 * 4 * 16 * 40 FLOPs; 64 bytes of query, 40 * 2 * 16 * 2 of cache.
    attend(
        "_C::paged_attention_v1",
        (T([1, 4, 8], BF16), T([1, 4, 8], BF16), BLOCKS, BLOCKS, 2, 0.35, T([1, 3], INT32), T([1], INT32), 16, 40),
        2624,
        5120,
        None,
        64,
    ),
    # At fp8 the cache is half as many bytes.
    attend(
        "_C::paged_attention_v2",
        (
            *(T([1, 4, 8], BF16), T([1, 4, 1]), T([1, 4, 1]), T([1, 4, 1, 8], BF16), T([1, 4, 8], BF16)),
            *(T([20, 2, 16, 8], FP8), T([20, 2, 16, 8], FP8), 2, 0.35, T([1, 3], INT32), T([1], INT32), 16, 40),
        ),
        1344,
        5120,
        None,
        64,
    ),
    attend(
        "_rocm_C::paged_attention",
        (
            *(T([1, 4, 8], BF16), T([1, 4, 1]), T([1, 4, 1]), T([1, 4, 1, 8], BF16), T([1, 4, 8], BF16)),
            *(BLOCKS, BLOCKS, 2, 0.35, T([1, 3], INT32), T([1], INT32), None, 16, 40),
        ),
        2624,
        5120,
        None,
        64,
    ),
]

"""Packed weights, experts, quantisation."""

from costcalls import BF16, FP8, FP32, INT8, INT32, UINT8, Case, T, named

# [4, 32] x [32, 16] in bf16: 4096 FLOPs; 256 bytes of activations read, 128 written. Weights of 4 bits: 256 bytes.
X = T([4, 32], BF16)
PACKED = T([4, 16], INT32)
SCALES = T([2, 16], BF16)
"""Two groups of 16: 64 bytes."""
ZEROS = T([2, 2], INT32)
"""16 bytes."""


def packed(ops: str, inputs: tuple, read: float, written: float = 128, unit: str = "bf16") -> Case:
    return Case(ops, inputs, read, written, 4096, unit)


# Six tokens, each to 2 of 4 experts; w1[4, 16, 8] and w2[4, 8, 8] in bf16: 1536 bytes. 2 * 6 * 2 * 8 * (16 + 8) FLOPs.
# An expert is missed with 0.5 ** 6: 1 - 1 / 64 of the weights are read: 1512 bytes.
TOKENS, W1, W2 = T([6, 8], BF16), T([4, 16, 8], BF16), T([4, 8, 8], BF16)
WEIGHTS, IDS = T([6, 2]), T([6, 2], INT32)
# Twelve rows of 8 through [4, 8, 16]: 1024 bytes of weights, missed with 0.75 ** 12.
ROWS, GROUPED = T([12, 8], BF16), T([4, 8, 16], BF16)
TOUCHED = 1 - 0.75**12

CASES = [
    packed("_C::awq_gemm", (X, T([32, 2], INT32), SCALES, ZEROS, 8), 256 + 256 + 64 + 16),
    packed(
        "_C::gptq_gemm sgl_kernel::gptq_gemm",
        (X, PACKED, ZEROS, SCALES, T([32], INT32), True, 4),
        256 + 256 + 16 + 64 + 128,
    ),
    packed("_C::marlin_gemm _C::fp8_marlin_gemm", (X, PACKED, SCALES, T([99], INT32), 4, 16, 32), 576),
    packed("_C::machete_mm", (X, PACKED, 1, None, SCALES, None, 16, None, None, None), 576),
    packed(
        "_C::gptq_marlin_gemm _C::gptq_marlin_24_gemm sgl_kernel::gptq_marlin_gemm",
        (X, None, T([2, 32], INT32), SCALES, None, None, None, None, T([99], INT32), 1, 4, 16, 32, True),
        576,
    ),
    packed(
        "bitsandbytes::gemv_4bit bitsandbytes::gemm_4bit",
        (X, T([256, 1], UINT8), [16, 32], T([8]), T([16]), 64),
        256 + 256 + 32 + 64,
    ),
    packed(
        "aten::_weight_int4pack_mm aten::_weight_int4pack_mm_for_cpu",
        (X, T([2, 1, 32, 1], INT32), 16, T([2, 16, 2], BF16)),
        256 + 256 + 128,
    ),
    packed("aten::_weight_int8pack_mm", (X, T([16, 32], INT8), T([16], BF16)), 256 + 512 + 32),
    packed("aten::_dyn_quant_matmul_4bit", (X, T([320], UINT8), 32, 32, 16), 256 + 320),
    # GGUF's q4_0 rows: 32 values in 18 bytes, scale included.
    packed(
        "_C::ggml_mul_mat_a8 _C::ggml_mul_mat_vec_a8 sgl_kernel::ggml_mul_mat_a8 sgl_kernel::ggml_mul_mat_vec_a8",
        (T([16, 18], UINT8), X, 2, 16),
        256 + 288,
    ),
    packed(
        "sgl_kernel::qserve_w4a8_per_chn_gemm sgl_kernel::qserve_w4a8_per_group_gemm",
        (T([4, 32], INT8), T([16, 16], INT8), *[T([16], "c10::Half")] * 4, T([4, 16], "c10::Half")),
        128 + 256 + 128,
        128,
        "int8",
    ),
    Case(
        named("vllm", "outplace_fused_experts inplace_fused_experts rocm_aiter_fused_moe")
        + " sglang::outplace_fused_experts sglang::inplace_fused_experts aiter::fused_moe_",
        (TOKENS, W1, W2, WEIGHTS, IDS, "silu"),
        96 + 1512 + 96,
        96,
        4608,
        "bf16",
    ),
    # fp8 weights with a scale for each output row: 768 bytes and 4 * (16 + 8) scales.
    Case(
        "aiter::fused_moe_",
        (
            *(TOKENS, T([4, 16, 8], FP8), T([4, 8, 8], FP8), WEIGHTS, IDS, None, 0, 0, False),
            *(T([4, 16, 1]), T([4, 8, 1])),
        ),
        96 + (768 + 384) * 63 / 64 + 96,
        96,
        4608,
        "bf16",
    ),
    Case("aten::_grouped_mm", (ROWS, GROUPED, T([4], INT32)), 192 + 1024 * TOUCHED + 16, 384, 3072, "bf16"),
    # Two 3-d operands are four plain products of [3, 8] x [8, 16].
    Case("aten::_grouped_mm", (T([4, 3, 8], BF16), GROUPED, None), 192 + 1024, 384, 3072, "bf16"),
    Case(
        "aten::_scaled_grouped_mm",
        (T([12, 8], FP8), T([4, 8, 16], FP8), T([12]), T([4, 16]), T([4], INT32)),
        96 + 512 * TOUCHED + 48 + 256,
        384,
        3072,
        "fp8",
    ),
    Case(
        "_C::cutlass_moe_mm",
        (T([12, 16], BF16), T([12, 8], FP8), T([4, 8, 16], FP8), T([12, 1]), T([4, 16])),
        96 + 512 * TOUCHED + 48 + 256,
        384,
        3072,
        "fp8",
    ),
    Case(
        "sgl_kernel::fp8_blockwise_scaled_grouped_mm",
        (T([12, 16], BF16), *[T([4], "long int")] * 5, T([12, 8], FP8), T([4, 8, 16], FP8), T([12, 1]), T([4, 16])),
        96 + 512 * TOUCHED + 48 + 256,
        384,
        3072,
        "fp8",
    ),
    Case(
        "sgl_kernel::es_fp8_blockwise_scaled_grouped_mm",
        (T([12, 16], BF16), T([12, 8], FP8), T([4, 8, 16], FP8), T([12, 1]), T([4, 16])),
        96 + 512 * TOUCHED + 48 + 256,
        384,
        3072,
        "fp8",
    ),
    Case(
        "sgl_kernel::cutlass_fp4_group_mm _C::cutlass_fp4_group_mm",
        (T([12, 16], BF16), T([12, 4], UINT8), T([4, 16, 4], UINT8), T([12, 1], FP8), T([4, 16, 1], FP8), T([4])),
        48 + 256 * TOUCHED + 12 + 64,
        384,
        3072,
        "fp4",
    ),
    # Twelve rows of [6 tokens x 2 choices, 16] from packed int4 [4, 1, 16] (256 bytes) with scales of 128.
    Case(
        "_moe_C::moe_wna16_marlin_gemm sgl_kernel::moe_wna16_marlin_gemm",
        (TOKENS, T([12, 16], BF16), T([4, 1, 16], INT32), T([4, 1, 16], BF16), None, None, None, T([9], INT32)),
        96 + 384 * TOUCHED,
        384,
        3072,
        "bf16",
    ),
    # 128 values: 256 bytes at 16 bits, 128 at 8; 4 scales of 4 bytes a row.
    Case(named("_C", "static_scaled_fp8_quant"), (T([4, 32], FP8), X, T([1])), 260, 128),
    Case(named("_C", "static_scaled_int8_quant"), (T([4, 32], INT8), X, T([1]), None), 260, 128),
    Case(
        named("_C", "dynamic_scaled_fp8_quant dynamic_per_token_scaled_fp8_quant"),
        (T([4, 32], FP8), X, T([4, 1])),
        256,
        144,
    ),
    Case("_C::dynamic_scaled_int8_quant", (T([4, 32], INT8), X, T([4, 1]), None), 256, 144),
    Case("aiter::static_per_tensor_quant", (T([4, 32], FP8), X, T([1])), 260, 128),
    Case(
        named("aiter", "dynamic_per_tensor_quant dynamic_per_token_scaled_quant"),
        (T([4, 32], FP8), X, T([4, 1])),
        256,
        144,
    ),
    Case(
        named("_C", "per_token_group_fp8_quant per_token_group_quant_int8")
        + " "
        + named(
            "sgl_kernel",
            "sgl_per_token_group_quant_8bit sgl_per_token_group_quant_8bit_v2 sgl_per_token_quant_fp8 "
            "sgl_per_token_group_quant_fp8 sgl_per_token_group_quant_int8",
        ),
        (X, T([4, 32], FP8), T([4, 2])),
        256,
        160,
    ),
    # Four bits: 64 bytes, with a scale a group of 16.
    Case(
        "_C::scaled_fp4_quant sgl_kernel::scaled_fp4_quant",
        (T([4, 16], UINT8), X, T([4, 2], FP8), T([1])),
        260,
        72,
    ),
    Case(
        "_C::scaled_fp4_experts_quant sgl_kernel::scaled_fp4_experts_quant",
        (T([4, 16], UINT8), T([4, 2], FP8), X, T([1])),
        260,
        72,
    ),
    # A scale that must be found costs another read.
    Case("sgl_kernel::sgl_per_tensor_quant_fp8", (X, T([4, 32], FP8), T([1]), True), 256, 128),
    Case("sgl_kernel::sgl_per_tensor_quant_fp8", (X, T([4, 32], FP8), T([1]), False), 512, 128),
    Case("_C::awq_dequantize sgl_kernel::awq_dequantize", (T([32, 2], INT32), SCALES, ZEROS), 336, 1024),
    Case("bitsandbytes::dequantize_4bit", (T([256, 1], UINT8), T([8], FP32), 64, "nf4", [16, 32], 15), 288, 1024),
]

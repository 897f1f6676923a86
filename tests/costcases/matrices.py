"""Dense products, convolutions, scans and inductor's kernels."""

from costcalls import BF16, FP8, FP32, INT8, INT32, INT64, Case, T, named

# [4, 8] x [8, 16] in bf16: 2 * 4 * 8 * 16 = 1024 FLOPs; 64 + 256 bytes read, 128 written.
A, B, W = T([4, 8], BF16), T([8, 16], BF16), T([16, 8], BF16)
BIAS = T([16], BF16)
"""32 bytes."""
HIDDEN, BATCH = T([2, 2, 8], BF16), T([3, 4, 8], BF16)
A8, W8 = T([4, 8], FP8), T([16, 8], FP8)
"""32 and 128 bytes."""
SCALE, ROWS, COLUMNS = T([1]), T([4, 1]), T([1, 16])
"""4, 16 and 64 bytes."""
OUT = T([4, 16], BF16)
FP4X2 = "c10::Float4_e2m1fn_x2"


def product(
    ops: str, inputs: tuple, read: float, written: float = 128, unit: str = "bf16", flops: float = 1024
) -> Case:
    return Case(ops, inputs, read, written, flops, unit)


CASES = [
    product("aten::mm", (A, B), 320),
    product("aten::mm", (A, B, OUT), 320),
    product("aten::_int_mm", (T([4, 8], INT8), T([8, 16], INT8)), 160, 256, "int8"),
    product("aten::addmm aten::_addmm_activation", (BIAS, A, B, 1, 1), 352),
    # beta = 0 does not read what it would add.
    product("aten::addmm", (BIAS, A, B, 0, 1), 320),
    product("aten::mm", (T([4, 8]), T([8, 16])), 640, 256, "fp32"),
    # Three products of [4, 8] x [8, 16].
    product("aten::bmm", (BATCH, T([3, 8, 16], BF16)), 960, 384, flops=3072),
    # The second operand expanded over the batch is read once.
    product("aten::bmm", (BATCH, T([3, 8, 16], BF16, [0, 16, 1])), 448, 384, flops=3072),
    product(
        "aten::baddbmm aten::baddbmm_", (T([3, 4, 16], BF16), BATCH, T([3, 8, 16], BF16), 1, 1), 1344, 384, flops=3072
    ),
    product("aten::addbmm aten::addbmm_", (OUT, BATCH, T([3, 8, 16], BF16), 1, 1), 1088, 128, flops=3072),
    # [4, 8] x [8]: 64 FLOPs, 64 + 16 bytes read, 8 written.
    product("aten::mv", (A, T([8], BF16)), 80, 8, flops=64),
    product("aten::addmv aten::addmv_", (T([4], BF16), A, T([8], BF16), 1, 1), 88, 8, flops=64),
    product("aten::dot aten::vdot", (T([8], BF16), T([8], BF16)), 32, 2, flops=16),
    product(
        "aten::linear aten::mkldnn_linear vllm::rocm_unquantized_gemm vllm::unquantized_gemm vllm::cpu_unquantized_gemm "
        "onednn::linear torch_ipex::ipex_linear mkldnn::_linear_pointwise",
        (HIDDEN, W, BIAS),
        352,
    ),
    # The fused form adds a tensor of the output's shape, 128 bytes.
    product("mkldnn::_linear_pointwise", (HIDDEN, T([2, 2, 16], BF16), W, BIAS, "add"), 480),
    product("mkl::_mkl_linear", (HIDDEN, T([1]), W, BIAS, 4), 352),
    product("aten::matmul", (HIDDEN, B), 320),
    # [3, 4, 8] x [1, 8, 16] broadcasts the batch.
    product("aten::matmul", (BATCH, T([1, 8, 16], BF16)), 448, 384, flops=3072),
    product("aten::_scaled_mm", (A8, T([8, 16], FP8, [1, 8]), ROWS, COLUMNS, None, None, 15, True), 240, 128, "fp8"),
    product("trtllm::cublas_scaled_mm", (A8, T([8, 16], FP8, [1, 8]), SCALE, SCALE, None, 15), 168, 128, "fp8"),
    product("_C::cutlass_scaled_mm", (OUT, A8, T([8, 16], FP8), ROWS, COLUMNS, BIAS), 272, 128, "fp8"),
    product(
        "_C::cutlass_scaled_mm_azp",
        (OUT, T([4, 8], INT8), T([8, 16], INT8), ROWS, COLUMNS, T([16], INT32), None, BIAS),
        336,
        128,
        "int8",
    ),
    product(
        named("sgl_kernel", "fp8_scaled_mm fp8_blockwise_scaled_mm"), (A8, W8, ROWS, COLUMNS, 15, BIAS), 272, 128, "fp8"
    ),
    product(
        "sgl_kernel::int8_scaled_mm", (T([4, 8], INT8), T([8, 16], INT8), ROWS, COLUMNS, 15, None), 240, 128, "int8"
    ),
    product(named("sgl_kernel", "dsv3_fused_a_gemm dsv3_router_gemm"), (T([4, 16]), A, W), 320, 256),
    product(
        "sgl_kernel::bmm_fp8 flashinfer::bmm_fp8",
        (T([3, 4, 8], FP8), T([3, 8, 16], FP8), T([3, 4, 16], BF16), SCALE, SCALE),
        488,
        384,
        "fp8",
        3072,
    ),
    # Packed fp4: 4 bytes hold 8 values of K. Block scales of 16 and 64 bytes.
    product(
        "_C::cutlass_scaled_fp4_mm sgl_kernel::cutlass_scaled_fp4_mm",
        (OUT, T([4, 4], "unsigned char"), T([16, 4], "unsigned char"), T([4, 4], FP8), T([16, 4], FP8), SCALE),
        164,
        128,
        "fp4",
    ),
    product("vllm::rocm_aiter_gemm_a8w8", (A8, W8, ROWS, COLUMNS, None, 15), 240, 128, "fp8"),
    product(
        named("vllm", "rocm_aiter_gemm_a8w8_blockscale rocm_aiter_triton_gemm_a8w8_blockscale"),
        (A8, W8, ROWS, COLUMNS, 15),
        240,
        128,
        "fp8",
    ),
    product(
        named("vllm", "w8a8_triton_block_scaled_mm_func w8a8_block_fp8_matmul_deepgemm")
        + " "
        + named(
            "sglang", "w8a8_triton_block_scaled_mm_func w8a8_block_fp8_matmul_deepgemm w8a8_block_fp8_matmul_triton"
        ),
        (A8, W8, ROWS, COLUMNS, [128, 128], 15),
        240,
        128,
        "fp8",
    ),
    product(
        named("aiter", "gemm_a8w8_blockscale gemm_a8w8 gemm_a8w8_bpreshuffle"),
        (A8, W8, ROWS, COLUMNS, 15),
        240,
        128,
        "fp8",
    ),
    product(
        named(
            "aiter",
            "gemm_a8w8_ck gemm_a8w8_asm gemm_a8w8_blockscale_ck gemm_a8w8_blockscale_bpreshuffle_ck "
            "gemm_a8w8_bpreshuffle_ck gemm_a8w8_blockscale_bpreshuffle_asm flatmm_a8w8_blockscale_asm deepgemm_ck",
        ),
        (A8, W8, ROWS, COLUMNS, OUT),
        240,
        128,
        "fp8",
    ),
    product(
        named("aiter", "gemm_a4w4 _gemm_a4w4_asm gemm_a4w4_asm gemm_a4w4_blockscale"),
        (T([4, 4], FP4X2), T([16, 4], FP4X2), T([4, 1], FP8), T([16, 1], FP8), OUT),
        100,
        128,
        "fp4",
    ),
    product("aiter::gemm_a16w16 aiter::gemm_a16w16_", (A, W, None, 15, None, None, None), 320),
    product("aiter::gemm_a16w16", (A, W, BIAS, 6, None, None, None), 352, 256),
    product("aiter::gemm_a16w16_asm", (A, W, T([4, 16]), BIAS), 352, 256),
    product("aiter::hipb_mm aiter::rocb_mm", (A, B, 7, BIAS, None, None), 352),
    # Skinny kernels take the weight first.
    product("_rocm_C::wvSplitK _rocm_C::LLMM1", (W, A, 104), 320),
    product("_rocm_C::wvSplitKQ", (W8, A8, OUT, SCALE, SCALE, 104), 168, 128, "fp8"),
    product("bitsandbytes::int8_linear_matmul", (T([4, 8], INT8), T([16, 8], INT8)), 160, 128, "int8"),
    product(
        "bitsandbytes::int8_scaled_mm", (T([4, 8], INT8), T([16, 8], INT8), T([4]), T([16]), None, 5), 240, 128, "int8"
    ),
    product(
        "deep_gemm::fp8_gemm_nt vllm::fp8_gemm_nt sglang::fp8_gemm_nt deep_gemm::fp8_gemm_nt_op vllm::fp8_gemm_nt_op "
        "sglang::fp8_gemm_nt_op deep_gemm::gemm_fp8_fp8_bf16_nt vllm::gemm_fp8_fp8_bf16_nt sglang::gemm_fp8_fp8_bf16_nt",
        (A8, ROWS, W8, COLUMNS, OUT),
        240,
        128,
        "fp8",
    ),
    # Torch's own packed fp4: A[4, 8 / 2], B[8 / 2, 16].
    product(
        "aten::_scaled_mm",
        (T([4, 4], FP4X2), T([4, 16], FP4X2, [1, 4]), T([4, 1], FP8), T([16, 1], FP8), None, None, 15, False),
        100,
        128,
        "fp4",
    ),
    product(
        "onednn::qlinear_pointwise",
        (
            T([4, 8], "unsigned char"),
            0.1,
            3,
            T([16, 8], INT8),
            T([16]),
            T([16], INT32),
            BIAS,
            1.0,
            0,
            15,
            "none",
            [],
            "",
        ),
        320,
        128,
        "int8",
    ),
    product("vllm::gemm_with_dynamic_quant", (A8, W8, SCALE, SCALE), 168, 128, "fp8"),
    # One 3 x 3 kernel over 4 x 4 with a border of 1, stride 1: 2 * 1 * 5 * 16 * 2 * 9 = 2880 FLOPs.
    Case(
        "aten::convolution aten::_convolution aten::convolution_overrideable",
        (T([1, 2, 4, 4]), T([5, 2, 3, 3]), T([5]), [1, 1], [1, 1], [1, 1], False, [0, 0], 1),
        128 + 360 + 20,
        320,
        2880,
        "fp32",
    ),
    # Transposed, stride 2: (4 - 1) * 2 + 3 = 9 wide; each of 32 inputs meets 5 * 9 taps.
    Case(
        "aten::convolution",
        (T([1, 2, 4, 4]), T([2, 5, 3, 3]), None, [2, 2], [0, 0], [1, 1], True, [0, 0], 1),
        128 + 360,
        5 * 81 * 4,
        2880,
        "fp32",
    ),
    Case(
        "aten::cudnn_convolution",
        (T([1, 2, 4, 4]), T([5, 2, 3, 3]), [1, 1], [1, 1], [1, 1], 1, False, False, True),
        488,
        320,
        2880,
        "fp32",
    ),
    Case(
        "aten::miopen_convolution aten::mkldnn_convolution",
        (T([1, 2, 4, 4]), T([5, 2, 3, 3]), None, [1, 1], [1, 1], [1, 1], 1, False, False),
        488,
        320,
        2880,
        "fp32",
    ),
    # 48 elements, 4 taps: 384 FLOPs; 96 bytes of x, 24 of weight, 6 of bias.
    Case(
        "_C::causal_conv1d_fwd sgl_kernel::causal_conv1d_fwd DaoAILab::_causal_conv1d_fwd_cpp",
        (T([2, 3, 8], BF16), T([3, 4], BF16), T([3], BF16)),
        126,
        96,
        384,
        "fp32",
    ),
    # Two sequences with a state of 3 x 3 values each, 36 bytes, read and written.
    Case(
        "_C::causal_conv1d_update sgl_kernel::causal_conv1d_update",
        (T([2, 3], BF16), T([10, 3, 3], BF16), T([3, 4], BF16), None),
        12 + 24 + 36,
        12 + 36,
        48,
        "fp32",
    ),
    # 2 x 3 channels x 8 steps, 4 states: 9 * 48 * 4 FLOPs. Reads u, delta (96 each), A 48, B, C (128 each), D 12, z 96,
    # delta bias 12 and two states of 12 values (96); writes the output and the states.
    Case(
        "_C::selective_scan_fwd",
        (
            T([2, 3, 8], BF16),
            T([2, 3, 8], BF16),
            T([3, 4]),
            T([2, 4, 8], BF16),
            T([2, 4, 8], BF16),
            T([3]),
            T([2, 3, 8], BF16),
            T([3]),
            True,
            None,
            None,
            None,
            T([2, 3, 4]),
            -1,
        ),
        96 + 96 + 48 + 128 + 128 + 12 + 96 + 12 + 96,
        96 + 96,
        1728,
        "fp32",
    ),
    # One token of 2 x 3 heads with a state of 4 x 4: 5 FLOPs for each of 96 values.
    Case(
        "sgl_kernel::lightning_attention_decode",
        (*[T([2, 3, 1, 4], BF16)] * 3, T([2, 3, 4, 4]), T([3]), T([2, 3, 1, 4], BF16), T([2, 3, 4, 4])),
        3 * 48 + 384 + 12,
        48 + 384,
        480,
        "fp32",
    ),
    # 24 points: x and y are read, the last written; the vector of 4 too.
    Case("triton_poi_fused_add_mul_0", (T([6, 4], BF16), T([4], BF16), T([6, 4], BF16), 24), 56, 48),
    Case("triton_red_fused_sum_1 triton_per_fused_sum_1", (T([6, 4]), T([6]), 6, 4), 96, 24),
    # Of a table of 100 x 4 no more than the 8 points of the iteration space are read.
    Case("triton_poi_fused_embedding_0", (T([2], INT64), T([100, 4], FP32), T([2, 4]), 8), 48, 32),
    product("triton_tem_fused_mm_0", (A, B, OUT), 320),
    product("triton_tem_fused_addmm_0", (A, B, BIAS, OUT), 352),
]

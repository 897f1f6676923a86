"""Norms, activations, rope, caches, routing, sampling and collectives under engines' names."""

from costcalls import BF16, FP8, INT32, INT64, Case, T, named

# Four rows of 8 bf16 values: 64 bytes; a weight of 8: 16 bytes.
X, WEIGHT, SCALE = T([4, 8], BF16), T([8], BF16), T([1])
X8, ROWS = T([4, 8], FP8), T([4, 1])

CASES = [
    Case(
        "_C::rms_norm sgl_kernel::rmsnorm sgl_kernel::gemma_rmsnorm aiter::rmsnorm flashinfer::rmsnorm",
        (X, X, WEIGHT, 1e-6),
        80,
        64,
    ),
    Case("_C::rms_norm_static_fp8_quant", (X8, X, WEIGHT, SCALE, 1e-6), 84, 32),
    Case("_C::rms_norm_dynamic_per_token_quant", (X8, X, WEIGHT, ROWS, 1e-6, None, X), 144, 112),
    Case(
        "_C::fused_add_rms_norm sgl_kernel::fused_add_rmsnorm sgl_kernel::gemma_fused_add_rmsnorm "
        "flashinfer::fused_add_rmsnorm flashinfer::gemma_fused_add_rmsnorm",
        (X, X, WEIGHT, 1e-6),
        144,
        128,
    ),
    Case("_C::fused_add_rms_norm_static_fp8_quant", (X8, X, X, WEIGHT, SCALE, 1e-6), 148, 96),
    Case(
        named("aiter", "add_rmsnorm rmsnorm2d_fwd_with_add layernorm2d_fwd_with_add rmsnorm2d_fwd_with_add_ck"),
        (X, X, X, X, WEIGHT, 1e-6),
        144,
        128,
    ),
    Case("aiter::rmsnorm2d_fwd_with_add_dynamicquant", (X8, X, X, X, ROWS, WEIGHT, 1e-6), 144, 112),
    Case("aiter::rmsnorm2d_fwd_with_dynamicquant", (X8, X, ROWS, WEIGHT, 1e-6), 80, 48),
    Case(
        named("aiter", "rmsnorm2d_fwd rms_norm rms_norm_cu rmsnorm2d_fwd_ck layernorm2d_fwd")
        + " vllm::rocm_aiter_rms_norm vllm::rms_norm sglang::rms_norm",
        (X, WEIGHT, 1e-6),
        80,
        64,
    ),
    Case("vllm::rocm_aiter_rmsnorm2d_fwd_with_add", (X, X, WEIGHT, 1e-6), 144, 128),
    # Rows of 16 become rows of 8.
    Case(
        " ".join(
            named(space, "silu_and_mul gelu_and_mul gelu_tanh_and_mul mul_and_silu fatrelu_and_mul swigluoai_and_mul")
            for space in ("_C", "sgl_kernel", "aiter", "flashinfer")
        ),
        (X, T([4, 16], BF16)),
        128,
        64,
    ),
    Case(
        " ".join(named(space, "gelu_new gelu_fast gelu_quick") for space in ("_C", "sgl_kernel", "aiter")),
        (X, X),
        64,
        64,
    ),
    Case("_C::silu_and_mul_quant aiter::scaled_silu_and_mul", (X8, T([4, 16], BF16), SCALE), 132, 32),
    Case(
        "_C::silu_and_mul_nvfp4_quant", (T([4, 4], "unsigned char"), T([4, 1], FP8), T([4, 16], BF16), SCALE), 132, 20
    ),
    # Heads of 8, all of it turned: q 64 and k 32 bytes both ways, positions 32, four rows of a table of 8: 64.
    Case(
        "_C::rotary_embedding sgl_kernel::rotary_embedding vllm::rotary_embedding _C::batched_rotary_embedding",
        (T([4], INT64), X, T([4, 4], BF16), 8, T([100, 8], BF16), True),
        64 + 32 + 32 + 64,
        96,
    ),
    # Half of each head turned.
    Case("_C::rotary_embedding", (T([4], INT64), X, None, 8, T([100, 4], BF16), True), 32 + 32 + 32, 32),
    Case(
        "sgl_kernel::apply_rope_pos_ids_cos_sin_cache flashinfer::apply_rope_pos_ids_cos_sin_cache",
        (X, T([4, 4], BF16), X, T([4, 4], BF16), T([100, 8]), T([4], INT64), True),
        64 + 32 + 32 + 128,
        96,
    ),
    Case("aiter::rope_fwd_impl", (X, X, WEIGHT, 0), 80, 64),
    Case("aiter::rope_cached_fwd_impl", (X, X, WEIGHT, WEIGHT, 0), 96, 64),
    Case("aiter::rope_cached_positions_2c_fwd_impl", (X, X, X, X, WEIGHT, WEIGHT, T([4], INT64)), 192, 128),
    # Two KV heads of 4, four tokens: 64 bytes each of keys and values, 32 of slots.
    Case(
        "_C_cache_ops::reshape_and_cache _C_cache_ops::reshape_and_cache_flash aiter::reshape_and_cache "
        "aiter::reshape_and_cache_flash",
        (*[T([4, 2, 4], BF16)] * 2, *[T([10, 16, 2, 4], BF16)] * 2, T([4], INT64)),
        160,
        128,
    ),
    # Padded rows have no slot: of four rows three are stored, at fp8.
    Case(
        "_C_cache_ops::reshape_and_cache_flash",
        (*[T([4, 2, 4], BF16)] * 2, *[T([10, 16, 2, 4], FP8)] * 2, T([3], INT64)),
        96 + 24,
        48,
    ),
    Case(
        named(
            "aiter",
            "reshape_and_cache_with_pertoken_quant reshape_and_cache_with_block_quant "
            "reshape_and_cache_with_block_quant_for_asm_pa",
        ),
        (*[T([4, 2, 4], BF16)] * 2, *[T([10, 16, 2, 4], FP8)] * 2, T([2, 160]), T([2, 160]), T([4], INT64), False),
        160,
        64,
    ),
    # A latent of 8 with 2 of rope: 64 + 16 bytes.
    Case(
        "_C_cache_ops::concat_and_cache_mla aiter::concat_and_cache_mla",
        (X, T([4, 2], BF16), T([10, 16, 10], BF16), T([4], INT64)),
        112,
        80,
    ),
    Case("sglang::store_cache", (X, X, T([50, 8], BF16), T([50, 8], BF16), T([4], INT64), 16, 0), 160, 128),
    Case("sgl_kernel::store_kv_cache", (T([50, 8], BF16), T([50, 8], BF16), T([4], INT64), X, X), 160, 128),
    # Six tokens, four experts, two chosen: scores 96 bytes, weights, ids and rows 48 each.
    Case(
        "_moe_C::topk_softmax aiter::topk_softmax",
        (T([6, 2]), T([6, 2], INT32), T([6, 2], INT32), T([6, 4]), True),
        96,
        144,
    ),
    Case("sgl_kernel::topk_softmax", (T([6, 2]), T([6, 2], INT32), T([6, 4]), True), 96, 96),
    Case(
        "_moe_C::moe_align_block_size sgl_kernel::moe_align_block_size aiter::moe_align_block_size",
        (T([6, 2], INT32), 4, 16, T([72], INT32), T([5], INT32), T([1], INT32)),
        48,
        288 + 20 + 4,
    ),
    Case(
        "_moe_C::moe_sum sgl_kernel::moe_sum aiter::moe_sum sgl_kernel::moe_sum_reduce",
        (T([6, 2, 8], BF16), T([6, 8], BF16), 1.0),
        192,
        96,
    ),
    Case("sgl_kernel::shuffle_rows", (T([6, 8], BF16), T([12], INT32), T([12, 8], BF16)), 240, 192),
    Case("sgl_kernel::moe_fused_gate aiter::moe_fused_gate", (T([6, 4]), T([4]), 2, 1, 2, 0, 1.0, False), 112, 96),
    Case("sgl_kernel::kimi_k2_moe_fused_gate", (T([6, 4]), T([4]), 2, True, 1.0, False), 112, 96),
    # Two rows of 10 probabilities, two tokens chosen.
    Case(
        " ".join(
            named(
                space,
                "min_p_sampling_from_probs top_p_sampling_from_probs top_k_top_p_sampling_from_probs "
                "top_k_sampling_from_probs",
            )
            for space in ("sgl_kernel", "flashinfer")
        ),
        (T([2, 10]), T([2], INT32), None),
        80,
        8,
    ),
    Case(
        " ".join(
            named(space, "top_k_renorm_probs top_p_renorm_probs top_k_mask_logits")
            for space in ("sgl_kernel", "flashinfer")
        ),
        (T([2, 10]), T([2, 10]), None),
        80,
        80,
    ),
    Case("sgl_kernel::apply_token_bitmask_inplace_cuda", (T([2, 10]), T([2, 1], INT32)), 88, 80),
    Case(
        "_C::apply_repetition_penalties_", (T([2, 10]), T([2, 10], "bool"), T([2, 10], "bool"), T([2])), 80 + 40 + 8, 80
    ),
    # A ring of 4 sends 2 * 3 / 4 of 400 bytes.
    Case(
        "record_param_comms",
        (),
        600,
        600,
        extra={
            "Collective name": "allreduce",
            "In msg nelems": 100,
            "Out msg nelems": 100,
            "dtype": "Float",
            "Group size": 4,
        },
    ),
    # Each of 4 ranks receives three quarters of what all hold together.
    Case(
        "record_param_comms",
        (),
        600,
        600,
        extra={
            "Collective name": "_allgather_base",
            "In msg nelems": 100,
            "Out msg nelems": 400,
            "dtype": "BFloat16",
            "Group size": 4,
        },
    ),
]

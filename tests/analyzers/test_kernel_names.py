"""Kernel names as profilers write them, and what they tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundby.analyzers import kernel_names
from boundby.analyzers.costs.cost import Family, Unit
from boundby.analyzers.kernel_names import recognise


class Named(NamedTuple):
    name: str
    family: str
    unit: str | None = None
    tile: str = ""


VECTOR = (
    "void at::native::vectorized_elementwise_kernel<4, {}, std::array<char*, 2ul> >(int, {}, std::array<char*, 2ul>)"
)
BF16_MUL = "at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >"
SILU = (
    "at::native::(anonymous namespace)::silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::"
    "{lambda()#6}::operator()() const::{lambda(c10::BFloat16)#1}"
)
COPY = (
    "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}"
    "::operator()() const::{lambda(float)#1}, std::array<char*, 2ul>, 4>(int)"
)

NAMES = [
    Named("ampere_sgemm_128x64_tn", "gemm", "fp32", "128x64"),
    Named("volta_sgemm_32x128_nn", "gemm", "fp32", "32x128"),
    Named("volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn", "gemm", "fp16"),
    Named("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn", "gemm", "bf16", "128x64"),
    Named("ampere_fp16_s16816gemm_fp16_64x64_ldg8_f2f_stages_64x5_tn", "gemm", "fp16", "64x64"),
    Named("sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x64x64_stage3_warpsize2x2x1", "gemm", "tf32", "64x64x64"),
    Named(
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel",
        "gemm",
        "bf16",
        "128x128x64",
    ),
    Named("sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize64x128x128_stage3", "gemm", "fp8", "64x128x128"),
    Named("sm80_xmma_gemm_i8i32_i8i32_i32_tn_n_tilesize256x128x128_stage3", "gemm", "int8", "256x128x128"),
    Named(
        "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_128x64_64x3_tn_align8>(Params)",
        "gemm",
        "bf16",
        "128x64_64x3",
    ),
    Named(
        "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4>(P)", "gemm", "tf32", "256x64_16x4"
    ),
    Named("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(P)", "gemm", "fp32", "128x32_8x5"),
    Named("cutlass_80_wmma_tensorop_f16_s161616gemm_f16_32x32_64x2_tn_align8", "gemm", "fp16"),
    Named("nvjet_tst_192x192_64x4_1x2_h_bz_coopA_NTN", "gemm", "bf16", "192x192_64x4"),
    Named("nvjet_hsh_128x128_64x6_2x1_v_bz_TNT", "gemm", "fp16", "128x128_64x6"),
    Named("nvjet_sm100_qqtst_128x256_128x6_2x1_2cta_v_bz_TNT", "gemm", "fp8", "128x256_128x6"),
    Named(
        "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, __nv_bfloat16, __nv_bfloat16, "
        "__nv_bfloat16, float, false, true, true, false, 7, false>(cublasGemvParamsEx<int>)",
        "gemm",
        "bf16",
    ),
    Named("void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false>(P)", "gemm", "fp32"),
    Named("void cublasLt::splitKreduce_kernel<32, 16, int, __nv_bfloat16, float>(P)", "gemm", "bf16"),
    Named("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_LDSB1", "gemm", "bf16", "256x192x64"),
    Named("Cijk_Alik_Bljk_SB_MT64x64x16_MI16x16x1_SN", "gemm", "fp32", "64x64x16"),
    Named("Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN", "gemm", "fp16", "128x128x32"),
    Named("Cijk_Alik_Bljk_F8BS_BH_UserArgs_MT256x256x128_MI16x16x1", "gemm", "fp8", "256x256x128"),
    Named("void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 7168u, 2048u, 1u, 64u, 128u, 128u>(float*)", "gemm", "fp8"),
    Named("bmm_E4m3_E4m3E4m3_Fp32_t128x8x512u2_s5_et64x8_m64x8x32_cga1x1x1_TN_transOut", "gemm", "fp8", "128x8x512"),
    Named("gemm_kernel_ping_pong", "gemm"),
    Named(
        "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, "
        "cutlass::gemm::collective::CollectiveMma<cutlass::bfloat16_t>>>(P)",
        "gemm",
        "bf16",
    ),
    Named("void marlin::Marlin<__nv_bfloat16, 1125899906843648l, 256, 1, 8, 8, false, 4>(int4 const*)", "gemm", "bf16"),
    Named("void vllm::gptq::gemm_half_q_half_gptq_4bit_kernel<true, 4>(__half const*)", "gemm", "fp16"),
    Named("void gemm_half_q_half_kernel<true, 4>(__half const*)", "gemm", "fp16"),
    Named("awq_gemm_kernel", "gemm"),
    Named("void kgemm_4bit_inference_naive<__nv_bfloat16, 128, 16>(int)", "gemm", "bf16"),
    Named("void tinygemm_m16n8k16_chunk_kernel<(anonymous namespace)::ALayout_RM<(KReductionType)0>>(void*)", "gemm"),
    Named("_w8a8_block_fp8_matmul", "gemm"),
    Named("mul_mat_vec_q", "gemm"),
    Named("void vllm::wvSplitK_hf_sml_<__hip_bfloat16, 64, 2, 16, 8, 4, 1>(int)", "gemm", "bf16"),
    Named("_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu", "moe", "bf16", "128x128x128"),
    Named("fused_moe_kernel", "moe"),
    Named("fused_moe_kernel_gptq_awq", "moe"),
    Named("void vllm::moe::topkGatingSoftmax<4, 128, 4, 16, 32, int>(float const*)", "moe"),
    Named("void vllm::moe::moe_align_block_size_kernel<int>(int const*)", "moe"),
    Named("void ck::kernel_moe_gemm_2lds<ck::GridwiseMoeGemm<bf16>>(P)", "moe"),
    Named("_ZN5aiter33fmoe_bf16_g1u1_vs_silu_1tg_32x512E", "moe"),
    Named("void moe::dev::routing::routingRenormalize::routingIndicesClusterKernel<K>(K)", "moe"),
    Named(
        "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cutlass::gemm::GroupProblemShape<int>, bf16>>(P)",
        "moe",
    ),
    Named(
        "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128>, false>(P)",
        "attention",
    ),
    Named("void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<128>>(P)", "attention"),
    Named(
        "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<cutlass::bfloat16_t>>>(P)",
        "attention",
        "bf16",
    ),
    Named("void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0, 2u>(P)", "attention"),
    Named("void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<1>>(P)", "attention"),
    Named("void flashinfer::PersistentVariableLengthMergeStatesKernel<8u, 16u>(P)", "attention"),
    Named("fmhaSm100aKernel_QkvE4m3OBfloat16HQk128HV128PagedKvDenseP64VarSeqQ128Kv128PersistentContext", "attention"),
    Named("kernel_unified_attention_2d", "attention"),
    Named("reduce_segments", "attention"),
    Named("void vllm::paged_attention_v2_kernel<unsigned short, unsigned short, 128, 16, 128>(float*)", "attention"),
    Named("void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16, __hip_bfloat16>(int)", "attention"),
    Named("attn_fwd", "attention"),
    Named("_fwd_grouped_kernel_stage1", "attention"),
    Named("_fwd_kernel_stage2", "attention"),
    Named("void vllm::merge_attn_states_kernel<__nv_bfloat16, 128u>(P)", "attention"),
    Named("void flash_fwd_splitkv_mla_kernel<Flash_fwd_kernel_traits_mla<576, 64, 64, 8>>(P)", "attention"),
    Named("_ZN5aiter33mla_dec_stage1_bf16_a16w16_subQ16E", "attention"),
    Named("fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel)", "attention"),
    Named("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_3_64x64x64_4x1x1_kernel0_0", "attention"),
    Named("void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16>(P)", "cache"),
    Named("void vllm::concat_and_cache_mla_kernel<__nv_bfloat16>(P)", "cache"),
    Named("store_kvcache_kernel", "cache"),
    Named("void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)", "rope"),
    Named("void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheHeadParallelismKernel<true>(P)", "rope"),
    Named("void vllm::rms_norm_kernel<c10::BFloat16>(P)", "norm"),
    Named("void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(P)", "norm"),
    Named("void vllm::fused_add_rms_norm_static_fp8_quant_kernel<c10::BFloat16, 8>(P)", "norm"),
    Named("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)", "norm"),
    Named("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELi8ELb0ELb0ELb1ELi1EEEvPT0_PT_PfS4_", "norm"),
    Named("_layer_norm_fwd_1pass_kernel", "norm"),
    Named("void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel<c10::BFloat16>, true>(P)", "activation"),
    Named("void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, &silu>(P)", "activation"),
    Named(VECTOR.format(SILU, SILU), "activation"),
    Named("void vllm::scaled_fp8_quant_kernel<c10::BFloat16, c10::Float8_e4m3fn>(P)", "quantize"),
    Named("_per_token_group_quant_fp8", "quantize"),
    Named("void kDequantizeBlockwise<__nv_bfloat16, 512, 64, 8, 2>(P)", "quantize"),
    Named("_selective_scan_update_kernel", "scan"),
    Named("_chunk_scan_fwd_kernel", "scan"),
    Named("fused_recurrent_gated_delta_rule_fwd_kernel", "scan"),
    Named("chunk_gated_delta_rule_fwd_kernel_h_blockdim64", "scan"),
    Named("_causal_conv1d_fwd_kernel", "convolution"),
    Named("igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8", "convolution", "bf16", "128x128x32"),
    Named("cudnn_infer_ampere_scudnn_128x64_relu_xregs_large_nn_v1", "convolution", "fp32"),
    Named("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "communication"),
    Named("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", "communication"),
    Named("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(P)", "communication"),
    Named("void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<2>(P)", "communication"),
    Named("void deep_ep::intranode::dispatch<8, 768, 8192>(int4*)", "communication"),
    Named("void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, false>(float*)", "softmax"),
    Named("void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float>(float*)", "softmax"),
    Named(
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>, unsigned int> >(P)",
        "sampling",
    ),
    Named("void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(P)", "sampling"),
    Named("void at_cuda_detail::cub::DeviceRadixSortOnesweepKernel<Policy>(P)", "sampling"),
    Named("void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u>(P)", "sampling"),
    Named(
        "void at::native::(anonymous namespace)::indexSelectLargeIndex<float, long, unsigned int, 2>(P)", "embedding"
    ),
    Named("void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<F>>(P)", "index"),
    Named("void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int)", "index"),
    Named("void at::native::(anonymous namespace)::CatArrayBatchedCopy<O, unsigned int, 4, 64, 64>(P)", "cat"),
    Named(VECTOR.format(BF16_MUL, BF16_MUL), "elementwise"),
    Named(COPY, "copy"),
    Named(
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float>, int> >(P)",
        "reduction",
    ),
    Named("Memcpy DtoD (Device -> Device)", "memcpy"),
    Named("CopyHostToDevice", "memcpy"),
    Named("Memset (Device)", "memset"),
    Named("triton_red_fused_add_mean_mul_pow_rsqrt_0", "norm"),
    Named("triton_poi_fused_mul_silu_0", "activation"),
    Named("triton_poi_fused_add_3", "elementwise"),
    Named("triton_poi_fused__to_copy_1", "copy"),
    Named("triton_tem_fused_addmm_7", "gemm"),
    Named("triton_per_fused__softmax_2", "softmax"),
    Named("triton_poi_fused_embedding_0", "embedding"),
    Named("triton_red_fused_sum_4", "reduction"),
    Named("frobnicate", "other"),
    Named("", "other"),
]


@pytest.mark.parametrize("expected", NAMES, ids=lambda n: n.name[:60])
def test_name_tells(expected: Named) -> None:
    found = recognise(expected.name)
    assert found.family == expected.family
    if expected.unit is not None:
        assert found.unit == expected.unit
    if expected.tile:
        assert found.tile == expected.tile


@pytest.mark.parametrize(
    ("name", "short"),
    [
        (VECTOR.format(BF16_MUL, BF16_MUL), "vectorized_elementwise_kernel[Mul]"),
        (COPY, "unrolled_elementwise_kernel[direct_copy]"),
        ("void vllm::rms_norm_kernel<c10::BFloat16>(c10::BFloat16*, float)", "vllm::rms_norm_kernel"),
        ("Memcpy DtoD (Device -> Device)", "Memcpy DtoD (Device -> Device)"),
        ("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELi8EEEvPT0_", "aiter::add_rmsnorm_quant_kernel"),
        ("_ZN7ck_tile6kentryILi2ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassE", "ck_tile::Rmsnorm2dFwd"),
        (
            "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_LDSB1",
            "Cijk_Alik_Bljk_BBS_BH_MT256x192x64",
        ),
        (
            "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(P)",
            "cutlass::Kernel2[cutlass_80_simt_sgemm_128x32_8x5_nn_align1]",
        ),
        ("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int>(P)", "internal::gemvx::kernel"),
        ("attn_fwd.kd", "attn_fwd"),
    ],
)
def test_short_name(name: str, short: str) -> None:
    assert recognise(name).short == short


def test_dtypes_and_library() -> None:
    product = recognise("Cijk_Alik_Bljk_BBS_BH_MT256x192x64_MI16x16x1")
    assert (product.library, product.dtypes) == ("tensile", ("bf16",))
    assert recognise("ampere_sgemm_128x64_tn").library == "cublas"
    assert recognise("nvjet_tst_192x192_64x4_1x2_h_bz_coopA_NTN").library == "cublas"
    assert recognise("void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>(P)").library == "flashinfer"


@given(st.text(max_size=60))
def test_any_text_is_a_name(name: str) -> None:
    found = recognise(name)
    assert found.family in get_args(Family)
    assert found.unit in (None, *get_args(Unit))


def test_the_table_knows_only_families_and_units_that_exist() -> None:
    table = json.loads(Path(kernel_names.__file__).with_name("kernel_names.json").read_text("utf-8"))
    families = {row[0] for row in table["families"]} | {row[0] for row in table["triton"]["words"]}
    assert families | set(table["triton"]["kinds"].values()) <= set(get_args(Family))
    assert {row[0] for row in table["units"]} <= set(get_args(Unit))

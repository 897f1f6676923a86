"""Traces of graph replays, laid out by hand: one engine span, one graph launch, and the kernels of a small decoder."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tracebuild import make_trace

from boundby.analyzers.analysis import Analysis, Phase
from boundby.analyzers.analyze import analyze_trace
from boundby.analyzers.trace import Header, Trace

EMBED = "void at::native::vectorized_gather_kernel<16, long>(char*)"
NORM = "void rms_norm_kernel<c10::BFloat16>(x)"
GEMM = "nvjet_tst_64x8_64x16_4x1_v_bz_TNT"
HEAD = "nvjet_tst_192x8_64x4_2x1_v_bz_TNT"
SPLIT = "void splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>(x)"
ROPE = "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(x)"
WRITE = "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>(x)"
ATTEND = "void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<64, 64, 256, 4>>(x)"
COMBINE = "void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<64, 64, 256, 4>>(x)"
ACT = "void vllm::act_and_mul_kernel<c10::BFloat16>(x)"
GROUPED = "fused_moe_kernel"
ROUTE = "void vllm::moe::topkGatingSoftmax<8, 8>(x)"
MYSTERY = "xyzzy"

BEFORE = (NORM, GEMM, ROPE, WRITE)
"""Input norm, q k v, rotation, cache write."""
AFTER = (ATTEND, COMBINE, GEMM, NORM, GEMM, ACT, GEMM)
"""Attention and its combination, output projection, norm, gate and up, activation, down."""
MIXTURE = (ATTEND, GEMM, NORM, GEMM, ROUTE, GROUPED, GROUPED)

DENSE = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_hidden_layers": 3,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "intermediate_size": 1024,
    "vocab_size": 4000,
    "tie_word_embeddings": False,
    "dtype": "bfloat16",
}
SPARSE = {**DENSE, "model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2}


def layers(n: int, after: Iterable[str] = AFTER, *, before: Iterable[str] = BEFORE) -> list[str]:
    """The names of a whole pass of `n` layers: embedding, layers, final norm, lm_head."""
    return [EMBED, *(tuple(before) + tuple(after)) * n, NORM, HEAD]


def replay(names: Iterable[str], *, batch: int = 4, context: int = 400, us: float = 10.0, **rest: Any) -> Trace:
    """One decode step of `batch` sequences, `context` tokens together, whose kernels take `us` each. `correlations`
    gives single kernels another launch, which `extra_launches` holds."""
    other = rest.pop("correlations", {})
    extra_launches = rest.pop("extra_launches", [])
    span = (
        f"execute_{batch}_context_0(sq0sk0sqsq0sqsk0)_generation_{batch}(sq{batch}sk{context}sqsq{batch}sqsk{context})"
    )
    each = int(us * 1e3)
    kernels = [
        {"name": name, "ts_ns": 10_000 + at * each, "dur_ns": each, "correlation": other.get(at, 1)}
        for at, name in enumerate(names)
    ]
    return make_trace(
        spans=[{"name": span, "ts_ns": 0, "dur_ns": 9_000}],
        launches=[*extra_launches, {"name": "cudaGraphLaunch", "ts_ns": 2_000, "dur_ns": 3_000, "correlation": 1}],
        kernels=kernels,
        header=Header(device_properties=({"name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85_000_000_000},)),
        **rest,
    )


def phase(trace: Trace, model: str | None) -> Phase:
    """The trace's only phase."""
    analysis: Analysis = analyze_trace(trace, model=model)
    (only,) = analysis.phases
    return only

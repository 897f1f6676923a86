"""Graph replays of real engines, with their models given and with nothing but the trace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from boundby.analyzers.analysis import Phase
from boundby.analyzers.analyze import analyze, analyze_trace
from boundby.analyzers.correlate import correlate
from boundby.analyzers.device_table import resolve_device
from boundby.analyzers.engines import find_steps
from boundby.analyzers.facts import from_config
from boundby.analyzers.graph_costs import explain_kernels
from boundby.analyzers.reading import read_trace
from boundby.analyzers.window import assign_steps
from boundby.analyzers.work import device_work

QWEN3_8B = {
    "model_type": "qwen3",
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "num_hidden_layers": 36,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
GPT_OSS_20B = {
    "model_type": "gpt_oss",
    "hidden_size": 2880,
    "intermediate_size": 2880,
    "num_hidden_layers": 24,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "vocab_size": 201088,
    "num_local_experts": 32,
    "num_experts_per_tok": 4,
    "sliding_window": 128,
    "layer_types": ["sliding_attention", "full_attention"] * 12,
    "attention_bias": True,
    "tie_word_embeddings": False,
    "quantization_config": {"quant_method": "mxfp4"},
    "torch_dtype": "bfloat16",
}
GPT_OSS_120B = {
    **GPT_OSS_20B,
    "num_hidden_layers": 36,
    "num_local_experts": 128,
    "layer_types": ["sliding_attention", "full_attention"] * 18,
}
DECODE, MIXED = "sglang-qwen3-8b-decode-mi300x.json.gz", "vllm-gptoss-mixed-mi300x.json.gz"


def only_phase(path: Path, config: dict[str, object] | None, tmp_path: Path) -> Phase:
    model = None
    if config is not None:
        model = str(tmp_path / "config.json")
        Path(model).write_text(json.dumps(config))
    (phase,) = analyze(str(path), model=model).phases
    return phase


@pytest.mark.parametrize(
    ("name", "config", "bound"), [(DECODE, QWEN3_8B, "bandwidth"), (MIXED, GPT_OSS_20B, "compute")]
)
def test_with_the_model_given_nine_tenths_of_the_time_have_costs(
    shared_traces: Path, tmp_path: Path, name: str, config: dict[str, object], bound: str
) -> None:
    phase = only_phase(shared_traces / name, config, tmp_path)
    assert phase.cost_coverage is not None
    assert phase.cost_coverage >= 0.90
    assert phase.bound == bound
    assert not any("taken to be" in said for said in phase.evidence)


@pytest.mark.parametrize(
    ("name", "model", "bound"), [(DECODE, "Qwen/Qwen3-8B", "bandwidth"), (MIXED, "openai/gpt-oss-20b", "compute")]
)
def test_with_nothing_but_the_trace_the_model_is_found_and_said(
    shared_traces: Path, tmp_path: Path, name: str, model: str, bound: str
) -> None:
    phase = only_phase(shared_traces / name, None, tmp_path)
    assert phase.cost_coverage is not None
    assert phase.cost_coverage >= 0.85
    assert phase.bound == bound
    assert any(f"taken to be {model}:" in said for said in phase.evidence)


def test_the_larger_gpt_oss_has_other_layers_and_is_refused(shared_traces: Path, tmp_path: Path) -> None:
    phase = only_phase(shared_traces / MIXED, GPT_OSS_120B, tmp_path)
    assert any("24 layers were seen where the model has 36" in said for said in phase.evidence)
    assert not any("(graph)" in row.name for row in phase.operators)


def test_a_decode_step_reads_all_parameters_but_the_embedding(shared_traces: Path) -> None:
    trace = read_trace(str(shared_traces / DECODE))
    linked, found = correlate(trace), find_steps(correlate(trace))
    work = device_work(linked)
    device, _ = resolve_device(trace.header, override=None, kernels=trace.kernels)
    owner = assign_steps(work, linked, found.steps)
    told = explain_kernels(work, linked, owner, found.steps, from_config(QWEN3_8B), device).work
    weights = sum(
        cost.weight_bytes
        for number in told.call.tolist()
        if number >= len(work.calls) and (cost := told.costs[number]) is not None and cost.family == "gemm"
    )
    # Published: 8.19e9 parameters, 6.95e9 of them without the two tables of 151,936 rows of 4,096; lm_head is read.
    without_embedding = 8_190_735_360 - 151_936 * 4096
    assert weights == pytest.approx(2 * without_embedding, rel=0.01)


def test_known_costs_keep_their_figures(shared_traces: Path) -> None:
    trace = read_trace(str(shared_traces / MIXED))
    (phase,) = analyze_trace(trace).phases
    head = next(row for row in phase.operators if row.name.endswith("unquantized_gemm"))
    # 46 tokens, [2880] to 201,088 logits.
    assert (head.flops, head.known_by) == (2 * 46 * 2880 * 201_088, "shapes")

"""Real traces, recorded by others on real hardware, and what a right analysis says of each.

The traces lie beside the project for its developers and its CI, not for users: without them these tests skip. The figures
were computed by an independent script from the definitions of docs/method.md.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from boundby.analyzers.analysis import Analysis, Phase
from boundby.analyzers.analyze import analyze
from boundby.analyzers.errors import EmptyTraceError


class Row(NamedTuple):
    file: str
    kind: str
    bound: str
    window_ms: float | None = None
    busy_ms: float | None = None
    busy_share: float | None = None


ROWS = [
    Row("hf-qwen1.5-0.5b-prefill-h100", "prefill", "bandwidth", 35.18, 31.91),
    Row("sglang-qwen3-8b-prefill-mi300x", "prefill", "compute", 493.5, 492.7),
    Row("sglang-qwen3-8b-decode-mi300x", "decode", "bandwidth", 10.37, 9.69),
    Row("vllm-gptoss-mixed-mi300x", "mixed", "compute", 156.5, 156.1),
    Row("inductor-block-mi300x", "unknown", "compute"),
    Row("switch-8batch", "prefill", "compute", 693, None, 0.807),
    Row("nanovllm-decode_gpu_0", "decode", "launch", None, None, 0.08),
    Row("tl-unit-elem_01_add_poor_bw", "unknown", "bandwidth"),
]


@cache
def _analysis(path: Path) -> Analysis:
    return analyze(path)


def _main(analysis: Analysis) -> Phase:
    return max(analysis.phases, key=lambda phase: phase.wall_us or 0.0)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.file)
def test_catalog_row(row: Row, shared_traces: Path) -> None:
    phase = _main(_analysis(shared_traces / f"{row.file}.json.gz"))
    assert (phase.kind, phase.bound) == (row.kind, row.bound), phase.evidence
    assert phase.wall_us is not None
    assert phase.busy_us is not None
    if row.window_ms is not None:
        assert phase.wall_us / 1e3 == pytest.approx(row.window_ms, rel=0.005)
    if row.busy_ms is not None:
        assert phase.busy_us / 1e3 == pytest.approx(row.busy_ms, rel=0.005)
    if row.busy_share is not None:
        assert phase.busy_us / phase.wall_us == pytest.approx(row.busy_share, abs=0.005)


def test_every_phase_of_every_trace_adds_up(shared_traces: Path) -> None:
    for path in sorted(shared_traces.glob("*.json.gz")):
        for phase in _analysis(path).phases:
            if phase.shares is None:
                assert phase.wall_us is None, path
                continue
            shares = [getattr(phase.shares, name) for name in phase.shares.__struct_fields__]
            assert sum(shares) == pytest.approx(1.0, abs=1e-9), path
            assert min(shares) >= 0, path
            assert phase.busy_us is not None
            assert phase.idle_us is not None
            assert phase.busy_us + phase.idle_us == pytest.approx(phase.wall_us, rel=1e-12), path
            launch = sum(phase.launch_causes.values())
            assert launch == pytest.approx(phase.shares.launch * phase.wall_us, rel=1e-6, abs=1e-3), path


def test_gpu_only_trace_says_that_ops_are_missing(shared_traces: Path) -> None:
    analysis = _analysis(shared_traces / "gpu-only-mi210.json.gz")
    phase = _main(analysis)
    assert phase.kind == "unknown"
    assert phase.wall_us is not None
    assert (phase.busy_us or 0) / phase.wall_us == pytest.approx(0.893, abs=0.005)
    assert "no-ops" in [w.code for w in analysis.trace.warnings]


@pytest.mark.parametrize(
    "file", ["nanovllm-decode10", "nanovllm-prefill", "zoology", "cpu-only", "old-schema-inference"]
)
def test_too_little_data_gives_no_label_and_no_busy_figure(file: str, shared_traces: Path) -> None:
    for phase in _analysis(shared_traces / f"{file}.json.gz").phases:
        assert (phase.bound, phase.busy_us, phase.shares) == ("unknown", None, None)
        assert phase.evidence


def test_launches_without_kernels_are_a_warning(shared_traces: Path) -> None:
    warnings = _analysis(shared_traces / "zoology.json.gz").trace.warnings
    assert "gpu-activity-missing" in [w.code for w in warnings]


def test_the_old_schema_has_its_four_kernels(shared_traces: Path) -> None:
    assert _analysis(shared_traces / "old-schema-inference.json.gz").trace.kernels == 4


def test_training_with_nccl_is_no_inference_and_communication_is_its_own_share(shared_traces: Path) -> None:
    analysis = _analysis(shared_traces / "nccl.json.gz")
    for phase in analysis.phases:
        assert phase.kind == "unknown"
        assert phase.shares is not None
        assert phase.shares.communication > 0
        assert any("not inference" in sentence for sentence in phase.evidence)


@pytest.mark.parametrize(
    ("file", "op", "count", "gflop", "tflops"),
    [
        ("hf-qwen1.5-0.5b-prefill-h100", "[8944,1024] [1024,2816]", 48, 51.58, 610.7),
        ("sglang-qwen3-8b-prefill-mi300x", "[15360,4096]", 36, 3092.4, 456.9),
        ("sglang-qwen3-8b-prefill-mi300x", "[15360,12288]", 36, 1546.2, 583.2),
        ("tl-unit-gemm_01_compute_few_tiles", "", 10, 34.36, 31.6),
    ],
)
def test_gemm_rates(file: str, op: str, count: int, gflop: float, tflops: float, shared_traces: Path) -> None:
    phase = _main(_analysis(shared_traces / f"{file}.json.gz"))
    rows = [r for r in phase.operators if r.family == "gemm" and op in r.shapes and r.flops]
    row = min(rows, key=lambda r: abs((r.flops or 0) / r.count / 1e9 - gflop))
    assert row.count == count
    assert (row.flops or 0) / row.count / 1e9 == pytest.approx(gflop, rel=0.001)
    assert row.achieved_tflops == pytest.approx(tflops, rel=0.005)


def test_a_short_attention_is_near_neither_roof(shared_traces: Path) -> None:
    (row,) = _main(_analysis(shared_traces / "tl-unit-sdpa_03_short_seq_overhead.json.gz")).operators
    assert row.time_us / row.count == pytest.approx(108, rel=0.01)
    assert (row.efficiency or 0) * row.time_us / row.count == pytest.approx(12.7, rel=0.02)


def test_the_fp32_trace_is_held_against_the_fp32_peak(shared_traces: Path) -> None:
    phase = _main(_analysis(shared_traces / "switch-8batch.json.gz"))
    (finding,) = [f for f in phase.findings if f.id == "fp32-matmul"]
    assert "tf32" in finding.advice.lower() or "bfloat16" in finding.advice
    assert phase.ridge == pytest.approx(19.5e12 / 1.935e12, rel=0.001)


ODD_LAUNCH_BOUND = [
    "00-control-valid.json",
    "01-windows-backslash.json",
    "02-unescaped-quotes.json",
    "05-invalid-utf8.json",
    "06-ts0-dur0-kernels.json",
    "08-bracket-in-traceName-last-key.json",
    "18-metadata-after-traceEvents.json",
    "24-gpu-annotation-on-two-streams-starts-before-kernel.json",
    "25-no-correlation-ids.json",
    "27-string-timestamps.json",
    "31-plain-json-named-gz.json.gz",
]


@pytest.mark.parametrize("file", ODD_LAUNCH_BOUND)
def test_odd_traces_say_what_the_undamaged_one_says(file: str, shared_traces: Path) -> None:
    phases = {phase.kind: phase for phase in _analysis(shared_traces / "odd" / file).phases}
    assert set(phases) == {"prefill", "decode"}
    assert (phases["prefill"].n_steps, phases["prefill"].query_tokens) == (1, 512)
    assert phases["decode"].n_steps == 3
    assert phases["decode"].bound == "launch"
    # One launch every 30 us: eleven intervals, the last kernel of a few us, and a lead-in.
    assert (phases["decode"].wall_us or 0) / 3 == pytest.approx(348, rel=0.06)


def test_a_trace_without_events_has_an_exit_code_of_its_own(shared_traces: Path) -> None:
    with pytest.raises(EmptyTraceError) as raised:
        analyze(shared_traces / "odd" / "22-empty-traceEvents.json")
    assert raised.value.exit_code == 4


@pytest.mark.parametrize("file", ["15-truncated.json", "16-truncated.json.gz"])
def test_a_cut_trace_gives_its_complete_events_and_says_so(file: str, shared_traces: Path) -> None:
    analysis = _analysis(shared_traces / "odd" / file)
    assert analysis.trace.kernels == 32
    assert "truncated" in [w.code for w in analysis.trace.warnings]

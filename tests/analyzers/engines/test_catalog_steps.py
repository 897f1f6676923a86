"""Kinds and token counts of the real traces' steps, as CATALOG.md beside them gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from boundby.analyzers.correlate import correlate
from boundby.analyzers.engines import find_steps
from boundby.analyzers.reading import read_trace
from boundby.analyzers.step import StepsFound, Tokens


def found(path: Path) -> StepsFound:
    return find_steps(correlate(read_trace(path)))


@pytest.mark.parametrize(
    ("file", "engine", "kind", "batch", "query", "context"),
    [
        ("hf-qwen1.5-0.5b-prefill-h100", "profiler-step", "prefill", 16, 8944, 8944),  # 16 x 559
        ("sglang-qwen3-8b-prefill-mi300x", "sglang", "prefill", 15, 15360, 15360),
        ("sglang-qwen3-8b-decode-mi300x", "sglang", "decode", 32, 32, 32785),
        ("vllm-gptoss-mixed-mi300x", "vllm", "mixed", 46, 8192, 42919),  # 9 + 37; 8430 + 34489
        ("switch-8batch", "shapes", "prefill", 8, 8192, 8192),  # 8 x 1024
        ("nanovllm-decode_gpu_0", "file-name", "decode", None, None, None),
        ("zoology", "shapes", "unknown", 64, 8192, None),
        ("inductor-block-mi300x", "none", "unknown", None, None, None),
        ("gpu-only-mi210", "none", "unknown", None, None, None),
        ("nanovllm-prefill", "none", "unknown", None, None, None),
        ("cpu-only", "none", "unknown", None, None, None),
        ("old-schema-inference", "none", "unknown", None, None, None),
        ("tl-unit-gemm_01_compute_few_tiles", "none", "unknown", None, None, None),
        ("tl-unit-elem_01_add_poor_bw", "none", "unknown", None, None, None),
        ("tl-unit-sdpa_03_short_seq_overhead", "none", "unknown", None, None, None),
    ],
)
def test_the_one_step_of_a_trace(
    file: str, engine: str, kind: str, batch: int | None, query: int | None, context: int | None, shared_traces: Path
) -> None:
    result = found(shared_traces / f"{file}.json.gz")
    (step,) = result.steps
    assert (result.engine, step.kind) == (engine, kind)
    assert (step.batch, step.query_tokens, step.context_tokens) == (batch, query, context)


def test_sums_of_the_outer_span_reach_sglangs_decode_step(shared_traces: Path) -> None:
    (step,) = found(shared_traces / "sglang-qwen3-8b-decode-mi300x.json.gz").steps
    assert step.label == "step[DECODE bs=32]"
    assert step.decode == Tokens(requests=32, q=32, k=32785, qk=32785, qq=32)


def test_training_steps_are_no_inference(shared_traces: Path) -> None:
    result = found(shared_traces / "nccl.json.gz")
    assert [step.kind for step in result.steps] == ["unknown"] * 3
    assert any("not inference" in note for note in result.notes)


@pytest.mark.parametrize(
    "file",
    [
        "00-control-valid.json",
        "01-windows-backslash.json",
        "02-unescaped-quotes.json",
        "05-invalid-utf8.json",
        "06-ts0-dur0-kernels.json",
        "08-bracket-in-traceName-last-key.json",
        "12-launches-but-no-kernels.json",
        "18-metadata-after-traceEvents.json",
        "24-gpu-annotation-on-two-streams-starts-before-kernel.json",
        "25-no-correlation-ids.json",
        "27-string-timestamps.json",
        "31-plain-json-named-gz.json.gz",
    ],
)
def test_a_prefill_and_three_decode_steps_in_spite_of_oddities(file: str, shared_traces: Path) -> None:
    steps = found(shared_traces / "odd" / file).steps
    assert [(s.kind, s.query_tokens) for s in steps] == [("prefill", 512), *[("decode", 1)] * 3]


@pytest.mark.parametrize("file", ["19-2021-old-categories-string-tid.json", "29-null-args.json"])
def test_labels_count_without_shapes(file: str, shared_traces: Path) -> None:
    steps = found(shared_traces / "odd" / file).steps
    assert [(s.kind, s.query_tokens) for s in steps] == [("prefill", None), *[("decode", None)] * 3]

"""Where nothing names the phases: frames, graphs, repetition, the file's name, and the honest end."""

from __future__ import annotations

import pytest
from tracebuild import Row, make_trace

from boundby.analyzers.correlate import correlate
from boundby.analyzers.engines import engine, engines, find_steps, span_grammar
from boundby.analyzers.engines.file_name import batch_and_input, kind_in
from boundby.analyzers.step import StepsFound


def found(**rows: object) -> StepsFound:
    return find_steps(correlate(make_trace(**rows)))  # type: ignore[arg-type]


def test_order_of_the_engines_is_the_documented_one() -> None:
    assert [e.name for e in engines()] == [
        "boundby",
        "serving",
        "annotations",
        "vllm-scopes",
        "lmdeploy",
        "profiler-step",
        "module-frames",
        "shapes",
        "file-name",
        "graph-replays",
        "periodic",
    ]


def test_a_name_cannot_be_registered_twice() -> None:
    with pytest.raises(ValueError, match="shapes"):
        engine("shapes", order=1)(lambda _: None)
    with pytest.raises(ValueError, match="vllm"):
        span_grammar("vllm", order=1)(lambda _: None)


def test_nothing_known_is_one_unknown_phase_with_the_reason() -> None:
    result = found(
        kernels=[{"ts_ns": 5_000}, {"ts_ns": 8_000, "dur_ns": 500}], ops=[{"name": "aten::mm", "ts_ns": 2_000}]
    )
    (step,) = result.steps
    assert (result.engine, step.kind, step.kernel_rows) == ("none", "unknown", (0, 2))
    assert (step.start_ns, step.end_ns) == (2_000, 8_500)
    assert len(result.notes) == 1


def test_an_empty_trace_has_one_empty_unknown_step() -> None:
    (step,) = found().steps
    assert (step.kind, step.start_ns, step.end_ns, step.kernel_rows) == ("unknown", 0, 0, None)


def test_training_steps_stay_apart_and_unknown() -> None:
    spans = [{"name": f"ProfilerStep#{n}", "ts_ns": n * 100, "dur_ns": 90} for n in (4, 5)]
    result = found(spans=[*spans, {"name": "Optimizer.step#SGD.step", "ts_ns": 420}])
    assert [(s.kind, s.label) for s in result.steps] == [("unknown", "ProfilerStep#4"), ("unknown", "ProfilerStep#5")]
    assert any("not inference" in note for note in result.notes)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("1757000000.123-TP-0-DECODE.trace.json.gz", "decode"),
        ("/tmp/run-1757000000-TP-1-DP-0-EXTEND.trace.json.gz", "prefill"),
        ("C:\\traces\\bench_batch8_input512_output16_prefill.trace.json.gz", "prefill"),
        ("nanovllm-decode10.json", "decode"),
        ("https://host/decode.json?x=prefill", "decode"),
        ("/runs/decode/1757000000.1-TP-0.trace.json.gz", None),
        ("prefill-and-decode.json", None),
        ("decoder-block.json", None),
        ("extend.json", None),
    ],
)
def test_kind_in_a_file_name(path: str, kind: str | None) -> None:
    assert kind_in(path) == kind


def test_the_benchmarks_file_name_gives_batch_and_prompt() -> None:
    path = "sg_batch8_input512_output16_prefill.trace.json.gz"
    assert batch_and_input(path) == (8, 512)
    (step,) = found(kernels=[{"ts_ns": 0}], path=path).steps
    assert (step.kind, step.batch, step.query_tokens) == ("prefill", 8, 4096)


def test_a_file_name_says_nothing_of_a_trace_without_work() -> None:
    assert [s.kind for s in found(launches=[{"name": "cudaDeviceSynchronize"}], path="prefill.json").steps] == [
        "unknown"
    ]


LAYER = ["gemm_tn", "flash_fwd_splitkv_kernel", "gemm_tn", "add_rmsnorm"]


def sequence(names: list[str], start_ns: int, *, pause_ns: int = 0) -> list[Row]:
    return [{"name": name, "ts_ns": start_ns + pause_ns + n * 1_000, "dur_ns": 900} for n, name in enumerate(names)]


def step_kernels(attention: str = "flash_fwd_splitkv_kernel") -> list[str]:
    layer = [attention if "flash" in name else name for name in LAYER]
    return ["vectorized_gather_kernel", *layer, *layer, "lm_head_gemm", "reduce_kernel<ArgMaxOps>"]


def loop(steps: list[list[str]], pause_ns: int = 5_000) -> list[Row]:
    rows: list[Row] = []
    for names in steps:
        start = rows[-1]["ts_ns"] + 1_000 if rows else 0
        rows += sequence(names, start, pause_ns=pause_ns if rows else 0)
    return rows


def test_repeats_of_a_step_are_decode_where_the_attention_kernel_says_so() -> None:
    prompt = ["vectorized_gather_kernel", *["big_gemm", "flash_fwd_kernel"] * 2, "reduce_kernel<ArgMaxOps>"]
    result = found(kernels=loop([prompt, *[step_kernels()] * 4]))
    assert result.engine == "periodic"
    assert [(s.kind, s.kernel_rows) for s in result.steps] == [
        ("unknown", (0, 6)),
        ("decode", (6, 17)),
        ("decode", (17, 28)),
        ("decode", (28, 39)),
        ("decode", (39, 50)),
    ]


def test_repeats_without_a_telling_attention_kernel_are_steps_of_unknown_kind() -> None:
    result = found(kernels=loop([step_kernels("flash_fwd_kernel")] * 4))
    assert result.engine == "periodic"
    assert [s.kind for s in result.steps] == ["unknown"] * 4


def test_layers_of_one_forward_are_not_steps() -> None:
    names = ["vectorized_gather_kernel", *LAYER * 12, "lm_head_gemm", "reduce_kernel<ArgMaxOps>"]
    result = found(kernels=loop([names]))
    assert (result.engine, [s.kernel_rows for s in result.steps]) == ("none", [(0, 51)])


def test_repeats_of_one_op_are_not_steps() -> None:
    assert found(kernels=loop([["gemm_tn"]] * 10)).engine == "none"


def test_replays_of_a_whole_model_graph_are_steps() -> None:
    launches, kernels = [], []
    for n in range(3):
        start = n * 50_000
        launches.append({"name": "cudaGraphLaunch", "ts_ns": start, "dur_ns": 4_000, "correlation": n})
        kernels += [{**row, "correlation": n} for row in sequence(["paged_attention_v1", "gemm"] * 2, start + 9_000)]
    result = found(launches=launches, kernels=kernels)
    assert result.engine == "graph-replays"
    assert [(s.kind, s.start_ns, s.end_ns) for s in result.steps] == [
        ("decode", 0, 50_000),
        ("decode", 50_000, 100_000),
        ("decode", 100_000, 104_000),
    ]


def test_piecewise_graphs_are_not_steps() -> None:
    launches = [{"name": "cudaGraphLaunch", "ts_ns": n * 1_000, "correlation": n} for n in range(4)]
    kernels = [{"name": "gemm", "ts_ns": 9_000 + n * 1_000, "correlation": n} for n in range(4)]
    assert found(launches=launches, kernels=kernels).engine == "none"


UTILS = "transformers/generation/utils.py"
MODEL = "transformers/models/llama/modeling_llama.py"


def frame(name: str, start_us: int, end_us: int) -> Row:
    return {"name": name, "ts_ns": start_us * 1_000, "dur_ns": (end_us - start_us) * 1_000}


def test_hugging_face_frames_tell_prompt_from_decode() -> None:
    frames = [
        frame(f"{UTILS}(2668): _sample", 5, 100),
        frame(f"{UTILS}(3700): _prefill", 10, 30),
        frame(f"{MODEL}(500): forward", 12, 28),
        frame(f"{MODEL}(400): forward", 13, 27),  # the model inside the causal-LM wrapper
        frame(f"{MODEL}(500): forward", 40, 50),
        frame(f"{MODEL}(500): forward", 60, 70),
    ]
    result = found(frames=[frame("main.py(1): main", 0, 110), *frames])
    assert result.engine == "module-frames"
    assert [(s.kind, s.start_ns // 1_000, s.end_ns // 1_000) for s in result.steps] == [
        ("prefill", 12, 28),
        ("decode", 40, 50),
        ("decode", 60, 70),
    ]


def test_a_loop_cut_by_the_captures_start_does_not_begin_with_a_prompt() -> None:
    frames = [
        frame(f"{UTILS}(2668): _sample", 0, 100),
        frame(f"{MODEL}(500): forward", 40, 50),
        frame(f"{MODEL}(500): forward", 60, 70),
    ]
    assert [s.kind for s in found(frames=frames).steps] == ["unknown", "decode"]


def test_functions_named_for_a_phase() -> None:
    frames = [
        frame("generate.py(66): prefill", 0, 10),
        frame("generate.py(76): decode_one_token", 20, 30),
        frame("tokenization_utils.py(5): decode", 40, 50),
        frame("<built-in method decode of bytes object at 0xb380a8>", 60, 70),
    ]
    assert [s.kind for s in found(frames=frames).steps] == ["prefill", "decode"]

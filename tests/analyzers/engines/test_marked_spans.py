"""Which of an engine's spans are steps."""

from __future__ import annotations

from modelops import forward_ops
from tracebuild import Row, make_trace

from boundby.analyzers.correlate import correlate
from boundby.analyzers.engines import find_steps
from boundby.analyzers.step import StepsFound, Tokens


def found(spans: list[Row], **rows: list[Row]) -> StepsFound:
    return find_steps(correlate(make_trace(spans=spans, **rows)))


OUTER = "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)"


def test_inner_span_is_the_step_and_takes_the_sums_of_the_outer_one() -> None:
    result = found(
        [
            {"ts_ns": 0, "dur_ns": 100_000, "name": OUTER},
            {"ts_ns": 60_000, "dur_ns": 30_000, "name": "step[DECODE bs=32]"},
        ]
    )
    (step,) = result.steps
    assert result.engine == "sglang"
    assert (step.start_ns, step.end_ns, step.kind, step.batch) == (60_000, 90_000, "decode", 32)
    assert step.decode == Tokens(requests=32, q=32, k=32785, qk=32785, qq=32)
    assert (step.query_tokens, step.context_tokens) == (32, 32785)


def test_outer_sums_are_not_taken_for_another_kind_of_step() -> None:
    result = found(
        [
            {"ts_ns": 0, "dur_ns": 100_000, "name": OUTER},
            {"ts_ns": 60_000, "dur_ns": 30_000, "name": "step[EXTEND bs=32 toks=64]"},
        ]
    )
    assert [(s.kind, s.query_tokens, s.context_tokens) for s in result.steps] == [("prefill", 64, None)]


def test_two_inner_steps_do_not_both_take_the_outer_sums() -> None:
    result = found(
        [
            {"ts_ns": 0, "dur_ns": 100_000, "name": OUTER},
            {"ts_ns": 10_000, "dur_ns": 30_000, "name": "step[DECODE bs=32]"},
            {"ts_ns": 60_000, "dur_ns": 30_000, "name": "step[DECODE bs=32]"},
        ]
    )
    assert [s.context_tokens for s in result.steps] == [None, None]


def test_draft_steps_are_apart_from_the_verification_that_takes_the_sums() -> None:
    outer = "execute_8_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq8sk400sqsq32sqsk1600)"
    result = found(
        [
            {"ts_ns": 0, "dur_ns": 100_000, "name": outer},
            {"ts_ns": 10_000, "dur_ns": 10_000, "name": "step[DRAFT bs=2]"},
            {"ts_ns": 60_000, "dur_ns": 30_000, "name": "step[VERIFY bs=2]"},
        ]
    )
    assert [(s.kind, s.draft, s.query_tokens, s.context_tokens) for s in result.steps] == [
        ("unknown", True, None, None),
        ("verify", False, 8, 400),
    ]


def test_repeats_on_the_gpu_track_count_once() -> None:
    name = "step[DECODE bs=4]"
    result = found(
        [
            {"ts_ns": 0, "dur_ns": 50_000, "name": name},
            {"ts_ns": 20_000, "dur_ns": 50_000, "name": name, "on_device": True, "tid": 7},
            {"ts_ns": 21_000, "dur_ns": 50_000, "name": name, "on_device": True, "tid": 13},
        ]
    )
    assert [(s.start_ns, s.end_ns) for s in result.steps] == [(0, 50_000)]


def test_gpu_track_alone_gives_steps_by_device_time() -> None:
    name = "step[DECODE bs=4]"
    result = found(
        [
            {"ts_ns": 20_000, "dur_ns": 50_000, "name": name, "on_device": True, "tid": 7},
            {"ts_ns": 21_000, "dur_ns": 54_000, "name": name, "on_device": True, "tid": 13},
            {"ts_ns": 90_000, "dur_ns": 50_000, "name": name, "on_device": True, "tid": 7},
        ],
        kernels=[{"ts_ns": ts} for ts in (1_000, 20_000, 74_000, 80_000, 95_000)],
    )
    assert [s.kernel_rows for s in result.steps] == [(1, 3), (4, 5)]


def test_steps_of_several_threads_stand_side_by_side_in_time_order() -> None:
    result = found(
        [
            {"ts_ns": 5_000, "dur_ns": 50_000, "name": "step[EXTEND bs=1 toks=9]", "tid": 1},
            {"ts_ns": 0, "dur_ns": 100_000, "name": "step[DECODE bs=4]", "tid": 0},
        ]
    )
    assert [(s.kind, s.tid) for s in result.steps] == [("decode", 0), ("prefill", 1)]


def test_our_own_spans_outrank_an_engine_inside_them() -> None:
    result = found(
        [
            {"ts_ns": 0, "dur_ns": 100_000, "name": "boundby.step[decode b=1 q=1 k=9 i=0]"},
            {"ts_ns": 60_000, "dur_ns": 30_000, "name": "step[DECODE bs=1]"},
        ]
    )
    assert result.engine == "boundby"
    assert [(s.start_ns, s.context_tokens) for s in result.steps] == [(0, 10)]


def test_capture_of_graphs_is_no_phase_even_beside_shapes() -> None:
    result = found(
        [{"ts_ns": 0, "dur_ns": 100_000, "name": "capture_4_FULL"}], ops=forward_ops(1_000, query=4, context=4)
    )
    assert (result.engine, result.steps[0].kind, result.steps[0].query_tokens) == ("vllm", "unknown", 4)


def test_vllm_request_counts_are_corrected_by_the_ids_of_the_embedding() -> None:
    ids = {"name": "aten::embedding", "ts_ns": 1_000, "dims": ((1000, 64), (2048,), (), (), ())}
    result = found([{"ts_ns": 0, "dur_ns": 100_000, "name": "execute_new_0_cached_1"}], ops=[ids])
    assert [(s.kind, s.batch, s.query_tokens) for s in result.steps] == [("unknown", 1, 2048)]


def test_vllm_scopes_bound_steps_of_unknown_kind() -> None:
    parts = [("Preprocess", 0), ("Forward", 10), ("Sample", 20), ("Preprocess", 40), ("Forward", 50), ("Bookkeep", 60)]
    result = found([{"ts_ns": ts * 1_000, "dur_ns": 5_000, "name": name} for name, ts in parts])
    assert result.engine == "vllm-scopes"
    assert [(s.kind, s.start_ns, s.end_ns) for s in result.steps] == [
        ("unknown", 0, 25_000),
        ("unknown", 40_000, 65_000),
    ]


def test_lmdeploy_scheduling_hints_at_the_next_forward() -> None:
    parts = [("schedule_prefill", 0), ("forward_eager", 10), ("schedule_decoding", 20), ("forward_eager", 30)]
    result = found([{"ts_ns": ts * 1_000, "dur_ns": 5_000, "name": name} for name, ts in parts])
    assert (result.engine, [s.kind for s in result.steps]) == ("lmdeploy", ["prefill", "decode"])

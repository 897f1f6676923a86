"""Forward passes told by shapes: what is a prefill, what only looks like one."""

from __future__ import annotations

from modelops import VOCABULARY, WIDTH, forward_ops
from tracebuild import Row, make_trace

from boundby.analyzers.correlate import correlate
from boundby.analyzers.engines import find_steps
from boundby.analyzers.step import StepsFound, Tokens


def found(*passes: list[Row], spans: list[Row] | None = None, path: str = "trace.json") -> StepsFound:
    ops = [row for ops in passes for row in ops]
    return find_steps(correlate(make_trace(ops=ops, spans=spans or [], path=path)))


def kinds(result: StepsFound) -> list[tuple[str, int | None, int | None]]:
    return [(s.kind, s.query_tokens, s.context_tokens) for s in result.steps]


def test_prompt_and_decode_steps_by_new_and_cached_tokens() -> None:
    result = found(
        forward_ops(0, batch=2, query=40, context=40),
        forward_ops(10_000, batch=2, query=1, context=41),
        forward_ops(20_000, batch=2, query=1, context=42),
    )
    assert result.engine == "shapes"
    assert kinds(result) == [("prefill", 80, 80), ("decode", 2, 82), ("decode", 2, 84)]
    assert result.steps[0].prefill == Tokens(requests=2, q=80, k=80, qk=3200, qq=3200)
    assert result.steps[2].decode == Tokens(requests=2, q=2, k=84, qk=84, qq=2)


def test_a_forward_lasts_until_the_next_embedding() -> None:
    result = found(forward_ops(0, query=8, context=8), forward_ops(10_000, query=1, context=9))
    # The last op of the second forward, its sixth, ends half a microsecond after it began.
    assert [(s.start_ns, s.end_ns) for s in result.steps] == [(0, 10_000), (10_000, 15_500)]


def test_what_the_host_does_after_reading_the_token_belongs_to_the_next_step() -> None:
    read = {"name": "aten::_local_scalar_dense", "ts_ns": 7_000, "dur_ns": 1_000}
    result = found(forward_ops(0, query=8, context=8), [read], forward_ops(10_000, query=1, context=9))
    assert [(s.start_ns, s.end_ns) for s in result.steps] == [(0, 8_000), (8_000, 15_500)]


def test_a_large_chunk_behind_a_cache_is_prefill() -> None:
    result = found(
        forward_ops(0, query=80, context=80),
        forward_ops(10_000, query=80, context=160),
        forward_ops(20_000, query=40, context=200),
        forward_ops(30_000, query=1, context=201),
    )
    assert kinds(result) == [("prefill", 80, 80), ("prefill", 80, 160), ("prefill", 40, 200), ("decode", 1, 201)]


def test_thrown_away_tokens_give_a_verification_away() -> None:
    # Five tokens are run behind 100; of them three are kept, so the next forward starts behind 103.
    result = found(forward_ops(0, query=5, context=105), forward_ops(10_000, query=1, context=104))
    assert kinds(result) == [("verify", 5, 105), ("decode", 1, 104)]


def test_a_few_tokens_behind_a_cache_stay_unknown_without_evidence() -> None:
    result = found(forward_ops(0, query=5, context=105))
    assert kinds(result) == [("unknown", 5, 105)]
    assert any("cannot be told" in note for note in result.notes)


def test_a_narrower_model_beside_a_verification_is_the_draft_model() -> None:
    result = found(
        forward_ops(0, query=1, context=101, width=32),
        forward_ops(10_000, query=5, context=105),
        forward_ops(20_000, query=1, context=104, width=32),
    )
    assert [(s.kind, s.draft) for s in result.steps] == [("unknown", True), ("verify", False), ("unknown", True)]


def test_positions_beside_the_token_ids_start_no_second_forward() -> None:
    ops = forward_ops(1_000, query=8, context=8)
    positions = {"name": "aten::embedding", "dims": ((512, WIDTH), (1, 8), (), (), ()), "ts_ns": 0}
    assert kinds(found([positions, *ops])) == [("prefill", 8, 8)]


def test_a_small_table_amid_the_layers_starts_no_forward() -> None:
    ops = forward_ops(0, query=8, context=8)
    bias = {"name": "aten::embedding", "dims": ((32, 4), (8, 8), (), (), ()), "ts_ns": 1_700}
    assert kinds(found([*ops, bias])) == [("prefill", 8, 8)]


def test_sliding_layers_do_not_shorten_the_context() -> None:
    result = found(forward_ops(0, query=1, context=0, contexts=(16, 200)))
    assert kinds(result) == [("decode", 1, 200)]


def test_grouped_heads_folded_into_rows_are_one_new_token() -> None:
    ops = forward_ops(0, batch=2, query=1, context=41)
    for row in ops:
        if "attention" in row["name"]:
            row["dims"] = ((2, 2, 2, 16), (2, 2, 41, 16), (2, 2, 41, 16), (), (), (), (), ())
    assert kinds(found(ops)) == [("decode", 2, 82)]


def test_attention_to_later_tokens_is_no_prefill() -> None:
    result = found(forward_ops(0, query=40, context=40, causal=False))
    assert kinds(result) == [("unknown", 40, 40)]
    assert any("encoder" in note for note in result.notes)


def test_a_masked_forward_without_a_head_is_no_prefill() -> None:
    ops = forward_ops(0, query=40, context=40, causal=False, head=False)
    for row in ops:
        if "attention" in row["name"]:
            row["dims"] = (*row["dims"][:3], (1, 1, 40, 40), *row["dims"][4:])
    assert [s.kind for s in found(ops).steps] == ["unknown"]


def test_a_mask_with_one_row_for_all_tokens_hides_padding_only() -> None:
    ops = forward_ops(0, query=40, context=40, causal=False)
    for row in ops:
        if "attention" in row["name"]:
            row["dims"] = (*row["dims"][:3], (1, 1, 1, 40), *row["dims"][4:])
    assert [s.kind for s in found(ops).steps] == ["unknown"]


def test_cross_attention_is_an_encoder_decoder() -> None:
    result = found(
        forward_ops(0, query=1, context=0, contexts=(1, 40)), forward_ops(10_000, query=1, context=0, contexts=(2, 40))
    )
    assert [s.kind for s in result.steps] == ["unknown", "unknown"]
    assert any("encoder-decoder" in note for note in result.notes)


def test_unfused_attention_shows_its_lengths_in_the_softmax() -> None:
    rows: list[Row] = [
        {"name": "aten::embedding", "dims": ((VOCABULARY, WIDTH), (2, 8), (), (), ())},
        {"name": "aten::bmm", "dims": ((8, 8, 16), (8, 16, 8))},
        {"name": "aten::masked_fill", "dims": ((2, 4, 8, 8), (8, 8), ())},
        {"name": "aten::_softmax", "dims": ((2, 4, 8, 8), (), ())},
        {"name": "aten::mm", "dims": ((16, WIDTH), (WIDTH, VOCABULARY))},
    ]
    masked = [{**row, "ts_ns": n * 1_000, "dur_ns": 500} for n, row in enumerate(rows)]
    assert kinds(found(masked)) == [("prefill", 16, 16)]
    unmasked = [row for row in masked if row["name"] != "aten::masked_fill"]
    assert [s.kind for s in found(unmasked).steps] == ["unknown"]


def test_without_attention_several_tokens_are_not_named() -> None:
    ops = [row for row in forward_ops(0, batch=64, query=128, context=128) if "attention" not in row["name"]]
    result = found(ops)
    assert kinds(result) == [("unknown", 8192, None)]


def test_backward_passes_forbid_a_guess() -> None:
    backward = {"name": "autograd::engine::evaluate_function: MmBackward0", "ts_ns": 9_000}
    result = found([*forward_ops(0, query=40, context=40), backward])
    assert [s.kind for s in result.steps] == ["unknown"]
    assert any("not inference" in note for note in result.notes)


def test_profiler_step_with_one_forward_is_the_step() -> None:
    span = {"name": "ProfilerStep#6", "ts_ns": 0, "dur_ns": 90_000}
    result = found(forward_ops(20_000, batch=16, query=559, context=559), spans=[span])
    (step,) = result.steps
    assert result.engine == "profiler-step"
    assert (step.kind, step.start_ns, step.end_ns, step.batch, step.query_tokens) == ("prefill", 0, 90_000, 16, 8944)
    assert step.tid is None


def test_profiler_step_around_a_loop_gives_its_forwards() -> None:
    span = {"name": "ProfilerStep#6", "ts_ns": 0, "dur_ns": 90_000}
    result = found(forward_ops(20_000, query=8, context=8), forward_ops(40_000, query=1, context=9), spans=[span])
    assert kinds(result) == [("prefill", 8, 8), ("decode", 1, 9)]


def test_label_around_a_loop_gives_its_forwards_with_the_labels_kind() -> None:
    span = {"name": "decode", "ts_ns": 0, "dur_ns": 90_000}
    result = found(forward_ops(20_000, query=1, context=9), forward_ops(40_000, query=1, context=10), spans=[span])
    assert result.engine == "annotations"
    assert kinds(result) == [("decode", 1, 9), ("decode", 1, 10)]


def test_label_around_a_loop_is_cut_at_the_embeddings_where_shapes_are_missing() -> None:
    names = ["aten::embedding", "aten::embedding", "aten::mm", "aten::mm"] * 3  # ids and positions, then the layers
    ops = [{"name": name, "ts_ns": 20_000 + n * 1_000, "dur_ns": 500} for n, name in enumerate(names)]
    result = found(ops, spans=[{"name": "decode", "ts_ns": 0, "dur_ns": 90_000}])
    assert [(s.kind, s.start_ns, s.end_ns) for s in result.steps] == [
        ("decode", 0, 24_000),
        ("decode", 24_000, 28_000),
        ("decode", 28_000, 90_000),
    ]


def test_a_label_under_which_the_host_starts_nothing_is_other_work() -> None:
    spans = [{"name": "decode", "ts_ns": 90_000, "dur_ns": 5_000}]
    assert kinds(found(forward_ops(0, query=8, context=8), spans=spans)) == [("prefill", 8, 8)]


def test_a_label_that_the_shapes_rule_out_is_corrected_and_noted() -> None:
    span = {"name": "decode", "ts_ns": 0, "dur_ns": 90_000}
    result = found(forward_ops(20_000, query=8, context=8), forward_ops(40_000, query=1, context=9), spans=[span])
    assert kinds(result) == [("prefill", 8, 8), ("decode", 1, 9)]
    assert any("names a decode step" in note for note in result.notes)


def test_a_labelled_step_without_embedding_takes_lengths_from_attention() -> None:
    span = {"name": "prefill", "ts_ns": 0, "dur_ns": 90_000}
    result = found(forward_ops(20_000, query=512, context=512)[1:], spans=[span])
    assert kinds(result) == [("prefill", 512, 512)]
    assert result.steps[0].prefill == Tokens(requests=1, q=512, k=512, qk=262144, qq=262144)

"""Each engine's span names, as its sources write them, and names that look like them and are not."""

from __future__ import annotations

import pytest

from boundby.analyzers.engines import annotations, boundby, grammars, sglang, tensorrt_llm, vllm
from boundby.analyzers.engines.mark import SpanMark
from boundby.analyzers.step import Tokens


def test_vllm_detailed_form_gives_the_sums_over_both_parts() -> None:
    mark = vllm.parse("execute_515_context_1(sq512sk512sqsq262144sqsk262144)_generation_3(sq3sk900sqsq3sqsk900)")
    assert mark == SpanMark(
        kind="mixed",
        batch=4,
        query_tokens=515,
        context_tokens=1412,
        prefill=Tokens(requests=1, q=512, k=512, qk=262144, qq=262144),
        decode=Tokens(requests=3, q=3, k=900, qk=900, qq=3),
    )


@pytest.mark.parametrize(
    ("name", "kind", "batch", "query"),
    [
        ("execute_context_2(700)_generation_0(0)", "prefill", 2, 700),
        ("execute_context_0(0)_generation_8(8)", "decode", 8, 8),
        ("execute_context_1(512)_generation_3(3)", "mixed", 4, 515),
        ("execute_context_0(0)_generation_8(32)", "verify", 8, 32),  # three drafts beside each request's token
        ("execute_context_0(0)_generation_2(4000)", "mixed", 2, 4000),  # recomputed after preemption
        ("execute_new_2_cached_0", "prefill", 2, None),
        ("execute_new_0_cached_5", "decode", 5, None),
        ("execute_new_1_cached_5", "mixed", 6, None),
        ("capture_256_FULL", "unknown", None, 256),
        ("capture_8_PIECEWISE", "unknown", None, 8),
    ],
)
def test_vllm_forms(name: str, kind: str, batch: int | None, query: int | None) -> None:
    mark = vllm.parse(name)
    assert mark is not None
    assert (mark.kind, mark.batch, mark.query_tokens) == (kind, batch, query)


def test_vllm_request_counts_admit_that_a_chunk_looks_like_decode() -> None:
    decode = vllm.parse("execute_new_0_cached_5")
    assert decode is not None
    assert decode.note == vllm.CACHED_MAY_BE_CHUNKS


def test_vllm_step_without_requests_is_a_dummy_run() -> None:
    mark = vllm.parse("execute_context_0(0)_generation_0(0)")
    assert mark is not None
    assert (mark.kind, mark.note) == ("unknown", vllm.DUMMY)


@pytest.mark.parametrize(
    ("name", "kind", "batch", "query", "draft"),
    [
        ("step[EXTEND bs=1 toks=1000]", "prefill", 1, 1000, False),
        ("step[SPLIT_PREFILL bs=2 toks=600]", "prefill", 2, 600, False),
        ("step[DECODE bs=32]", "decode", 32, 32, False),
        ("step[MIXED bs=5 toks=516]", "mixed", 5, 516, False),
        ("step[TARGET_VERIFY bs=4]", "verify", 4, None, False),
        ("step[VERIFY bs=4 toks=16]", "verify", 4, 16, False),
        ("step[IDLE bs=0]", "unknown", 0, None, False),
        ("step[PREBUILT bs=3]", "unknown", 3, None, False),
        ("step[DLLM_EXTEND bs=1 toks=32]", "unknown", 1, 32, False),
        ("step[DRAFT bs=4]", "unknown", 4, None, True),
        ("step[DRAFT_EXTEND_V2 bs=4]", "unknown", 4, None, True),
        ("step[DRAFT_LOOP raw_bs=3 bs=4 topk=1]", "unknown", 3, None, True),
        ("step[NEW_MODE bs=2]", "unknown", 2, None, False),
    ],
)
def test_sglang_modes(name: str, kind: str, batch: int, query: int | None, draft: bool) -> None:
    mark = sglang.parse(name)
    assert mark is not None
    assert (mark.kind, mark.batch, mark.query_tokens, mark.draft) == (kind, batch, query, draft)


@pytest.mark.parametrize(
    "name",
    [
        "step[DECODE bs=32 g_sq=32 g_sqsq=32 g_sqsk=9000 g_sk=9000 forward_id=12]",
        "step[DECODE forward_id=12 g_sk=9000 g_sqsk=9000 bs=32 g_sqsq=32 g_sq=32]",
    ],
)
def test_sglang_details_count_in_any_order(name: str) -> None:
    mark = sglang.parse(name)
    assert mark is not None
    assert mark.decode == Tokens(requests=32, q=32, k=9000, qk=9000, qq=32)
    assert (mark.query_tokens, mark.context_tokens) == (32, 9000)


def test_sglang_mixed_details_tell_the_parts() -> None:
    mark = sglang.parse(
        "step[MIXED bs=5 toks=516 c_sq=512 c_sqsq=262144 c_sqsk=300000 c_sk=600 g_sq=4 g_sqsq=4 g_sqsk=800 g_sk=800]"
    )
    assert mark is not None
    assert mark.prefill == Tokens(requests=1, q=512, k=600, qk=300000, qq=262144)
    assert mark.decode == Tokens(requests=4, q=4, k=800, qk=800, qq=4)
    assert (mark.query_tokens, mark.context_tokens) == (516, 1400)


@pytest.mark.parametrize(
    ("name", "kind", "batch", "query"),
    [
        ("[Executor] _forward_step: 1 ctx reqs, 0 gen reqs", "prefill", 1, None),
        ("[Executor] _forward_step 17: 2 ctx reqs, 512 ctx tokens, 0 gen reqs", "prefill", 2, 512),
        ("[Executor] _forward_step 17: 1 ctx reqs, 512 ctx tokens, 3 gen reqs", "mixed", 4, None),
        ("[Executor] _forward_step 18: 0 ctx reqs, 3 gen reqs", "decode", 3, None),
    ],
)
def test_tensorrt_llm_forms(name: str, kind: str, batch: int, query: int | None) -> None:
    mark = tensorrt_llm.parse(name)
    assert mark is not None
    assert (mark.kind, mark.batch, mark.query_tokens) == (kind, batch, query)


def test_our_own_chunk_is_a_prefill_behind_a_cache() -> None:
    mark = boundby.parse("boundby.step[chunk b=2 q=256 k=512 i=1]")
    assert mark is not None
    assert (mark.kind, mark.batch, mark.query_tokens, mark.context_tokens) == ("prefill", 2, 512, 1536)
    assert mark.prefill == Tokens(requests=2, q=512, k=1536, qk=393216, qq=131072)  # 2 x 256 x 768, 2 x 256 x 256


@pytest.mark.parametrize(
    "name",
    [
        "execute_model",
        "execute_context_1(512)",
        "execute_context_1(512)_generation_3",
        "capture_256_HALF",
        "step[decode bs=1]",
        "step[DECODE bs=1",
        "step 3",
        "scheduler.run_batch",
        "gpu_model_runner: forward",
        "schedule_prefill",
        "ProfilerStep#6",
        "prefill",
        "my [Executor] _forward_step: 1 ctx reqs, 0 gen reqs",
    ],
)
def test_other_names_are_no_engine_steps(name: str) -> None:
    assert [engine for engine, parse in grammars().items() if parse(name) is not None] == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("prefill", "prefill"),
        ("Prefill", "prefill"),
        ("decode_1", "decode"),
        ("decode step 3", "decode"),
        ("decode_batch", "decode"),
        ("prefill_batch", "prefill"),
        ("mixed_batch", "mixed"),
        ("phase: decode", "decode"),
        ("verify_step", "verify"),
        ("extend batch 3", "prefill"),
    ],
)
def test_labels_that_people_write(name: str, kind: str) -> None:
    mark = annotations.parse(name)
    assert mark is not None
    assert mark.kind == kind


@pytest.mark.parametrize(
    "name",
    [
        "schedule_prefill",
        "tokenizer.decode",
        "image decode",
        "decoder_layer",
        "decode_image",
        "StepInputs.merge_prefill",
        "detokenize",
        "verify",
        "mixed",
        "## forward ##",
        "model_inference",
        "forward(bs=4)",
        "loss=3 past=2",
    ],
)
def test_names_of_other_work_are_no_labels(name: str) -> None:
    assert annotations.parse(name) is None


@pytest.mark.parametrize(
    ("name", "kind", "query", "context"),
    [
        ("forward(bs=4, q_len=1, kv_len=1024)", "decode", 4, 4096),
        ("forward bs=2 q_len=512 past=0", "prefill", 1024, 1024),
        ("step q_tokens=8 context_tokens=800 batch=2", "unknown", 8, 800),  # a chunk, drafts, or a mix
        ("decode bs=8 kv_len=100", "decode", None, 800),
        ("q_len=1 kv_len=64", "unknown", None, None),  # of how many sequences?
    ],
)
def test_labels_that_state_lengths(name: str, kind: str, query: int | None, context: int | None) -> None:
    mark = annotations.parse(name)
    assert mark is not None
    assert (mark.kind, mark.query_tokens, mark.context_tokens) == (kind, query, context)

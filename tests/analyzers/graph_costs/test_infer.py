"""A model is taken to be a known one only where exactly one fits all that the trace shows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest
from graphreplay import AFTER, BEFORE, COMBINE, DENSE, GEMM, SPLIT, layers, replay

from boundby.analyzers.correlate import correlate
from boundby.analyzers.device import Device
from boundby.analyzers.engines import find_steps
from boundby.analyzers.facts import ModelFacts, from_config
from boundby.analyzers.graph_costs.evidence import Evidence, evidence_of
from boundby.analyzers.graph_costs.fit import fit
from boundby.analyzers.graph_costs.infer import infer_model, off_line
from boundby.analyzers.graph_costs.known import known_models
from boundby.analyzers.graph_costs.order import Named, layer_starts
from boundby.analyzers.graph_costs.passes import passes_of
from boundby.analyzers.kernel_names import recognise
from boundby.analyzers.trace import Trace
from boundby.analyzers.window import assign_steps
from boundby.analyzers.work import Work, device_work

DEVICE = Device(name="a device", kind="cuda", bandwidth_gb_s=1000.0)
SMALL = from_config(DENSE, name="small")
LARGE = msgspec.structs.replace(SMALL, name="large", hidden=1024, ffn=8192)
"""Heads, layers and vocabulary of SMALL: told apart by its products alone."""
SEEN = Evidence(layers=3, vocabulary=4000, kv_heads=2, head_dim=64)


def parts(trace: Trace) -> tuple[Work, Any]:
    linked = correlate(trace)
    work, steps = device_work(linked), find_steps(linked).steps
    (sequence,) = passes_of(work, assign_steps(work, linked, steps), steps)
    return work, sequence


def timed(work: Work, facts: ModelFacts, *, fixed: float = 5e3, rate: float = 1e3) -> Work:
    """The work with each product's time on a line: `fixed` ns and 1 ns for `rate` bytes of this model's weights."""
    _, sequence = parts(replay(layers(3)))
    time = work.time.copy()
    roles = fit(work, sequence, SEEN, facts, Device(name="", kind="cuda")).roles
    weights = {
        "qkv_proj": facts.hidden * 768,
        "o_proj": 512 * facts.hidden,
        "gate_up_proj": 2 * facts.hidden * facts.ffn,
        "down_proj": facts.ffn * facts.hidden,
        "lm_head": facts.hidden * facts.vocab,
    }
    for row, role in zip(sequence.passes[0].rows.tolist(), roles, strict=True):
        if role is not None and role.operator in weights:
            time[row] = int(fixed + 2 * weights[role.operator] / rate)
    return with_times(work, time)


def with_times(work: Work, time: np.ndarray[Any, Any]) -> Work:
    return dataclasses.replace(work, time=time)


def inferred(work: Work, sequence: Any, seen: Evidence, models: Sequence[ModelFacts]) -> str | None:
    told = infer_model(work, sequence, seen, DEVICE, models=models)
    return None if told is None else told[0].facts.name


def test_a_recorded_product_tells_models_of_equal_heads_apart() -> None:
    work, sequence = parts(replay(layers(3)))
    seen = msgspec.structs.replace(SEEN, products=frozenset([(512, 4000)]))
    assert inferred(work, sequence, seen, (SMALL, LARGE)) == "small"


@pytest.mark.parametrize("facts", [SMALL, LARGE])
def test_times_on_a_models_line_tell_it_from_its_like(facts: ModelFacts) -> None:
    work, sequence = parts(replay(layers(3)))
    assert inferred(timed(work, facts), sequence, SEEN, (SMALL, LARGE)) == facts.name


def test_times_on_no_line_tell_nothing() -> None:
    work, sequence = parts(replay(layers(3)))  # every kernel takes the same time
    assert inferred(work, sequence, SEEN, (SMALL, LARGE)) is None
    halved = with_times(work, np.where(np.arange(len(work)) % 2, work.time // 3, work.time))
    assert inferred(halved, sequence, SEEN, (LARGE,)) is None


def test_two_models_of_one_shape_tell_nothing() -> None:
    work, sequence = parts(replay(layers(3)))
    twin = msgspec.structs.replace(SMALL, name="twin")
    assert inferred(timed(work, SMALL), sequence, SEEN, (SMALL, twin)) is None


def test_layers_alone_are_not_enough() -> None:
    work, sequence = parts(replay(layers(3)))
    assert inferred(timed(work, SMALL), sequence, Evidence(layers=3), (SMALL,)) is None


def test_many_tokens_do_not_stream_weights() -> None:
    work, sequence = parts(replay(layers(3), batch=128))
    found = fit(work, sequence, SEEN, SMALL, DEVICE)
    assert off_line(work, sequence, found) is None


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        ({"layers": 4}, "4 layers"),
        ({"kv_heads": 8}, "8 KV heads"),
        ({"ratio": 8}, "8 query heads per KV head"),
        ({"vocabulary": 5000}, "logits of 5000"),
        ({"cache_row": 192}, "192 bytes of keys"),
        ({"mixture": True}, "experts"),
        ({"qk_norm": True}, "norms of queries"),
        ({"dtypes": frozenset(["fp8"])}, "another width"),
    ],
)
def test_anything_seen_that_the_model_lacks_speaks_against_it(seen: dict[str, Any], why: str) -> None:
    assert SEEN.against(SMALL) is None
    assert why in str(msgspec.structs.replace(SEEN, **seen).against(SMALL))


def test_a_padded_vocabulary_and_a_cache_of_one_byte_fit() -> None:
    assert msgspec.structs.replace(SEEN, vocabulary=4096, cache_row=128).against(SMALL) is None


ROCM = (
    "void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16, __hip_bfloat16, (vllm::Fp8KVCacheDataType)0, 1, "
    "128, 256, false, 4, 1, ck_tile::ComposedAttention<0u, false> >(x)"
)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (ROCM, {"head_dim": 128, "ratio": 4}),
        ("void (anonymous namespace)::store_kvcache<2048l, 4, false, long>(x)", {"cache_row": 2048}),
        (COMBINE, {"head_dim": 64}),
        ("fmhaSm100aKernel_QkvBfloat16OBfloat16H128PagedKvCausal", {"head_dim": 128}),
    ],
)
def test_template_arguments_tell_sizes(name: str, told: dict[str, int]) -> None:
    kernels = [Named(recognise(n), n) for n in (GEMM, name, GEMM, name)]
    seen = evidence_of(kernels, layer_starts(kernels), ())
    assert {k: getattr(seen, k) for k in ("head_dim", "ratio", "cache_row") if getattr(seen, k)} == told


def test_norms_before_attention_are_seen_in_every_layer() -> None:
    def seen(names: Sequence[str]) -> bool:
        kernels = [Named(recognise(n), n) for n in names]
        return evidence_of(kernels, layer_starts(kernels), ()).qk_norm

    normed = (*BEFORE[:2], SPLIT, BEFORE[0], *BEFORE[2:])
    assert seen(layers(2, AFTER, before=normed))
    assert not seen(layers(2))


def test_known_models_have_their_published_parameters() -> None:
    billions = {facts.name.split("/")[1]: facts.parameters / 1e9 for facts in known_models()}
    # Model cards: 8.2 B and 32.8 B, 30.5 B, 8.03 B and 70.6 B, 46.7 B, 20.9 B and 116.8 B, 671 B.
    published = {
        "Qwen3-8B": 8.19,
        "Qwen3-32B": 32.8,
        "Qwen3-30B-A3B": 30.5,
        "Llama-3.1-8B": 8.03,
        "Llama-3.1-70B": 70.6,
    }
    published |= {"Mixtral-8x7B-v0.1": 46.7, "gpt-oss-20b": 20.9, "gpt-oss-120b": 116.8, "DeepSeek-V3": 671.0}
    for name, size in published.items():
        assert billions[name] == pytest.approx(size, rel=0.002), name
    assert len(billions) == len(known_models())

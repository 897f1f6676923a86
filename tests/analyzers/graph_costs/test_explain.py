"""Costs of replayed kernels: from the model's sizes and the span's tokens, only where nothing speaks against them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from graphreplay import (
    ACT,
    AFTER,
    ATTEND,
    BEFORE,
    DENSE,
    GEMM,
    MIXTURE,
    MYSTERY,
    NORM,
    ROPE,
    SPARSE,
    WRITE,
    layers,
    phase,
    replay,
)

from boundby.analyzers.analysis import OperatorRow, Phase
from boundby.analyzers.facts import from_config
from boundby.analyzers.predict.parts import Workload, parts_of_step


@pytest.fixture
def model(tmp_path: Path) -> Any:
    def write(config: dict[str, Any]) -> str:
        path = tmp_path / "config.json"
        path.write_text(json.dumps(config))
        return str(path)

    return write


def rows(phase: Phase) -> dict[str, OperatorRow]:
    return {row.name: row for row in phase.operators}


def test_products_and_attention_have_the_costs_of_the_model(model: Any) -> None:
    found = rows(phase(replay(layers(3)), model(DENSE)))
    qkv, attention, head = (found[f"{name} (graph)"] for name in ("qkv_proj", "attention", "lm_head"))
    # 3 layers of [4,512] x [512,768]: 2 * 4 * 512 * 768 FLOPs; weights, inputs and outputs of 2 bytes.
    assert (qkv.count, qkv.flops, qkv.bytes) == (3, 9_437_184, 3 * 2 * (512 * 768 + 4 * (512 + 768)))
    # 400 query-key pairs, 8 heads, 64 + 64 wide; the cache of 2 KV heads, queries and outputs.
    assert (attention.count, attention.flops) == (3, 3 * 2 * 8 * 128 * 400)
    assert attention.bytes == pytest.approx(3 * 2 * (400 * 2 * 128 + 2 * 4 * 8 * 64))
    assert (head.count, head.flops, head.bytes) == (1, 2 * 4 * 512 * 4000, 2 * (512 * 4000 + 4 * (512 + 4000)))
    assert (qkv.known_by, attention.known_by, head.known_by) == ("model", "span", "model")
    assert (qkv.part, found["down_proj (graph)"].part, head.part) == ("attention", "mlp", "lm_head")
    # 8.2 kB of attention's traffic in its two kernels of 10 us each: the roof over all of their time.
    assert attention.efficiency == pytest.approx(attention.bytes / 3.35e12 / 60e-6, rel=0.01)


@pytest.mark.parametrize(("config", "after"), [(DENSE, AFTER), (SPARSE, MIXTURE)])
def test_a_phase_adds_up_to_the_closed_form(model: Any, config: dict[str, Any], after: tuple[str, ...]) -> None:
    found = rows(phase(replay(layers(3, after)), model(config)))
    closed = parts_of_step(from_config(config), Workload.decode(4, 100))
    told = {"experts": ("experts_up", "experts_down")}
    for part in closed:
        mine = [found[f"{name} (graph)"] for name in told.get(part.name, (part.name,))]
        assert sum(row.bytes or 0 for row in mine) == pytest.approx(part.bytes), part.name
        if part.part in ("attention", "lm_head", "moe") or part.name.endswith("proj"):
            assert sum(row.flops or 0 for row in mine) == pytest.approx(part.flops), part.name


def test_what_the_order_does_not_name_stays_unknown(model: Any) -> None:
    after = (*AFTER, MYSTERY)
    row = rows(phase(replay(layers(3, after)), model(DENSE)))[MYSTERY]
    assert (row.count, row.flops, row.bytes, row.known_by) == (3, None, None, "none")


def test_a_model_of_other_sizes_prices_nothing_and_says_so(model: Any) -> None:
    told = phase(replay(layers(3)), model({**DENSE, "num_hidden_layers": 4}))
    assert told.cost_coverage == 0
    assert "3 layers were seen where the model has 4" in " ".join(told.evidence)


def test_ranks_that_exchange_data_price_nothing(model: Any) -> None:
    after = (ATTEND, GEMM, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", NORM, GEMM, ACT, GEMM)
    told = phase(replay(layers(3, after)), model(DENSE))
    assert not any("(graph)" in row.name for row in told.operators)
    assert "a rank's share of the weights is unknown" in " ".join(told.evidence)


def test_weights_that_could_not_be_read_in_the_time_price_nothing(model: Any) -> None:
    # lm_head of 8 GB in 10 us.
    told = phase(replay(layers(3)), model({**DENSE, "vocab_size": 8_000_000}))
    assert told.cost_coverage == 0
    assert "can't be read in the time" in " ".join(told.evidence)


def test_no_model_that_fits_is_no_model() -> None:
    assert phase(replay(layers(3)), None).cost_coverage == 0


def recorded(m: int, k: int, n: int, at: int) -> dict[str, Any]:
    """An eager product with its shapes, whose kernel runs first in the step."""
    return {"name": "aten::mm", "ts_ns": at, "dur_ns": 500, "dims": ((m, k), (k, n)), "types": ("c10::BFloat16",) * 2}


@pytest.mark.parametrize(("width", "fits"), [(768, True), (1024, False)])
def test_recorded_products_must_have_the_models_sizes(model: Any, width: int, fits: bool) -> None:
    trace = eager_first_product(width)
    told = phase(trace, model(DENSE))
    found = rows(told)
    # The recorded product keeps the cost of its shapes, whatever the model says.
    assert found["aten::mm"].flops == 2 * 4 * 512 * width
    assert ("down_proj (graph)" in found) == fits
    if fits:
        assert found["qkv_proj (graph)"].count == 2


def eager_first_product(width: int) -> Any:
    trace = replay(
        [*BEFORE[:1], *layers(3)[2:]],
        ops=[recorded(4, 512, width, 1_000)],
        extra_launches=[{"name": "cudaLaunchKernel", "ts_ns": 1_100, "dur_ns": 100, "correlation": 9}],
        correlations={1: 9},
    )
    assert trace.kernels["name"][1] == GEMM
    return trace


def test_steps_of_one_shape_share_a_row_and_keep_their_own_contexts(model: Any) -> None:
    one = rows(phase(replay(layers(3), context=400), model(DENSE)))["attention (graph)"]
    two = rows(phase(replay(layers(3), context=800), model(DENSE)))["attention (graph)"]
    assert two.flops == 2 * (one.flops or 0)


def test_names_and_writes_are_told_by_the_tokens_alone(model: Any) -> None:
    found = rows(phase(replay(layers(3)), model(DENSE)))
    # q and k of 8 + 2 heads are read and written, with a position and a row of the table for each of 4 tokens.
    assert found["rope (graph)"].bytes == 3 * (2 * 4 * 10 * 64 * 2 + 4 * (8 + 64 * 2))
    # keys and values of 2 heads are read and written at 2 bytes, with a slot of 8 bytes.
    assert found["kv_write (graph)"].bytes == 3 * (4 * 2 * 128 * (2 + 2) + 4 * 8)
    assert {ROPE, WRITE}.isdisjoint(found)

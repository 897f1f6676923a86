"""The predictor against published numbers: the scaling book, CS336 lecture 10, and closed forms worked out here."""

from __future__ import annotations

import pytest

from boundby.analyzers.device import Device
from boundby.analyzers.device_table import find_device
from boundby.analyzers.facts import from_config
from boundby.analyzers.predict import (
    ReferenceModel,
    Workload,
    critical_batch,
    memory_of,
    parts_of_step,
    predict_step,
    step_time,
)
from boundby.analyzers.predict.forecast import Forecast, forecast_facts, forecast_numbers
from boundby.analyzers.predict.parts import experts_touched
from boundby.tracer.configs import RANDOM_CONFIGS

V5E = 1.97e14


def quiz(batch: int) -> Forecast:
    """The scaling book's quiz: 30 B parameters in int8, bf16 arithmetic, 8,192 tokens of 100 kB, 16 v5e chips."""
    return forecast_numbers(
        params=30e9,
        weight_bytes=30e9,
        kv_bytes_per_token=100e3,
        unit="bf16",
        device=find_device("tpu-v5e"),
        devices=16,
        phase="decode",
        batch=batch,
        prompt=1,
        context=8192,
    )


def test_quiz_at_batch_4_is_bandwidth_bound_at_2_5_ms() -> None:
    told = quiz(4)
    assert told.wall_us / 1e3 == pytest.approx(2.5, abs=0.1)
    assert (told.bound, told.parts[0].bound) == ("bandwidth", "bandwidth")


def test_quiz_at_batch_256_has_a_compute_bound_mlp_and_reads_the_cache_for_77_per_cent_of_21_ms() -> None:
    told = quiz(256)
    parts = {part.part: part for part in told.parts}
    assert told.wall_us / 1e3 == pytest.approx(21.0, abs=0.2)
    assert (parts["mlp"].bound, parts["kv"].bound, told.bound) == ("compute", "bandwidth", "bandwidth")
    assert parts["kv"].share == pytest.approx(0.769, abs=0.003)
    assert told.fits


def test_quiz_at_batch_276_does_not_fit() -> None:
    assert quiz(276).bound == "capacity"
    assert quiz(275).max_batch == 275


@pytest.mark.parametrize(
    ("bandwidth", "batch", "ms"),
    [(8.1e11, 4, 2.5677), (8.2e11, 4, 2.5363), (8.1e11, 256, 21.0548), (8.2e11, 256, 20.8575)],
)
def test_step_time_with_either_bandwidth_the_book_uses(bandwidth: float, batch: int, ms: float) -> None:
    model = ReferenceModel(params=30e9, weight_bytes=30e9, kv_bytes_per_token=100e3)
    step = step_time(model, batch=batch, tokens=1, context=8192, flops_per_s=16 * V5E, bytes_per_s=16 * bandwidth)
    assert step.seconds * 1e3 == pytest.approx(ms, abs=5e-5)


@pytest.mark.parametrize(
    ("batch", "kv", "ms", "tokens"),
    [(1, 6.7e9, 4.98, 200.61), (64, 6.7e9, 69.33, 923.13), (8, 1.34e9, 5.60, 1429.19), (240, 1.34e9, 52.99, 4529.34)],
)
def test_llama_2_13b_on_eight_v5e(batch: int, kv: float, ms: float, tokens: float) -> None:
    model = ReferenceModel(params=13e9, weight_bytes=26e9, kv_bytes_per_token=kv)
    step = step_time(model, batch=batch, tokens=1, context=1, flops_per_s=1e30, bytes_per_s=8 * 8.2e11)
    assert step.seconds * 1e3 == pytest.approx(ms, abs=0.01)
    assert batch / step.seconds == pytest.approx(tokens, rel=1e-4)


@pytest.mark.parametrize(
    ("batch", "kv", "fits"), [(8, 6.7e9, True), (16, 6.7e9, False), (64, 1.34e9, True), (240, 1.34e9, False)]
)
def test_llama_2_13b_fits_or_not(batch: int, kv: float, fits: bool) -> None:
    assert memory_of(weight_bytes=26e9, kv_bytes_per_token=kv, batch=batch, context=1, capacity=128e9).fits is fits


def test_llama_3_70b_in_int8_takes_17_ms_on_eight_chips() -> None:
    model = ReferenceModel(params=70e9, weight_bytes=70e9, kv_bytes_per_token=160e3)
    step = step_time(model, batch=32, tokens=1, context=8192, flops_per_s=1e30, bytes_per_s=8 * 8.1e11)
    assert step.seconds * 1e3 == pytest.approx(17.28, abs=0.02)


@pytest.mark.parametrize(
    ("batch", "kv_heads", "ms", "tokens"),
    [(1, 40, 8.0208, 124.68), (64, 40, 23.796, 2689.5), (64, 8, 9.974, 6416.7), (256, 8, 19.590, 13068.2)],
)
def test_cs336_latency_is_memory_over_bandwidth(batch: int, kv_heads: int, ms: float, tokens: float) -> None:
    facts = from_config(
        {
            "hidden_size": 5120,
            "intermediate_size": 13824,
            "num_hidden_layers": 40,
            "num_attention_heads": 40,
            "num_key_value_heads": kv_heads,
            "vocab_size": 32000,
        }
    )
    held = 2 * (facts.linear_parameters + facts.embedding_parameters) + batch * 1024 * facts.kv_bytes_per_token
    assert held / 3.35e12 * 1e3 == pytest.approx(ms, rel=1e-3)
    assert batch / (held / 3.35e12) == pytest.approx(tokens, rel=1e-3)


@pytest.mark.parametrize(
    ("flops", "bandwidth", "each", "batch"),
    [
        (1.97e14, 8.20e11, 2, 240.24),
        (1.97e14, 8.20e11, 1, 120.12),
        (3.94e14, 8.1e11, 1, 243.2),
        (1e15, 3.35e12, 2, 298.5),
    ],
)
def test_critical_batches(flops: float, bandwidth: float, each: float, batch: float) -> None:
    assert critical_batch(flops_per_s=flops, bytes_per_s=bandwidth, bytes_per_weight=each) == pytest.approx(
        batch, abs=0.1
    )


def test_h100s_critical_batch_lies_between_280_and_300() -> None:
    told = forecast_facts(from_config(RANDOM_CONFIGS["llama-8b"]), find_device("h100-sxm"), batch=1, context=512)
    assert 280 <= told.critical_batch <= 300


LLAMA_8B = from_config(RANDOM_CONFIGS["llama-8b"])
H100 = find_device("h100-sxm")


def bounds(phase: str, batch: int, tokens: int) -> dict[str, str]:
    told = forecast_facts(LLAMA_8B, H100, phase=phase, batch=batch, prompt=tokens, context=tokens)
    return {part.part: part.bound for part in told.parts}


def test_a_long_prefill_is_compute_bound_and_a_short_one_streams_weights() -> None:
    assert bounds("prefill", 1, 4096)["gate_up_proj"] == "compute"
    assert bounds("prefill", 1, 4096)["attention"] == "compute"
    assert bounds("prefill", 1, 32)["gate_up_proj"] == "bandwidth"


def test_batching_turns_the_mlp_and_never_decode_attention() -> None:
    assert bounds("decode", 1, 2048)["gate_up_proj"] == "bandwidth"
    assert bounds("decode", 1024, 2048)["gate_up_proj"] == "compute"
    for batch in (1, 64, 1024):
        assert bounds("decode", batch, 2048)["attention"] == "bandwidth"


def test_textbook_intensities() -> None:
    told = forecast_facts(LLAMA_8B, H100, phase="prefill", batch=1, prompt=2048)
    parts = {part.part: part for part in told.parts}
    assert parts["attention"].textbook_intensity == 1024.0
    assert parts["gate_up_proj"].textbook_intensity == 2048.0
    decode = {p.part: p for p in forecast_facts(LLAMA_8B, H100, batch=8, context=2048).parts}
    assert decode["attention"].textbook_intensity == pytest.approx(0.9995, abs=5e-5)
    assert decode["gate_up_proj"].textbook_intensity == 8.0


def test_a_prefills_flops_are_two_per_weight_and_token_plus_causal_attention() -> None:
    n = 512
    parts = {p.name: p for p in parts_of_step(LLAMA_8B, Workload.prefill(1, n))}
    layers, d, f = 32, 4096, 14336
    assert parts["qkv_proj"].flops == 2 * n * d * (d + 2 * 1024) * layers
    assert parts["gate_up_proj"].flops == 2 * n * d * 2 * f * layers
    assert parts["down_proj"].flops == 2 * n * d * f * layers
    assert parts["attention"].flops == 4 * 128 * 32 * (n * (n + 1) / 2) * layers
    assert parts["lm_head"].flops == 2 * d * 128256


def test_a_decode_step_reads_all_weights_and_the_cache_once() -> None:
    parts = parts_of_step(LLAMA_8B, Workload.decode(4, 1000))
    read = sum(p.weight_bytes for p in parts if p.name not in ("embedding", "norm"))
    assert read == 2 * LLAMA_8B.linear_parameters
    assert sum(p.kv_bytes for p in parts) == 4 * 1000 * 32 * 2 * 1024 * 2


def test_two_of_eight_experts_for_one_token_and_nearly_all_for_many() -> None:
    assert experts_touched(8, 2, 1) == pytest.approx(2.0)
    assert experts_touched(8, 2, 2) == pytest.approx(8 * (1 - 0.75**2))
    assert experts_touched(8, 2, 100) == pytest.approx(8.0)


def test_a_device_without_figures_predicts_nothing() -> None:
    assert predict_step(LLAMA_8B, Device(name="?", kind="cuda"), Workload.decode(1, 1)) is None

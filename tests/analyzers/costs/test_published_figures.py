"""Single products and quizzes with figures that others published."""

from __future__ import annotations

import pytest
from costcalls import BF16, FP32, INT8, T, call

from boundby.analyzers.costs import Cost, cost_of
from boundby.analyzers.costs.communication import wire_bytes
from boundby.analyzers.costs.memory import copied, filled
from boundby.analyzers.costs.moe import touched


def _cost(*args: object) -> Cost:
    cost = cost_of(call(*args))  # type: ignore[arg-type]
    assert cost is not None
    return cost


@pytest.mark.parametrize(
    ("m", "k", "n", "gflop"), [(8944, 1024, 2816, 51.58), (15360, 4096, 24576, 3092), (15360, 12288, 4096, 1546)]
)
def test_products_of_recorded_steps(m: int, k: int, n: int, gflop: float) -> None:
    assert _cost("aten::mm", T([m, k], BF16), T([k, n], BF16)).flops / 1e9 == pytest.approx(gflop, rel=0.0005)


@pytest.mark.parametrize(("tokens", "intensity"), [(8, 8), (1024, 1024)])
def test_the_intensity_of_a_wide_product_is_its_batch(tokens: int, intensity: float) -> None:
    """2 B D F over 2 B D + 2 D F + 2 B F nears B where D and F are much larger."""
    width = 1 << 20
    cost = _cost("aten::mm", T([tokens, width], BF16), T([width, width], BF16))
    assert cost.flops / cost.bytes == pytest.approx(intensity, rel=0.003)


def test_attention_intensity_of_a_prompt_of_2048_and_of_one_token() -> None:
    """S T / (S + T) without the causal cut: 1024 for S = T = 2048, 0.9995 for one token behind 2048 keys."""
    name = "aten::scaled_dot_product_attention"
    q, one = T([1, 32, 2048, 128], BF16), T([1, 32, 1, 128], BF16)
    prompt = _cost(name, q, q, q, None, 0.0, False, None, False)
    token = _cost(name, one, q, q, None, 0.0, False, None, False)
    assert prompt.flops / prompt.bytes == 1024
    assert token.flops / token.bytes == pytest.approx(2048 / 2049)


def test_notebook_prefill_and_decode_attention() -> None:
    """32 heads of 128, 2048 tokens: 34.36 GFLOP causal over 83.9 MB for Q, K, V and scores is another count of bytes; the
    FLOPs agree up to the diagonal."""
    q = T([1, 32, 2048, 128], BF16)
    cost = _cost("aten::_scaled_dot_product_flash_attention", q, q, q, 0.0, True, False, None)
    assert cost.flops == pytest.approx(34.36e9, rel=0.001)


def test_int8_weights_with_bf16_activations_halve_the_bytes_that_matter() -> None:
    cost = _cost("aten::_weight_int8pack_mm", T([1, 4096], BF16), T([4096, 4096], INT8), T([4096], BF16))
    assert cost.unit == "bf16"
    assert cost.weight_bytes == 4096 * 4096


def test_an_fp32_product_is_judged_by_fp32() -> None:
    assert _cost("aten::mm", T([8, 8], FP32), T([8, 8], FP32)).unit == "fp32"


@pytest.mark.parametrize(
    ("collective", "sent", "received"),
    [
        ("allreduce", 1200, 1200),
        ("allreduce_coalesced", 1200, 1200),
        ("_allgather_base", 600, 600),
        ("allgather_into_tensor_coalesced", 600, 600),
        ("_reduce_scatter_base", 600, 600),
        ("all_to_allv", 600, 600),
        ("broadcast", 800, 800),
        ("send", 800, 0),
        ("recv", 0, 800),
        ("barrier", 0, 0),
    ],
)
def test_wire_bytes_of_four_ranks_and_800_bytes(collective: str, sent: float, received: float) -> None:
    assert wire_bytes(collective, 800, 4) == (sent, received)


def test_one_rank_sends_nothing() -> None:
    assert wire_bytes("allreduce", 800, 1) == (0, 0)


def test_experts_touched() -> None:
    assert touched(8, 2, 1) == pytest.approx(2)
    assert touched(128, 8, 1) == pytest.approx(8)
    # Two tokens, half of the experts each: a quarter is missed.
    assert touched(4, 2, 2) == pytest.approx(3)
    assert touched(8, 2, 10_000) == pytest.approx(8)


def test_copies_and_fills_by_kind() -> None:
    assert copied(100, "Memcpy DtoD (Device -> Device)").bytes == 200
    assert copied(100, "Memcpy HtoD (Pageable -> Device)").bytes_written == 100
    assert copied(100, "Memcpy HtoD (Pageable -> Device)").bytes == 100
    assert copied(100, "CopyDeviceToHost").bytes_read == 100
    assert copied(100, "CopyDeviceToHost").bytes == 100
    assert filled(100).bytes == 100

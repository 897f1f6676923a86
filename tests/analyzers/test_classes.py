"""What each item alone is bound by, from times worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bench import FLOAT, HALF
from tracebuild import make_trace

from boundby.analyzers.classes import CLASSES, classify, roof_of
from boundby.analyzers.correlate import correlate
from boundby.analyzers.device import Device
from boundby.analyzers.units import units_of_calls
from boundby.analyzers.work import Work, device_work

BENCH = Device(name="Bench", kind="cuda", peak_tflops={"fp32": 10.0, "bf16": 200.0}, bandwidth_gb_s=1000.0)
"""Ridge: 200 FLOPs a byte in bf16, 10 in fp32."""
UNKNOWN_GPU = Device(name="", kind="cuda")


def item(us: float, name: str = "k", op: dict[str, Any] | None = None, **given: Any) -> tuple[dict, dict | None]:
    return {"name": name, "dur_ns": round(us * 1000), **given}, op


def mm(us: float, rows: int, dtype: str = HALF) -> tuple[dict, dict | None]:
    return item(us, "gemm_kernel", {"name": "aten::mm", "dims": ((rows, 1000), (1000, 1000)), "types": (dtype, dtype)})


def laid(items: list[tuple[dict, dict | None]]) -> Work:
    kernels = [{"ts_ns": 10_000_000 * (n + 1), "correlation": n, **row} for n, (row, _) in enumerate(items)]
    calls = [{"ts_ns": 1_000 * n, "dur_ns": 10, "correlation": n} for n in range(len(items))]
    ops = [{"ts_ns": 1_000 * n, "dur_ns": 500, **op} for n, (_, op) in enumerate(items) if op is not None]
    return device_work(correlate(make_trace(kernels=kernels, launches=calls, ops=ops)))


def class_of(*items: tuple[dict, dict | None], device: Device = BENCH, tokens: float = np.nan, batch: int = 1) -> str:
    work = laid(list(items))
    roof = roof_of(work, device, units=units_of_calls(work, None))
    n = np.full(len(work), tokens)
    return CLASSES[classify(work, roof, device, n, n / batch)[0]]


@pytest.mark.parametrize(
    ("rows", "us", "expected"),
    [
        (1000, 20.0, "compute"),  # 10 us of FLOPs, 6 of bytes
        (100, 20.0, "bandwidth"),  # 1 us of FLOPs; 2 x (0.1 + 1 + 0.1) MB: 2.4 us
        (1, 100.0, "bandwidth"),  # however slow, more than two starts: its bytes still say more than its FLOPs
        (1, 4.0, "bandwidth"),  # 2.004 us of bytes: half of it
        (1, 4.1, "bandwidth"),
        (100, 3.0, "bandwidth"),
    ],
)
def test_a_product_is_classed_by_its_larger_time(rows: int, us: float, expected: str) -> None:
    assert class_of(mm(us, rows)) == expected


@pytest.mark.parametrize(
    ("n", "us", "expected"),
    [
        (100_000, 4.0, "launch"),  # 1.2 MB: 1.2 us, under half of two starts
        (100_000, 4.001, "bandwidth"),  # longer than two starts
        (200_000, 4.0, "bandwidth"),  # 2.4 us, over half
    ],
)
def test_tiny_is_two_starts_for_work_of_less_than_half(n: int, us: float, expected: str) -> None:
    add = {"name": "aten::add", "dims": ((n,), (n,), ()), "types": (FLOAT, FLOAT, "Scalar")}
    assert class_of(item(us, "vectorized_elementwise_kernel", add)) == expected


def test_the_unit_that_multiplies_decides() -> None:
    # 100 rows: 0.2 GFLOP are 1 us in bf16 (2.4 of bytes), 20 us in fp32 (4.8 of bytes).
    assert class_of(mm(50.0, 100)) == "bandwidth"
    assert class_of(mm(50.0, 100, FLOAT)) == "compute"


@pytest.mark.parametrize(("tokens", "expected"), [(200, "compute"), (199, "bandwidth"), (np.nan, "unknown")])
def test_a_product_without_shapes_is_classed_by_tokens_against_the_ridge(tokens: float, expected: str) -> None:
    assert class_of(item(50.0, "ampere_bf16_s16816gemm_bf16_128x128"), tokens=tokens) == expected


@pytest.mark.parametrize(("tokens", "expected"), [(700, "compute"), (29, "bandwidth"), (100, "unknown")])
def test_an_unknown_device_classes_products_only_outside_all_ridges(tokens: float, expected: str) -> None:
    gemm = item(50.0, "ampere_bf16_s16816gemm_bf16_128x128")
    assert class_of(gemm, device=UNKNOWN_GPU, tokens=tokens) == expected


def test_attention_without_shapes_is_classed_by_one_sequences_tokens() -> None:
    attention = item(50.0, "flash_fwd_kernel")
    # Half of a causal square: 400 tokens are 200 FLOPs a byte.
    assert class_of(attention, tokens=400) == "compute"
    assert class_of(attention, tokens=400, batch=2) == "bandwidth"


def test_streaming_families_are_bandwidth_without_any_shape() -> None:
    assert class_of(item(50.0, "void at::native::vectorized_elementwise_kernel<4, AddFunctor>")) == "bandwidth"
    assert class_of(item(50.0, "Memset (Device)", kind="memset", bytes=1_000_000)) == "bandwidth"


def test_a_name_that_says_nothing_is_unknown() -> None:
    assert class_of(item(50.0, "mystery")) == "unknown"


def test_copies_over_the_bus_are_transfer_and_those_on_the_device_bandwidth() -> None:
    assert class_of(item(50.0, "Memcpy HtoD (Pinned -> Device)", kind="memcpy", bytes=1_000_000)) == "transfer"
    assert class_of(item(1.0, "Memcpy DtoH (Device -> Pageable)", kind="memcpy", bytes=8)) == "transfer"
    assert class_of(item(50.0, "Memcpy DtoD (Device -> Device)", kind="memcpy", bytes=1_000_000)) == "bandwidth"


def test_collectives_are_communication_however_short() -> None:
    assert class_of(item(50.0, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)")) == "communication"
    assert class_of(item(1.0, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)")) == "communication"


def test_an_unknown_device_keeps_the_compute_label_of_slow_products() -> None:
    # 6 MB in 5 ms is a hundredth of the slowest memory, but 1,000 tokens are over every ridge.
    assert class_of(mm(5_000.0, 1000), device=UNKNOWN_GPU, tokens=1000) == "compute"
    assert class_of(mm(5_000.0, 1), device=UNKNOWN_GPU, tokens=1) == "unknown"


def test_a_roof_is_unknown_where_the_units_peak_is() -> None:
    work = laid([mm(20.0, 1000)])
    roof = roof_of(work, Device(name="", kind="cuda", bandwidth_gb_s=1000.0), units=units_of_calls(work, None))
    assert np.isnan(roof.t_flops).all()
    assert roof.t_bytes.tolist() == pytest.approx([6e-6])
    assert roof.bound.tolist() == pytest.approx([6e-6])


def test_an_ops_cost_is_shared_among_its_kernels_by_time() -> None:
    op = {"name": "aten::mm", "dims": ((1000, 1000), (1000, 1000)), "types": (HALF, HALF)}
    kernels = [{"ts_ns": 10_000 + 40_000 * n, "dur_ns": us * 1000, "correlation": n} for n, us in enumerate((30, 10))]
    copy = {
        "ts_ns": 200_000,
        "dur_ns": 5_000,
        "correlation": 2,
        "kind": "memcpy",
        "name": "Memcpy DtoD (Device -> Device)",
        "bytes": 500,
    }
    calls = [{"ts_ns": 100 * n, "dur_ns": 10, "correlation": n} for n in range(3)]
    work = device_work(
        correlate(make_trace(kernels=[*kernels, copy], launches=calls, ops=[{"ts_ns": 0, "dur_ns": 900, **op}]))
    )
    assert work.flops.tolist() == pytest.approx([1.5e9, 0.5e9, 0.0])
    # Three quarters and one of 6 MB; the copy reads and writes its own 500 bytes.
    assert work.bytes.tolist() == pytest.approx([4.5e6, 1.5e6, 1000.0])

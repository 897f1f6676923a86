"""Findings about numbers wider than they need be."""

from __future__ import annotations

import pytest
from bench import FLOAT, PEAKS, phase_of, product, told

from boundby.tracer.marks import StepMark

PREFILL = StepMark("prefill", 1, 1000, 0, 0)
WIDE = [product(400.0, dtype=FLOAT)] * 5
"""Each needs 200 us of FLOPs and 12 us of bytes."""


def test_fp32_products_save_what_the_faster_unit_leaves() -> None:
    found = told(phase_of(WIDE, mark=PREFILL), "fp32-matmul")
    assert found is not None
    # TF32 is ten times as fast: 200 of 2,000 us remain.
    assert found.saving_us == pytest.approx(1800.0)
    assert found.saving_fraction == pytest.approx(0.9)
    assert "torch.set_float32_matmul_precision('high')" in found.advice


def test_a_faster_unit_does_not_read_faster() -> None:
    found = told(phase_of(WIDE, mark=PREFILL, peaks={"fp32": 10.0, "tf32": 1000.0}), "fp32-matmul")
    assert found is not None
    # A hundredth of the time would be 20 us, but the bytes of five products need 5 x 12.
    assert found.saving_us == pytest.approx(2000.0 - 60.0)


def test_bf16_is_advised_where_there_is_no_tf32() -> None:
    found = told(phase_of(WIDE, mark=PREFILL, peaks={"fp32": 10.0, "bf16": 40.0}), "fp32-matmul")
    assert found is not None
    assert found.saving_us == pytest.approx(1500.0)
    assert "torch.bfloat16" in found.advice


@pytest.mark.parametrize("peaks", [{"fp32": 10.0}, {"fp32": 10.0, "bf16": 11.0}])
def test_nothing_is_told_where_no_unit_is_faster(peaks: dict[str, float]) -> None:
    assert told(phase_of(WIDE, mark=PREFILL, peaks=peaks), "fp32-matmul") is None


def test_products_that_ran_on_tf32_are_not_fp32() -> None:
    settings = {"float32_matmul_precision": "high"}
    assert told(phase_of(WIDE, mark=PREFILL, settings=settings), "fp32-matmul") is None


def test_bf16_products_are_no_finding() -> None:
    assert told(phase_of([product(40.0)] * 5, mark=PREFILL), "fp32-matmul") is None


READS = [product(10.0, rows=1, dtype=FLOAT)] * 5
"""4 MB each: 4 us."""


def test_half_as_wide_weights_are_read_in_half_the_time() -> None:
    found = told(phase_of(READS), "fp32-weights")
    assert found is not None
    assert found.saving_us == pytest.approx(25.0)
    assert found.saving_fraction == pytest.approx(0.5)
    assert "dtype=torch.bfloat16" in found.advice


def test_a_device_that_is_slower_at_16_bits_keeps_its_fp32_weights() -> None:
    assert told(phase_of(READS, peaks={"fp32": 10.0, "bf16": 5.0}), "fp32-weights") is None


def test_16_bit_weights_are_no_finding() -> None:
    assert told(phase_of([product(10.0, rows=1)] * 5, peaks=PEAKS), "fp32-weights") is None

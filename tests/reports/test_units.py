import pytest

from boundby.reports import units


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (10_400.0, "10.4 ms"),
        (999.6, "1.00 ms"),
        (0.35, "350 ns"),
        (2_500_000.0, "2.50 s"),
        (123.456, "123 µs"),
        (0.0, "0 µs"),
        (None, "–"),
    ],
)
def test_durations_take_the_unit_that_fits(us: float | None, text: str) -> None:
    assert units.duration(us) == text


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0.784, "78 %"),
        (0.0432, "4.3 %"),
        (0.0004, "<0.1 %"),
        (0.0, "0 %"),
        (0.9999, ">99 %"),
        (1.0, "100 %"),
        (1.31, "131 %"),
    ],
)
def test_a_share_never_reads_as_none_or_all_when_it_is_not(fraction: float, text: str) -> None:
    assert units.percent(fraction) == text


def test_rates_and_amounts_scale_to_three_digits() -> None:
    assert units.flop_rate(611.04) == "611 TFLOP/s"
    assert units.flop_rate(0.192) == "192 GFLOP/s"
    assert units.byte_rate(3350.0) == "3.35 TB/s"
    assert units.byte_rate(0.00002) == "20.0 kB/s"
    assert units.flops(51.58e9) == "51.6 GFLOP"
    assert units.size(999.7e6) == "1.00 GB"


def test_whole_digits_are_never_dropped() -> None:
    assert units.number(12_345.0) == "12,345"
    assert units.duration(4.2e9) == "4,200 s"
    assert units.count(1234567) == "1,234,567"

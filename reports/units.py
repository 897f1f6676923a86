"""Numbers as people read them: three significant digits, the unit that fits, and an en dash for what is not known."""

from __future__ import annotations

UNKNOWN = "–"
_PREFIXES = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def significant(value: float, digits: int = 3) -> str:
    """`value` to `digits` significant digits, without an exponent; whole digits are never dropped (12,345 stays)."""
    if value == 0:
        return "0"
    exponent = int(f"{value:.{digits - 1}e}".split("e")[1])  # after rounding: 999.6 has the exponent of 1,000
    return f"{value:,.{max(0, digits - 1 - exponent)}f}"


def scaled(value: float | None, unit: str) -> str:
    """`value` in `unit` with a decimal prefix: scaled(3.35e12, "B/s") is "3.35 TB/s"."""
    if value is None:
        return UNKNOWN
    if value == 0:
        return "0"
    for factor, prefix in _PREFIXES:
        # 999.6 rounds to "1,000", which belongs to the next prefix.
        if abs(value) >= factor * 0.9995:
            return f"{significant(value / factor)} {prefix}{unit}"
    return f"{significant(value)} {unit}"


def duration(us: float | None) -> str:
    """Microseconds as ns, µs, ms or s."""
    if us is None:
        return UNKNOWN
    for factor, unit in ((1e6, "s"), (1e3, "ms"), (1.0, "µs")):
        if abs(us) >= factor * 0.9995:
            return f"{significant(us / factor)} {unit}"
    return "0 µs" if us == 0 else f"{significant(us * 1e3)} ns"


def flops(value: float | None) -> str:
    """Floating-point operations."""
    return scaled(value, "FLOP")


def size(value: float | None) -> str:
    """Bytes, in powers of 1000."""
    return scaled(value, "B")


def flop_rate(tflops: float | None) -> str:
    """TFLOP/s as given in the Analysis, in the prefix that fits."""
    return UNKNOWN if tflops is None else scaled(tflops * 1e12, "FLOP/s")


def byte_rate(gb_s: float | None) -> str:
    """GB/s as given in the Analysis, in the prefix that fits."""
    return UNKNOWN if gb_s is None else scaled(gb_s * 1e9, "B/s")


def percent(fraction: float | None) -> str:
    """A fraction as per cent; small ones keep a decimal, and what is not quite 0 or 100 never reads as such."""
    if fraction is None:
        return UNKNOWN
    value = fraction * 100
    if value == 0:
        return "0 %"
    if 0 < value < 0.1:
        return "<0.1 %"
    if 99.5 <= value < 100:
        return ">99 %"
    return f"{value:.0f} %" if value >= 9.95 or value < 0 else f"{value:.1f} %"


def count(value: float | None) -> str:
    """A whole number with thousands separators."""
    return UNKNOWN if value is None else f"{value:,.0f}"


def number(value: float | None) -> str:
    """A bare number, such as an intensity in FLOP/B."""
    if value is None:
        return UNKNOWN
    return "<0.001" if 0 < value < 0.001 else significant(value)

"""The sentences under a verdict: the numbers it hangs on, in words."""

from __future__ import annotations

import math

from .classes import CLASSES
from .idle import DISPATCH, PYTHON
from .phase_input import PhaseInput, Sums
from .time_account import TINY, TimeAccount
from .verdict import Verdict

CAUSE_WORDS = {
    "synchronize": "the host waiting in a synchronisation",
    "blocking_copy": "blocking copies",
    "allocate": "memory allocation calls",
    "graph_launch": "graph launches",
    "compile": "kernel loading or compilation",
    PYTHON: "Python and framework work between launches",
    DISPATCH: "start latency between enqueued kernels",
    TINY: "kernels that cost more to start than to run",
}


TOLD_FROM = 0.5
"""Cost coverage from which a phase's rates are worth saying: below it they are of a part that may be no sample."""


def describe(given: PhaseInput, account: TimeAccount | None, verdict: Verdict, sums: Sums) -> tuple[str, ...]:
    """The verdict's evidence, most telling first."""
    said = list(verdict.reasons)
    if account is not None:
        said += [*_time(account), *_rates(given, account, sums), *_causes(account), *_distortion(account)]
        said += _coverage(sums)
    return (*said, *given.notes)


def _time(account: TimeAccount) -> list[str]:
    shares = account.shares
    ranked = sorted(((float(getattr(shares, c)), c) for c in CLASSES), reverse=True)
    parts = ", ".join(f"{name} {share:.1%}" for share, name in ranked if share >= 0.0005)
    n = len(account.step_wall)
    each = f"{_ms(account.wall / n)} a step" if n > 1 else _ms(account.wall)
    return [f"wall time {each}: {parts}; the device is busy {account.busy / account.wall:.1%} of it"]


def _rates(given: PhaseInput, account: TimeAccount, sums: Sums) -> list[str]:
    device, wall = given.device, account.wall * 1e-9
    said: list[str] = []
    if sums.coverage is None or sums.coverage < TOLD_FROM:
        return said
    if sums.flops:
        rate = sums.flops / wall / 1e12
        share = f" ({sums.t_flops / wall:.1%} of the peak of the units that run them)" if sums.t_flops else ""
        said.append(f"{_amount(sums.flops, 'FLOP')} at {_digits(rate)} TFLOP/s{share}")
    if sums.bytes:
        rate = sums.bytes / wall / 1e9
        share = (
            f" ({rate / device.bandwidth_gb_s:.1%} of {device.bandwidth_gb_s:,.4g} GB/s)"
            if device.bandwidth_gb_s
            else ""
        )
        said.append(f"{_amount(sums.bytes, 'B')} of compulsory traffic at {_digits(rate)} GB/s{share}")
    if sums.t_flops and sums.t_bytes:
        said.append(
            f"at the device's peaks the FLOPs would take {_ms(sums.t_flops * 1e9)} and the bytes {_ms(sums.t_bytes * 1e9)}"
        )
    return said


def _causes(account: TimeAccount) -> list[str]:
    launch = sum(account.causes.values())
    if launch < 0.05 * account.wall:
        return []
    ranked = sorted(account.causes.items(), key=lambda item: -item[1])
    parts = ", ".join(f"{_ms(ns)} {CAUSE_WORDS[cause]}" for cause, ns in ranked if ns >= 0.01 * launch)
    lead = ""
    if account.edge_lead_in > 0.01 * account.wall:
        lead = f"; {_ms(account.edge_lead_in)} of it is the lead-in of a step at the capture's edge"
    return [f"launch time {_ms(launch)}: {parts}{lead}"]


def _distortion(account: TimeAccount) -> list[str]:
    if account.untraced_median is not None and account.distortion is not None:
        return [
            f"a step takes {_ms(account.untraced_median)} untraced and {_ms(account.traced_wall / len(account.step_wall))} "
            f"under the profiler ({account.distortion:+.0%}); the account uses the untraced time"
        ]
    idle_launch = sum(ns for cause, ns in account.causes.items() if cause not in (TINY, DISPATCH))
    if idle_launch > 0.2 * account.wall:
        return [
            f"{idle_launch / account.wall:.0%} of the time the host is late, and no untraced time is known: "
            "the profiler slows the host, so part of this may be its own"
        ]
    return []


def _coverage(sums: Sums) -> list[str]:
    if sums.coverage is None or sums.coverage >= 0.95:
        return []
    return [f"the cost of {sums.coverage:.0%} of the busy time is known; the rest is told by kernel names, or unknown"]


def _digits(value: float) -> str:
    """Three significant digits, and never an exponent."""
    digits = max(0, 2 - math.floor(math.log10(value))) if value > 0 else 0
    return f"{value:,.{digits}f}"


def _amount(value: float, unit: str) -> str:
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{_digits(value / factor)} {prefix}{unit}"
    return f"{_digits(value)} {unit}"


def _ms(ns: float) -> str:
    return f"{ns / 1e6:,.4g} ms" if ns >= 1e6 else f"{ns / 1e3:,.4g} µs"

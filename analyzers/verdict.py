"""`Verdict`: what a phase is bound by, by how much, and whether anything could overturn it."""

from __future__ import annotations

from dataclasses import dataclass

from .analysis import Shares
from .classes import CLASSES

CONTESTED_BELOW = 0.10
"""A margin (in shares of wall time) under which the label may be noise."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`margin` is the distance of the label's share to the next largest, unattributed time included; below zero where that
    is the larger one (a label needs no majority, but is contested then). None when nothing can be told."""

    bound: str
    margin: float | None
    contested: bool
    reasons: tuple[str, ...]
    confidence: str = "normal"


def unknown(reason: str) -> Verdict:
    """No label, and why."""
    return Verdict("unknown", None, contested=False, reasons=(reason,), confidence="low")


def judge(shares: Shares, *, edge_share: float = 0.0, capacity: tuple[str, ...] = ()) -> Verdict:
    """The label of a phase from its shares.

    `edge_share` is the part of the wall that is the lead-in of the capture's first or last step: a label that would
    change without it is contested. `capacity` holds evidence that memory ran out; any outranks the shares."""
    by_name = {name: float(getattr(shares, name)) for name in CLASSES}
    known = {name: share for name, share in by_name.items() if name != "unknown"}
    ranked = sorted(known.items(), key=lambda item: -item[1])
    (bound, first), (second_name, second) = ranked[0], ranked[1]
    missing = by_name["unknown"]
    if capacity:
        return Verdict("capacity", None, contested=False, reasons=capacity)
    if missing > 0.5:
        reason = f"{missing:.0%} of the time cannot be attributed: costs or launches are missing from the trace"
        return Verdict("unknown", missing - first, contested=False, reasons=(reason,), confidence="low")
    margin = first - max(second, missing)
    reasons = []
    if missing > first - second:
        reasons.append(f"{missing:.0%} of the time is unattributed, more than the lead over {second_name}")
    elif margin < CONTESTED_BELOW:
        rival = second_name if second >= missing else "what is unattributed"
        reasons.append(f"the lead over {rival} is {margin:.1%} of the time")
    if edge_share > 0 and bound == "launch" and first - edge_share < second:
        reasons.append(
            f"{edge_share:.0%} of the time is the lead-in of a step at the capture's edge, which may be the capture's own; "
            f"without it the phase would be {second_name}-bound"
        )
    return Verdict(bound, margin, contested=bool(reasons), reasons=tuple(reasons))

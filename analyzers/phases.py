"""`group_phases`: steps of one kind and one shape class are one phase, with an id that says which.

Lengths are classed by powers of two, so that prompts of about one length are one phase while a prefill of 512 tokens and
one of 8,192 stay apart; decode steps stay one phase while their context grows. Batches count exactly as long as a trace has
few of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .step import PhaseKind, Step

FEW_BATCHES = 4
"""A trace with more batch sizes of a kind than this is a server's: its batches are classed by powers of two."""


@dataclass(frozen=True, slots=True)
class PhaseGroup:
    """One phase: its id, and the numbers of its steps in the sequence given."""

    id: str
    numbers: tuple[int, ...]


def group_phases(steps: Sequence[Step]) -> list[PhaseGroup]:
    """Group steps into phases, in the order of their first steps; ids are unique within the trace.

    Ids: `prefill-1x512` (sequences x new tokens of each), `prefill-1x512-cached` (behind a cache), `decode-b32`, `verify-b4`,
    `mixed-p9-d37` (requests in their prompt and past it), `unknown`; a range such as `b17-32` where steps of a phase differ.
    """
    few = _few_batches(steps)
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for number, step in enumerate(steps):
        groups[_class(step, exact=step.kind in few)].append(number)
    taken: dict[str, int] = defaultdict(int)
    found = []
    for numbers in groups.values():
        name = _name([steps[n] for n in numbers])
        taken[name] += 1
        found.append(PhaseGroup(name if taken[name] == 1 else f"{name}-{taken[name]}", tuple(numbers)))
    return found


def _few_batches(steps: Sequence[Step]) -> set[PhaseKind]:
    batches: dict[PhaseKind, set[int | None]] = defaultdict(set)
    for step in steps:
        batches[step.kind].add(step.batch)
    return {kind for kind, sizes in batches.items() if len(sizes) <= FEW_BATCHES}


def _class(step: Step, *, exact: bool) -> tuple[object, ...]:
    batch = step.batch if exact else _power(step.batch)
    key = (step.kind, step.draft)
    if step.kind == "prefill":
        return (*key, batch, _power(_each(step)), _cached(step))
    if step.kind == "mixed":
        return (*key, _power(step.query_tokens), _power(_requests(step, "decode")))
    if step.kind == "unknown":
        return (*key, batch, _power(step.query_tokens))
    return (*key, batch)


def _each(step: Step) -> int | None:
    """New tokens per sequence, rounded up; of the whole step where the batch is unknown."""
    if step.query_tokens is None:
        return None
    return -(-step.query_tokens // (step.batch or 1))


def _cached(step: Step) -> bool:
    known = step.context_tokens is not None and step.query_tokens is not None
    return known and (step.context_tokens or 0) > (step.query_tokens or 0)


def _requests(step: Step, part: str) -> int | None:
    tokens = step.decode if part == "decode" else step.prefill
    return None if tokens is None else tokens.requests


def _power(value: int | None) -> int | None:
    """The exponent of the smallest power of two that is not below the value."""
    return None if value is None else max(value - 1, 0).bit_length()


def _name(steps: list[Step]) -> str:
    kind = "unknown-draft" if steps[0].draft else steps[0].kind
    batch, query = _range(steps, lambda s: s.batch), _range(steps, lambda s: s.query_tokens)
    if kind == "prefill":
        each = _range(steps, _each)
        shape = f"-{batch}x{each}" if batch and each else f"-q{query}" if query else f"-b{batch}" if batch else ""
        return f"prefill{shape}{'-cached' if _cached(steps[0]) else ''}"
    if kind == "mixed":
        p, d = _range(steps, lambda s: _requests(s, "prefill")), _range(steps, lambda s: _requests(s, "decode"))
        return "mixed" + (f"-p{p}" if p else "") + (f"-d{d}" if d else "") or kind
    if batch:
        return f"{kind}-b{batch}"
    return f"{kind}-q{query}" if query and kind == "unknown" else kind


def _range(steps: list[Step], value: Callable[[Step], int | None]) -> str:
    """The one value of all steps, or the range of their class; "" when unknown for any."""
    values = [value(step) for step in steps]
    known = [v for v in values if v is not None]
    if not known or len(known) < len(values):
        return ""
    return str(known[0]) if len(set(known)) == 1 else f"{min(known)}-{max(known)}"

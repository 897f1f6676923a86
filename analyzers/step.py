"""`Step`: one forward pass, as an engine's plug-in found it. `StepsFound`: what a plug-in returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

PhaseKind = Literal["prefill", "decode", "mixed", "verify", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Sums over the sequences of one kind in a step: q query tokens, k context tokens (cached ones plus the new ones),
    qk the sum of products q*k, qq of q squared. None where the engine does not say."""

    requests: int | None = None
    q: int | None = None
    k: int | None = None
    qk: int | None = None
    qq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One forward pass. Times in ns since the trace's origin.

    A step is told by its host span: its kernels are those launched inside it (`tid` None: from any thread of `pid`).
    Where there is no host side, `kernel_rows` names the rows of `Trace.kernels` instead.
    """

    kind: PhaseKind
    start_ns: int
    end_ns: int
    pid: int | None = None
    tid: int | None = None
    batch: int | None = None
    query_tokens: int | None = None
    """New tokens of the whole step, summed over sequences."""
    context_tokens: int | None = None
    """Tokens that attention reads, summed over sequences: cached ones plus the new ones."""
    prefill: Tokens | None = None
    """The context (prefill) part of a step, where the engine tells the parts."""
    decode: Tokens | None = None
    """The generation (decode) part of a step."""
    kernel_rows: tuple[int, int] | None = None
    """Half-open range of kernel rows, only for steps found on the device alone."""
    label: str = ""
    """The span's own name, or how the step was found."""
    marked: bool = True
    """Somebody marked where the step begins; False where it is inferred from ops."""
    draft: bool = False
    """A step of the draft model of speculative decoding, not of the model that is served."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepsFound:
    """The steps of a trace in time order, never overlapping on one thread, and who found them."""

    engine: str
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = field(default=())
    """Sentences for the report: how the phases were told, what is uncertain about it."""

"""`Case`: all that a finding may look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from boundby.tracer.marks import Recording

from ..analysis import OperatorRow, Phase
from ..classes import families_of
from ..correlate import Linked
from ..facts import ModelFacts

if TYPE_CHECKING:
    from ..phase_input import PhaseInput


@dataclass(frozen=True, slots=True)
class Case:
    """One phase, told, with what it was told from."""

    phase: Phase
    given: PhaseInput
    linked: Linked
    facts: ModelFacts | None
    recording: Recording | None

    @property
    def mine(self) -> npt.NDArray[np.bool_]:
        """Per work item: it belongs to this phase."""
        return np.isin(self.given.items.owner, np.array(self.given.numbers, np.int64))

    @property
    def families(self) -> npt.NDArray[np.object_]:
        """Per work item: its family."""
        return families_of(self.given.items.work)

    @property
    def efficiency(self) -> npt.NDArray[np.float64]:
        """Per work item: the roofline's time over its own; NaN where no roof is known."""
        items = self.given.items
        share: npt.NDArray[np.float64] = items.roof.bound / np.maximum(items.work.time * 1e-9, 1e-12)
        return share

    def calls_of(self, chosen: npt.NDArray[np.bool_]) -> int:
        """How many calls of ops the chosen items come from; an item under no op is a call of its own."""
        anchors = self.given.items.work.anchor[chosen]
        return len(np.unique(anchors[anchors >= 0])) + int((anchors < 0).sum())

    @property
    def on_host(self) -> bool:
        """A CPU trace."""
        return self.given.device.kind == "cpu"

    def operators(self, *families: str) -> list[OperatorRow]:
        """The phase's operators of some families."""
        return [row for row in self.phase.operators if row.family in families]

    def fraction(self, us: float | None) -> float | None:
        """A saving as a fraction of the phase's wall time."""
        return None if us is None or not self.phase.wall_us else us / self.phase.wall_us


def ms(us: float) -> str:
    """Microseconds as people read them."""
    for scale, unit in ((1e6, "s"), (1e3, "ms")):
        if us >= 0.9995 * scale:
            return f"{us / scale:,.3g} {unit}"
    return f"{us:,.3g} µs"


def counted(n: int, noun: str) -> str:
    """A number with its noun."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"

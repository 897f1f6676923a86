"""Steps told by shapes alone: a forward starts at the embedding of its token ids."""

from __future__ import annotations

from boundby.analyzers.correlate import Linked
from boundby.analyzers.step import StepsFound

from .registry import engine
from .shape_evidence import Evidence, step_of

BY_SHAPES = (
    "nothing names the phases: a forward is taken to start at the embedding, its kind from new and cached tokens"
)


@engine("shapes", order=70, conclusive=False)
def find(linked: Linked) -> StepsFound | None:
    """One step per forward that the shapes show."""
    named = Evidence.of(linked).named
    if not named:
        return None
    notes = dict.fromkeys([BY_SHAPES, *(n.note for n in named if n.note)])
    return StepsFound(engine="shapes", steps=tuple(step_of(n) for n in named), notes=tuple(notes))

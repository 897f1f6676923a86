"""Steps that a serving engine names itself: every registered span grammar at once, because engines nest their spans."""

from __future__ import annotations

from dataclasses import replace

from boundby.analyzers.correlate import Linked
from boundby.analyzers.step import StepsFound

from .forwards import has_shapes
from .marked_spans import steps_of_marks
from .registry import engine, grammars
from .shape_evidence import Evidence, filled


@engine("serving", order=20)
def find(linked: Linked) -> StepsFound | None:
    """The innermost named spans; the engine is that of most of them. What an engine names as neither prefill nor decode
    stays so, whatever shapes are inside."""
    found = steps_of_marks(linked, grammars())
    if found is None or not has_shapes(linked):
        return found
    evidence = Evidence.of(linked)
    pairs = [(step, "") if step.kind == "unknown" else filled(step, evidence) for step in found.steps]
    notes = dict.fromkeys([*found.notes, *(note for _, note in pairs if note)])
    return replace(found, steps=tuple(step for step, _ in pairs), notes=tuple(notes))

"""Diagnoses: one finding per file. Each says what is wrong, what mending it would save by the trace's own numbers, and how."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import msgspec

from boundby.tracer.marks import Recording

from ..analysis import Finding, Phase
from ..correlate import Linked
from ..facts import ModelFacts
from ..phase_input import PhaseInput
from .case import Case
from .registry import diagnoses, finding

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")


def findings_of(
    phase: Phase, given: PhaseInput, linked: Linked, facts: ModelFacts | None, recording: Recording | None
) -> tuple[Finding, ...]:
    """What is wrong with a phase, the largest saving first; nothing where no time account could be made.

    Savings overlap (one change may mend two findings), so they don't add up; none is more than the phase's wall."""
    if phase.shares is None:
        return ()
    case = Case(phase, given, linked, facts, recording)
    found = [told for diagnose in diagnoses().values() if (told := diagnose(case)) is not None]
    found = [_within_wall(told, case) for told in found]
    return tuple(sorted(found, key=lambda f: (-(f.saving_us or 0.0), f.id)))


def _within_wall(told: Finding, case: Case) -> Finding:
    """Items on several streams can take longer together than the wall that they share."""
    wall = case.phase.wall_us
    if told.saving_us is None or wall is None or told.saving_us <= wall:
        return told
    return msgspec.structs.replace(told, saving_us=wall, saving_fraction=1.0)


__all__ = ["Case", "diagnoses", "finding", "findings_of"]

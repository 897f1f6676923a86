"""How engines mark their phases: one engine per file. `find_steps` asks them in order; see `registry`."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules

from boundby.analyzers.correlate import Linked
from boundby.analyzers.step import Step, StepsFound

from .mark import SpanMark
from .regions import profiler_steps, whole_trace, why_not_inference
from .registry import Engine, engine, engines, grammars, span_grammar

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

NOTHING = (
    "nothing in the trace tells its phases: no engine's spans, no shapes of a language model, no repeating kernels"
)


def find_steps(linked: Linked) -> StepsFound:
    """The steps of a trace, in time order, and who found them.

    The first engine that knows the kind of any step wins; spans of an engine count even when they name no phase. Where
    backward passes show, nothing is guessed. What nobody can name is of unknown kind, with the reason among the notes.
    """
    reason: str | None = None
    undecided: StepsFound | None = None
    for candidate in engines():
        if not candidate.conclusive:
            reason = reason or why_not_inference(linked)
            if reason is not None:
                break
        found = candidate.find(linked)
        if found is None or not found.steps:
            continue
        if candidate.conclusive or any(step.kind != "unknown" for step in found.steps):
            return _in_order(found)
        undecided = undecided or found
    return _in_order(undecided) if undecided is not None else _unknown(linked, reason or NOTHING)


def _unknown(linked: Linked, reason: str) -> StepsFound:
    regions = profiler_steps(linked)
    return StepsFound(engine="none", steps=tuple(regions) or (whole_trace(linked),), notes=(reason,))


def _in_order(found: StepsFound) -> StepsFound:
    return replace(found, steps=tuple(sorted(found.steps, key=_place)))


def _place(step: Step) -> tuple[int, int]:
    return step.start_ns, -step.end_ns


__all__ = ["Engine", "SpanMark", "engine", "engines", "find_steps", "grammars", "span_grammar"]

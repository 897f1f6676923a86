"""`ProfilerStep#N`, the profiler's own step spans, with kind and lengths read from the shapes of the forwards inside."""

from __future__ import annotations

from dataclasses import replace

from boundby.analyzers.correlate import Linked
from boundby.analyzers.step import StepsFound

from .regions import profiler_steps
from .registry import engine
from .shape_evidence import Evidence, inside, step_of


@engine("profiler-step", order=50, conclusive=False)
def find(linked: Linked) -> StepsFound | None:
    """One step per ProfilerStep that runs one forward; one per forward where it runs a whole loop."""
    regions = profiler_steps(linked)
    named = Evidence.of(linked).named if regions else []
    if not named:
        return None
    steps, notes = [], []
    for region in regions:
        mine = inside(named, region)
        notes += [n.note for n in mine if n.note]
        if len(mine) == 1:
            found = step_of(mine[0], label=region.label)
            steps.append(replace(found, start_ns=region.start_ns, end_ns=region.end_ns, tid=None, marked=True))
        elif mine:
            each = [step_of(n, label=f"{region.label}: {n.forward.tokens} tokens") for n in mine]
            steps += [replace(step, end_ns=min(step.end_ns, region.end_ns)) for step in each]
        else:
            steps.append(region)
    if not any(step.query_tokens for step in steps):
        return None
    how = "ProfilerStep spans; kind and lengths are read from the shapes of embedding and attention"
    return StepsFound(engine="profiler-step", steps=tuple(steps), notes=tuple(dict.fromkeys([how, *notes])))

"""The device waits: launch time is the largest share, or a third of the wall."""

from __future__ import annotations

from ..analysis import Finding
from ..evidence import CAUSE_WORDS
from ..idle import DISPATCH, PYTHON
from ..time_account import TINY
from .case import Case, ms
from .registry import finding

LARGE = 1 / 3
"""Below a third of the wall, mending launches cannot help as much as what bounds the phase."""

ADVICE = {
    PYTHON: "Launch less from Python: model.forward = torch.compile(model.forward, mode='reduce-overhead') with a static cache, "
    "or a CUDA graph of the step; a larger batch spreads the same launches over more tokens.",
    TINY: "Fuse the small kernels: torch.compile(model), or fused kernels for norm, rope and activation; a larger batch makes "
    "each of them worth its start.",
    "synchronize": "Remove the synchronisation from the loop: keep sampled tokens on the device and read them once a few steps.",
    "blocking_copy": "Copy asynchronously: tensor.to(device, non_blocking=True) from pinned memory.",
    "allocate": "Warm the allocator up before measuring, and use a static cache: cache_implementation='static'.",
    "graph_launch": "The graph's own launch takes this long: capture the whole step as one graph rather than pieces.",
    "compile": "This is a first run: warm up every shape before serving or measuring.",
    DISPATCH: "Start latency between enqueued kernels: fewer, larger kernels (torch.compile), or a CUDA graph.",
}


@finding("gaps-dominate")
def gaps_dominate(case: Case) -> Finding | None:
    """Launch time by its main cause; the saving is all of that cause's time."""
    phase = case.phase
    if phase.shares is None or phase.wall_us is None or not phase.launch_causes:
        return None
    if phase.bound != "launch" and phase.shares.launch < LARGE:
        return None
    cause, us = max(phase.launch_causes.items(), key=lambda item: item[1])
    rest = ", ".join(
        f"{ms(v)} {CAUSE_WORDS[k]}" for k, v in sorted(phase.launch_causes.items(), key=lambda i: -i[1])[1:4]
    )
    return Finding(
        id="gaps-dominate",
        title=f"{phase.shares.launch:.0%} of the time starts work instead of doing it",
        saving_us=us,
        saving_fraction=case.fraction(us),
        evidence=f"{ms(us)} of {ms(phase.wall_us)} is {CAUSE_WORDS[cause]}" + (f"; besides {rest}" if rest else ""),
        advice=ADVICE[cause],
    )

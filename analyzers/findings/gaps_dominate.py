"""The device waits: launch time is the largest share, or a third of the wall."""

from __future__ import annotations

import numpy as np

from ..analysis import Finding
from ..classes import LAUNCH as LAUNCH_CLASS
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


ON_HOST = {
    PYTHON: "Call fewer ops from Python: model.forward = torch.compile(model.forward); a larger batch spreads the same calls over "
    "more tokens.",
    TINY: "Fuse the small ops: model.forward = torch.compile(model.forward); a larger batch makes each of them worth its call.",
}
"""On a CPU there is no graph to capture and no queue to fill."""


@finding("gaps-dominate")
def gaps_dominate(case: Case) -> Finding | None:
    """Launch time by its main cause. The saving is all of that cause's time, less what tiny kernels' own work needs."""
    phase = case.phase
    if phase.shares is None or phase.wall_us is None or not phase.launch_causes:
        return None
    if phase.bound != "launch" and phase.shares.launch < LARGE:
        return None
    ranked = sorted(phase.launch_causes.items(), key=lambda item: -item[1])
    cause, us = ranked[0]
    rest = ", ".join(f"{ms(v)} {CAUSE_WORDS[k]}" for k, v in ranked[1:4])
    saving = us - _work_in_tiny(case) if cause == TINY else us
    watched = phase.untraced_us is None and cause not in (TINY, DISPATCH)
    return Finding(
        id="gaps-dominate",
        title=f"{phase.shares.launch:.0%} of the time starts work instead of doing it",
        saving_us=max(saving, 0.0),
        saving_fraction=case.fraction(max(saving, 0.0)),
        evidence=f"{ms(us)} of {ms(phase.wall_us)} is {CAUSE_WORDS[cause]}"
        + (f"; besides {rest}" if rest else "")
        + ("; part of it may be the profiler's own, since no untraced time is known" if watched else ""),
        advice=ON_HOST.get(cause, ADVICE[cause]) if case.on_host else ADVICE[cause],
    )


def _work_in_tiny(case: Case) -> float:
    """Microseconds that the tiny kernels' FLOPs and bytes need at the device's peaks, whoever runs them."""
    items = case.given.items
    return float(np.nansum(items.roof.bound[case.mine & (items.classes == LAUNCH_CLASS)])) * 1e6

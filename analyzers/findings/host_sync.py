"""The host waits for the device inside the loop."""

from __future__ import annotations

from ..analysis import Finding
from .case import Case, ms
from .registry import finding


@finding("host-sync")
def host_sync(case: Case) -> Finding | None:
    """Synchronising calls and scalar reads in every step of a decode, where the device then waited for the host. The saving is
    the idle time that ends a synchronisation."""
    phase = case.phase
    if phase.kind not in ("decode", "verify", "mixed") or phase.wall_us is None or case.on_host:
        return None
    calls = phase.host_calls.get("synchronize", 0) + phase.host_calls.get("blocking_copy", 0)
    waits = phase.launch_causes.get("synchronize", 0.0) + phase.launch_causes.get("blocking_copy", 0.0)
    if calls < phase.n_steps or waits < 0.05 * phase.wall_us:
        return None
    return Finding(
        id="host-sync",
        title="The host synchronises within each step",
        saving_us=waits,
        saving_fraction=case.fraction(waits),
        evidence=f"{calls / phase.n_steps:.3g} synchronising calls a step; the device idled {ms(waits)} while the host was in them",
        advice="Keep tokens on the device and test for the end once in several steps; find the call by torch.cuda.set_sync_debug_mode('warn').",
    )

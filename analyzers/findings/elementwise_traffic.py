"""A phase with GEMMs large enough to compute, whose time goes into unfused elementwise kernels."""

from __future__ import annotations

from ..analysis import Finding
from .case import Case, ms
from .registry import finding

FAMILIES = ("elementwise", "activation", "norm", "copy", "cat", "rope", "softmax", "reduction", "index")
LARGE = 0.25
"""Share of the wall from which fusing is worth a recompilation."""


@finding("elementwise-traffic")
def elementwise_traffic(case: Case) -> Finding | None:
    """Elementwise, copy, norm and cat time of a phase whose GEMMs are on the compute side. The saving is what remains when
    each such chain reads its input and writes its result once: half of the traffic of pairs of kernels that pass a tensor on."""
    phase = case.phase
    if phase.wall_us is None:
        return None
    gemms = [o for o in case.operators("gemm", "moe") if o.bound_class == "compute"]
    passes = [o for o in case.operators(*FAMILIES) if o.bound_class == "bandwidth"]
    spent = sum(o.time_us for o in passes)
    if not gemms or spent < LARGE * phase.wall_us:
        return None
    count = sum(o.count for o in passes)
    # Two kernels in a row write a tensor and read it again; fused they do neither. Taking every kernel but one of each pair
    # away halves the traffic, which is the least that fusing a chain of two or more saves.
    saving = spent / 2
    heavy = ", ".join(f"{o.name} {ms(o.time_us)}" for o in sorted(passes, key=lambda o: -o.time_us)[:3])
    return Finding(
        id="elementwise-traffic",
        title="Unfused elementwise kernels take the time that the GEMMs leave",
        saving_us=saving,
        saving_fraction=case.fraction(saving),
        evidence=f"{count} elementwise, copy, norm and cat calls take {ms(spent)} ({spent / phase.wall_us:.0%} of the wall): {heavy}; "
        f"the GEMMs take {ms(sum(o.time_us for o in gemms))}. The saving is half: each fused pair writes and reads one tensor less",
        advice="Fuse them: model = torch.compile(model); or use kernels that fuse norm with residual, rope, and activation with gating.",
    )

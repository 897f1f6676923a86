"""Two analyses side by side: what changed, what of it is a regression, and what cannot be told."""

from .baseline import Baseline, BaselinePhase
from .compare import Comparison, PhaseChange, compare
from .gates import Gate, GateResult, parse_gates, run_gates
from .pool import pool

__all__ = [
    "Baseline",
    "BaselinePhase",
    "Comparison",
    "Gate",
    "GateResult",
    "PhaseChange",
    "compare",
    "parse_gates",
    "pool",
    "run_gates",
]

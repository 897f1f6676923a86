"""`Device`: peaks, bandwidth and memory of the machine that ran the trace, and where each figure came from."""

from __future__ import annotations

import msgspec


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """Figures are None or absent when unknown; a roofline is then not drawn, never guessed."""

    name: str
    kind: str
    """cuda, hip, xpu or cpu (tpu for prediction alone)."""
    id: str = ""
    peak_tflops: dict[str, float] = {}
    """Dense peak by dtype class (fp64 fp32 tf32 bf16 fp16 fp8 int8 fp4 int4), 1e12 FLOP/s."""
    bandwidth_gb_s: float | None = None
    """1e9 B/s."""
    memory_gb: float | None = None
    """1e9 B."""
    achievable_tflops: dict[str, float] = {}
    """Best measured GEMM rate by dtype, where known: advice compares with it, labels with the peak."""
    smallest_kernel_ns: int = 2000
    """t_0: the shortest a kernel (on a CPU: an op) takes, whatever it does."""
    last_level_cache_mb: float | None = None
    source: str = "unknown"
    """measured, table, user or unknown; a remark may follow a colon."""

    def peak_flops(self, unit: str | None) -> float | None:
        """Peak FLOP/s of a dtype class, or None when unknown."""
        peak = self.peak_tflops.get(unit) if unit else None
        return None if peak is None else peak * 1e12

    @property
    def bandwidth(self) -> float | None:
        """Peak memory bandwidth in B/s, or None."""
        return None if self.bandwidth_gb_s is None else self.bandwidth_gb_s * 1e9

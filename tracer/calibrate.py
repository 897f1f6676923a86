"""`calibrate`: what this machine reaches. GEMM peak, memory bandwidth, the smallest a kernel or op takes; with the spread.

Peaks are the best of many tries: noise only ever slows a measurement. The floor of an op is a median, as a trace shows it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import torch

from .describe import device_facts
from .session import synchronize

CACHE_VERSION = 3
Progress = Callable[[str, float | None], None]
_UNITS = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """Measured figures of one machine with one torch and thread count."""

    device: str
    kind: str
    torch: str
    threads: int
    peak_tflops: dict[str, float]
    """Best GEMM rate by dtype class, 1e12 FLOP/s."""
    bandwidth_gb_s: float
    """Streaming read, 1e9 B/s: what a matrix-vector product reaches."""
    copy_gb_s: float
    """Read plus write of a copy, 1e9 B/s."""
    smallest_kernel_us: float
    """The shortest a kernel takes; on a CPU the mean floor of the ops that a decoder layer is made of, as a trace shows it."""
    launch_latency_us: float
    """From a launch to the return of a synchronisation (on a CPU: one op from Python, without the profiler)."""
    spread: dict[str, float]
    """Per figure: (third quartile - first quartile) / median of its tries."""

    def facts(self) -> dict[str, Any]:
        """The part that goes into a trace's record."""
        return {
            "peak_tflops": self.peak_tflops,
            "bandwidth_gb_s": self.bandwidth_gb_s,
            "smallest_kernel_us": self.smallest_kernel_us,
            "launch_latency_us": self.launch_latency_us,
            "spread": self.spread,
        }


def calibrate(device: torch.device, *, fresh: bool = False, progress: Progress | None = None) -> Calibration:
    """Measure a device, or read what was measured on it before (per device, torch and threads). `fresh` measures again."""
    path = cache_path(device)
    if not fresh:
        try:
            return msgspec.json.decode(path.read_bytes(), type=Calibration)
        except (OSError, msgspec.DecodeError):
            pass
    say = progress or (lambda _doing, _done: None)
    found = _measure(device, say)
    _store(path, found)
    return found


def cache_path(device: torch.device) -> Path:
    """Where a device's calibration is kept."""
    from platformdirs import user_cache_dir

    facts = device_facts(device)
    key = f"{facts['name']}-torch{torch.__version__}-{torch.get_num_threads()}t-v{CACHE_VERSION}"
    safe = "".join(c if c.isalnum() or c in "-._" else "_" for c in key)
    return Path(user_cache_dir("boundby")) / f"calibration-{safe}.json"


def _store(path: Path, found: Calibration) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(f".{time.monotonic_ns()}.tmp")
        beside.write_bytes(msgspec.json.format(msgspec.json.encode(found)))
        beside.replace(path)
    except OSError:
        return  # a cache that cannot be written is measured again


def _measure(device: torch.device, say: Progress) -> Calibration:
    facts = device_facts(device)
    gpu = device.type != "cpu"
    peaks, spread = {}, {}
    for dtype in (torch.float32, torch.bfloat16, torch.float16) if gpu else (torch.float32, torch.bfloat16):
        say(f"GEMM in {_UNITS[dtype]}", None)
        rates = _gemm(device, dtype, sizes=(4096, 8192) if gpu else (768, 1536))
        peaks[_UNITS[dtype]] = max(rates) / 1e12
        spread[f"peak_{_UNITS[dtype]}"] = _spread(rates)
    say("memory bandwidth", None)
    reads = _read(device)
    copies = _copy(device)
    spread["bandwidth"], spread["copy"] = _spread(reads), _spread(copies)
    say("the smallest kernel", None)
    floors = _floor(device)
    launches = _launch(device)
    spread["smallest_kernel"], spread["launch_latency"] = _spread(floors), _spread(launches)
    return Calibration(
        device=str(facts["name"]),
        kind=str(facts["kind"]),
        torch=str(torch.__version__),
        threads=torch.get_num_threads(),
        peak_tflops={unit: round(rate, 6) for unit, rate in peaks.items()},
        bandwidth_gb_s=round(max(reads) / 1e9, 3),
        copy_gb_s=round(max(copies) / 1e9, 3),
        smallest_kernel_us=round(statistics.mean(floors) if not gpu else statistics.median(floors), 3),
        launch_latency_us=round(statistics.median(launches), 3),
        spread={name: round(value, 4) for name, value in spread.items()},
    )


def _spread(values: list[float]) -> float:
    if len(values) < 4:
        return 0.0
    low, middle, high = statistics.quantiles(values, n=4)
    return (high - low) / middle if middle else 0.0


def _rates(device: torch.device, work: Callable[[], Any], amount: float, *, seconds: float) -> list[float]:
    work()
    synchronize(device)
    found: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(found) < 5:
        start = time.perf_counter()
        work()
        synchronize(device)
        found.append(amount / (time.perf_counter() - start))
    return found


@torch.inference_mode()
def _gemm(device: torch.device, dtype: torch.dtype, sizes: tuple[int, ...]) -> list[float]:
    best: list[float] = []
    for n in sizes:
        a, b = torch.randn(n, n, device=device).to(dtype), torch.randn(n, n, device=device).to(dtype)
        out = torch.empty(n, n, device=device, dtype=dtype)
        rates = _rates(device, lambda a=a, b=b, out=out: torch.mm(a, b, out=out), 2.0 * n**3, seconds=0.8)  # type: ignore[misc]
        best = max(best, rates, key=lambda r: max(r, default=0.0))
    return best


@torch.inference_mode()
def _read(device: torch.device) -> list[float]:
    """Bytes per second of a matrix-vector product over a matrix far larger than any cache."""
    n = 16384 if device.type != "cpu" else 8192
    matrix = torch.randn(n, n, device=device)
    vector = torch.randn(n, device=device)
    return _rates(device, lambda: torch.mv(matrix, vector), 4.0 * n * n, seconds=1.0)


@torch.inference_mode()
def _copy(device: torch.device) -> list[float]:
    source = torch.ones(64 * 1024 * 1024, device=device)
    target = torch.empty_like(source)
    return _rates(device, lambda: target.copy_(source), 2.0 * source.numel() * 4, seconds=0.6)


@torch.inference_mode()
def _floor(device: torch.device) -> list[float]:
    """Microseconds, in a trace, of calls that have next to nothing to do: of a one-element addition's kernel on a GPU; on
    a CPU of each kind of op that a decoder layer is made of, on one token of a small model, one after another (a loop of
    one op alone would run from the caches, as no model does)."""
    if device.type == "cpu":
        return _op_floors()
    a = torch.ones(1, device=device)
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    found: list[float] = []
    for _ in range(2):  # the first window after the profiler starts is not used
        with torch.profiler.profile(activities=activities) as profiler:
            for _ in range(400):
                torch.add(a, a)
            synchronize(device)
        found = [e.device_time for e in profiler.events() if e.device_type == torch._C._autograd.DeviceType.CUDA]
    return found or [2.0]


def _op_floors() -> list[float]:
    """The median time of each kind of op, microseconds."""
    x, row, weight = torch.randn(1, 1, 64), torch.randn(64), torch.randn(64, 64)
    heads, half = torch.randn(1, 4, 1, 16), torch.randn(1, 4, 1, 8)
    table, token = torch.randn(512, 64), torch.zeros(1, 1, dtype=torch.long)
    attend = torch.nn.functional.scaled_dot_product_attention
    calls: list[Callable[[], Any]] = [
        lambda: torch.nn.functional.embedding(token, table),
        lambda: x.pow(2),
        lambda: x.mean(-1, keepdim=True),
        lambda: torch.rsqrt(x),
        lambda: x * row,
        lambda: torch.mm(x[0], weight),
        lambda: torch.cat((half, half), dim=-1),
        lambda: heads + heads,
        lambda: attend(heads, heads, heads),
        lambda: torch.nn.functional.silu(x),
    ]
    times: list[list[float]] = [[] for _ in calls]
    for window in range(2):  # the first window warms the profiler up
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as profiler:
            for _ in range(200):
                for number, call in enumerate(calls):
                    with torch.profiler.record_function(f"floor{number}"):
                        call()
        if window:
            for event in profiler.events():
                if event.name.startswith("floor") and event.cpu_children:
                    longest = max(child.cpu_time for child in event.cpu_children)
                    times[int(event.name.removeprefix("floor"))].append(longest)
    return [statistics.median(found) for found in times if found]


@torch.inference_mode()
def _launch(device: torch.device) -> list[float]:
    a = torch.ones(1, device=device)
    found = []
    for _ in range(500):
        start = time.perf_counter()
        torch.add(a, a)
        synchronize(device)
        found.append((time.perf_counter() - start) * 1e6)
    return found


__all__ = ["Calibration", "cache_path", "calibrate"]

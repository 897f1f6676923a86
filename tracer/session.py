"""`Session`: profiler runs whose events end up in one trace file, written beside its place and renamed."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import torch

from .errors import TracerError
from .marks import METADATA_KEY, Recording

NO_KERNELS = (
    "the {device} recorded no kernels: another profiler (nsys, DCGM) may hold its tracing interface, the container may lack "
    "permission for it, or torch was built without it; stop the other profiler, or record on another machine"
)
_DROPPED = ("traceName", "distributedInfo", "host_name")
ID_STRIDE = 10_000_000
"""Added to the ids of each further run, so that they stay apart."""


def synchronize(device: torch.device) -> None:
    """Wait until the device has done all its work; nothing on a CPU."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "xpu":
        torch.xpu.synchronize(device)


class Session:
    """Starts and stops the profiler any number of times; `write` joins what was recorded."""

    def __init__(self, out: Path, *, device: torch.device, stacks: bool = False) -> None:
        self.out = out
        self.device = device
        self.recorded: list[dict[str, Any]] = []
        self._stacks = stacks
        self._profiler: torch.profiler.profile | None = None
        self._warm = False

    def start(self) -> None:
        """Begin to record, if nothing runs yet."""
        if self._profiler is not None:
            return
        if not self._warm and self.device.type != "cpu":
            # The first window after the device's tracing starts drops kernels: spend it on nothing.
            with self._new():
                torch.ones(1, device=self.device).add_(1)
                synchronize(self.device)
        self._warm = True
        self._profiler = self._new()
        self._profiler.start()

    def discard(self) -> None:
        """End the running recording and forget it: the first touches of a profiler are its own."""
        profiler, self._profiler = self._profiler, None
        if profiler is not None:
            profiler.stop()

    def stop(self) -> None:
        """End the running recording and keep its events."""
        profiler, self._profiler = self._profiler, None
        if profiler is None:
            return
        profiler.stop()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace.json"
            profiler.export_chrome_trace(str(path))
            self.recorded.append(json.loads(path.read_bytes().decode("utf-8", "replace"), strict=False))

    def write(self, recording: Recording, *, name: str = "trace.json.gz", check: bool = True) -> Path:
        """Write the trace to `out/name` in one step and return its path. Raises `TracerError` for a device without kernels."""
        trace = _joined(self.recorded)
        for key in _DROPPED:
            trace.pop(key, None)
        trace[METADATA_KEY] = msgspec.to_builtins(recording)
        if check and self.device.type != "cpu" and not any(e.get("cat") == "kernel" for e in trace["traceEvents"]):
            raise TracerError(NO_KERNELS.format(device=self.device.type))
        return write_trace(trace, self.out / name)

    def _new(self) -> torch.profiler.profile:
        activities = [torch.profiler.ProfilerActivity.CPU]
        if self.device.type == "cuda":
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        elif self.device.type == "xpu":
            activities.append(torch.profiler.ProfilerActivity.XPU)
        return torch.profiler.profile(activities=activities, record_shapes=True, with_stack=self._stacks)


def _joined(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """One trace of several runs: the first one's header, all events on its clock, ids apart."""
    first = runs[0]
    base = first.get("baseTimeNanoseconds", 0)
    for number, run in enumerate(runs[1:], 1):
        shift_us = (run.get("baseTimeNanoseconds", 0) - base) / 1000
        for event in run["traceEvents"]:
            if "ts" in event:
                event["ts"] += shift_us
            for ids, key in ((event, "id"), (event.get("args"), "correlation"), (event.get("args"), "External id")):
                if isinstance(ids, dict) and isinstance(ids.get(key), int) and event.get("ph") != "M":
                    ids[key] += number * ID_STRIDE
        first["traceEvents"] += run["traceEvents"]
    return first


def write_trace(trace: dict[str, Any], path: Path) -> Path:
    """Write a trace as gzip beside `path`, then rename. Raises `TracerError` where that cannot be done."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as packed:
                packed.write(msgspec.json.encode(trace))
            Path(beside).chmod(0o644)
            Path(beside).replace(path)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise TracerError(f"{path}: cannot be written ({error.strerror or error}); choose another --out") from error
    return path

"""The facts about a recording that a report may carry: a whitelist. A trace's metadata can hold environments and tokens."""

from __future__ import annotations

from typing import Any

from boundby.tracer.marks import Recording

from .trace import Header

_TOP = [
    "schemaVersion",
    "record_shapes",
    "with_stack",
    "with_flops",
    "with_modules",
    "profile_memory",
    "vllm_version",
    "cuda_runtime_version",
    "cuda_driver_version",
    "cupti_version",
    "hip_runtime_version",
    "hip_driver_version",
    "roctracer_version",
    "nccl_version",
]
_DISTRIBUTED = ("backend", "rank", "world_size", "nccl_version")
_DEVICE = ("name", "totalGlobalMem", "numSms", "computeMajor", "computeMinor")


def public_metadata(header: Header, recording: Recording | None) -> dict[str, Any]:
    """What of a trace's header goes into reports and JSON: versions, switches, the device, and our recorder's record."""
    shown: dict[str, Any] = {key: header.metadata[key] for key in _TOP if _plain(header.metadata.get(key))}
    distributed = {key: header.distributed[key] for key in _DISTRIBUTED if _plain(header.distributed.get(key))}
    if distributed:
        shown["distributed"] = distributed
    devices = [{key: d[key] for key in _DEVICE if _plain(d.get(key))} for d in header.device_properties[:1]]
    if devices:
        shown["devices"] = {"count": len(header.device_properties), "first": devices[0]}
    if recording is not None:
        for part in ("model", "workload", "settings", "versions", "device", "calibration", "memory"):
            value = getattr(recording, part)
            if value:
                shown[part] = value
    return shown


def _plain(value: object) -> bool:
    return isinstance(value, (int, float)) or (isinstance(value, str) and 0 < len(value) <= 64)

"""Did memory run out? Evidence that outranks the shares: a recording that failed for memory, or an allocator that
returned memory and asked again while the device was full."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from boundby.tracer.marks import Recording

from .correlate import Linked
from .device import Device
from .step import Step

FULL = 0.90
"""Share of the device's memory, reserved, from which a freed and re-asked block means that memory ran out, rather than a
cache that was emptied on purpose. Drivers and contexts hold some per cent themselves."""

_FREES = re.compile(r"^(cuda|hip)Free(Async)?$|^cuMemUnmap$|^hipMemUnmap$")
_ASKS = re.compile(r"^(cuda|hip)Malloc(Async)?$|^cuMemCreate$|^hipMemCreate$")


def capacity_evidence(
    linked: Linked, steps: Sequence[Step], device: Device, recording: Recording | None
) -> tuple[str, ...]:
    """Sentences that show a phase to be bound by capacity; empty when nothing does."""
    said = []
    if recording is not None and recording.memory.get("out_of_memory"):
        said.append("the recording ended out of memory")
    retries = sum(_retries(linked, step) for step in steps if step.kernel_rows is None)
    share = reserved_share(linked, device)
    if retries and share is not None and share >= FULL:
        said.append(
            f"{retries} times the allocator returned memory and asked again with {share:.0%} of {device.memory_gb:g} GB reserved"
        )
    return tuple(said)


def reserved_share(linked: Linked, device: Device) -> float | None:
    """The largest share of the device's memory that the allocator had reserved; None without memory events."""
    memory = linked.trace.memory
    if not memory.height or not device.memory_gb:
        return None
    most = memory["total_reserved"].max()
    return None if most is None else float(most) / (device.memory_gb * 1e9)  # type: ignore[arg-type]


def _retries(linked: Linked, step: Step) -> int:
    """Frees that a later allocation of the same step follows: the allocator gives blocks back only when it must."""
    launches = linked.trace.launches
    low, high = np.searchsorted(launches["ts_ns"].to_numpy(), [step.start_ns, step.end_ns])
    rows = launches.slice(int(low), int(high - low))
    if step.tid is not None:
        rows = rows.filter(rows["tid"] == step.tid)
    count, freed = 0, False
    for name in rows.filter(rows["name"].str.contains(r"Free|Unmap|Malloc|MemCreate"))["name"]:
        if _FREES.match(name):
            freed = True
        elif freed and _ASKS.match(name):
            count, freed = count + 1, False
    return count

"""Copies and fills of memory by the driver, whose bytes a trace holds in the event itself."""

from __future__ import annotations

from .cost import Cost


def copied(nbytes: float, name: str) -> Cost:
    """A memcpy of so many bytes. On one device it reads and writes them; across devices, or to and from the host, one
    side only is the device's. `name` is the event's: "Memcpy DtoD (Device -> Device)", "CopyHostToDevice", …"""
    kind = name.replace("Device -> Device", "DtoD").replace("CopyDeviceToDevice", "DtoD")
    kind = kind.replace("CopyHostToDevice", "HtoD").replace("CopyDeviceToHost", "DtoH")
    reads = "HtoD" not in kind
    writes = "DtoH" not in kind
    return Cost(family="memcpy", bytes_read=nbytes * reads, bytes_written=nbytes * writes)


def filled(nbytes: float) -> Cost:
    """A memset of so many bytes."""
    return Cost(family="memset", bytes_written=nbytes)

"""Collectives: bytes that one rank sends and receives on the wire, under the ring algorithms.

With n ranks and a message of S bytes: all-reduce 2 (n - 1) / n S each way; all-gather and reduce-scatter (n - 1) / n
of the whole; all-to-all (n - 1) / n S; broadcast and point to point S. `bytes_read` is what arrives, `bytes_written`
what leaves. Source: the bus-bandwidth factors of the nccl-tests' performance notes.
"""

from __future__ import annotations

from typing import Any

from .arguments import Arguments, Unusable, require
from .cost import Cost
from .dtypes import dtype_of
from .registry import formula


def wire_bytes(collective: str, nbytes: float, ranks: int) -> tuple[float, float]:
    """(sent, received) per rank. `nbytes` is the size of the whole: the larger of a rank's input and output."""
    require(ranks > 0)
    others = (ranks - 1) / ranks
    name = collective.lower().replace("_", "").replace("-", "").lstrip("c10d:").removesuffix("coalesced")
    if "barrier" in name or ranks == 1:
        return 0.0, 0.0
    if "allreduce" in name:
        return 2 * others * nbytes, 2 * others * nbytes
    if any(word in name for word in ("allgather", "reducescatter", "alltoall", "gather", "scatter")):
        return others * nbytes, others * nbytes
    if name.startswith(("broadcast", "reduce")):
        return nbytes, nbytes
    if name.startswith("send"):
        return nbytes, 0.0
    if name.startswith(("recv", "receive")):
        return 0.0, nbytes
    raise Unusable


def _cost(collective: str, nbytes: float, ranks: int) -> Cost:
    sent, received = wire_bytes(collective, nbytes, ranks)
    return Cost(family="communication", bytes_read=received, bytes_written=sent)


def _number(value: Any) -> int:
    require(type(value) is int and value >= 0)
    return int(value)


@formula("record_param_comms")
def record_param_comms(a: Arguments) -> Cost:
    """The op that c10d records beside each collective: its name, element counts, dtype and group size stand beside the
    shapes (`Call.extra`, under Kineto's own keys)."""
    extra = a.call.extra
    dtype = dtype_of(str(extra.get("dtype", "")))
    if dtype is None:
        raise Unusable
    elements = max(_number(extra.get("In msg nelems")), _number(extra.get("Out msg nelems")))
    ranks = _number(extra.get("Group size"))
    return _cost(str(extra.get("Collective name", "")), elements * dtype.bytes, ranks)

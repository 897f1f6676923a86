"""Every attention call of a trace with its lengths, looked up by rows of `ops`: each distinct call is parsed once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from boundby.analyzers.correlate import Linked

from .attention_shapes import ATTENTION_OPS, AttentionShape, attention_shape

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class AttentionCalls:
    """Columns of equal length, one row a call, in time order."""

    row: Ints
    """In `ops`."""
    pid: Ints
    tid: Ints
    shape: Ints
    """Index into `shapes`."""
    shapes: tuple[AttentionShape, ...]

    @classmethod
    def of(cls, linked: Linked) -> AttentionCalls:
        """The calls whose shapes were recorded."""
        ops, signatures = linked.trace.ops, linked.trace.signatures
        calls = ops.with_row_index("row").filter(pl.col("name").is_in(list(ATTENTION_OPS)))
        distinct = calls.select("name", "signature").unique(maintain_order=True)
        parsed = [(n, s, attention_shape(n, signatures[s])) for n, s in distinct.iter_rows()]
        shapes = list(dict.fromkeys(shape for _, _, shape in parsed if shape is not None))
        known = pl.DataFrame(
            [(n, s, shapes.index(shape)) for n, s, shape in parsed if shape is not None],
            schema={"name": pl.String, "signature": pl.UInt32, "shape": pl.Int64},
            orient="row",
        )
        found = calls.join(known, on=["name", "signature"], maintain_order="left")
        row, pid, tid, shape = (found[name].cast(pl.Int64).to_numpy() for name in ("row", "pid", "tid", "shape"))
        return cls(row, pid, tid, shape, tuple(shapes))

    def within(self, low: int, high: int, *, pid: int | None = None, tid: int | None = None) -> list[AttentionShape]:
        """The distinct shapes of the calls in rows low to high of `ops`, of one process or thread if asked."""
        at = slice(*np.searchsorted(self.row, [low, high]))
        mine = np.ones(len(self.row[at]), bool)
        if pid is not None:
            mine &= self.pid[at] == pid
        if tid is not None:
            mine &= self.tid[at] == tid
        return [self.shapes[n] for n in np.unique(self.shape[at][mine]).tolist()]

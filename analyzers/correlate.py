"""Which launch a kernel came from, and which op made the launch.

Kernel to launch by `correlation` (a graph launch has many kernels); launch to op by time and thread: the innermost op
that encloses the call.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .trace import Trace

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Linked:
    """A trace with its events tied together. Each array holds row numbers of the named frame, -1 for none."""

    trace: Trace
    launch_of: Rows
    """Per kernel: the row in `launches` of the call that enqueued it."""
    op_of: Rows
    """Per kernel: the row in `ops` of the innermost op around that call."""
    parent_of: Rows
    """Per op: the row in `ops` of the op around it on the same thread."""

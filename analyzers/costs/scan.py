"""Scans of state-space models and linear attention: a state per channel carried along the sequence.

Selective scan (Mamba 1), B sequences of L steps, D channels, N states: per channel, step and state the
discretisation, the state's update and the output take 9 FLOPs, on the vector units in fp32: 9 B L D N. Source: the
count used with Mamba's reference implementation. u, delta, B, C and the gate read once, the output written once, the
last state written once a sequence.
"""

from __future__ import annotations

import math

from .arguments import Arguments, require
from .cost import Cost
from .registry import formula


@formula("_C::selective_scan_fwd")
def selective_scan(a: Arguments) -> Cost:
    """selective_scan_fwd(u[B, D, L] or [D, T], delta, A[D, N], B, C, D?, z?, delta bias?, ..., states at 12): the output
    overwrites delta, or z where there is a gate."""
    u, decay = a.tensor(0), a.tensor(2, rank=2)
    require(len(u.shape) in (2, 3) and decay.shape[0] in u.shape)
    read = sum(t.bytes for t in (a.maybe(i) for i in range(8)) if t is not None)
    states = a.maybe(12)
    sequences = u.shape[0] if len(u.shape) == 3 else 1
    kept = sequences * decay.numel * states.width if states is not None else 0.0
    return Cost(
        family="scan",
        flops=9.0 * u.numel * decay.shape[1],
        bytes_read=read + kept,
        bytes_written=u.written + kept,
        unit="fp32",
    )


@formula("sgl_kernel::lightning_attention_decode")
def lightning_decode(a: Arguments) -> Cost:
    """lightning_attention_decode(q[B, H, 1, D], k, v[B, H, 1, D_v], state[B, H, D, D_v], slope, out, new state): the state is
    decayed, k v^T added and q applied: 5 FLOPs per element of the state."""
    state = a.tensor(3, rank=4)
    read = sum(a.tensor(i).bytes for i in range(5))
    out, new = a.tensor(5), a.tensor(6)
    return Cost(
        family="scan",
        flops=5.0 * math.prod(state.shape),
        bytes_read=read,
        bytes_written=out.written + new.written,
        unit="fp32",
    )

"""What the figures mean, printed in every report."""

CONVENTIONS = (
    "A multiply-add is 2 FLOPs; softmax is not counted.",
    "Causal attention counts the query-key pairs that a causal kernel computes.",
    "Bytes are compulsory traffic: each distinct element read once, each output written once, at its stored width.",
    "Peaks are dense, per dtype; a GEMM is judged against the peak of the unit that runs it.",
    "Wall, busy, idle, FLOPs and bytes of a phase are sums over its steps; tokens and batch are those of one step.",
)

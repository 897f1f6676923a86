"""The page's glossary: what each class of time and each column means."""

from __future__ import annotations

CLASSES = {
    "compute": "Kernels that need at least as long for their FLOPs at the device's peak as for their bytes at its "
    "bandwidth.",
    "bandwidth": "Kernels that need longer for their bytes than for their FLOPs.",
    "launch": "The device waits because the host launched the next kernel late, a kernel was starting, or kernels are so small "
    "that starting them costs more than running them.",
    "communication": "Exchange with other devices that no computation covers.",
    "transfer": "Copies between host and device that no computation covers.",
    "stall": "Enqueued work that waits for an event, another stream or another rank.",
    "unknown": "Busy time of kernels whose cost and kind are not known, and time nothing in the trace explains.",
}

DEFINITIONS = {
    "wall time": "From a step's opening to the end of its last kernel. If the recorder timed the same steps without the "
    "profiler, that time is used where it is longer than the busy time.",
    "busy": "The union of the kernels' intervals: overlaps count once.",
    "share": "Part of the wall time. A phase's shares are disjoint and sum to 1.",
    "bound": "The class with the largest share; contested when the lead is under 0.10 or something uncertain could overturn it.",
    "margin": "The largest share less the second largest.",
    "intensity": "FLOPs per byte of compulsory memory traffic.",
    "ridge": "The intensity at which a device turns from bandwidth-bound to compute-bound: peak FLOP/s over bandwidth.",
    "of the roof": "The time that a kernel's FLOPs or bytes (the larger) would take at the device's peaks, over the time taken. "
    "Over 100 % the data came from a cache, or the count is wrong; it is shown, not hidden.",
    "gap before": "Idle time of the device that ended when this kernel began, summed over its calls.",
    "known by": "Where a cost comes from: recorded shapes, an engine's token counts (span), the model's facts (model), the "
    "kernel's name, or nowhere.",
    "distortion": "How much longer a step takes under the profiler than without it.",
    "predicted": "The analytic model's answer from the model's facts and the device's peaks, made without the trace's times.",
}

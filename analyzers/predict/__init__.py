"""The analytic model: FLOPs, bytes, time and bound of each part of a step, from a model's facts and a device alone."""

from .memory import Memory, memory_of
from .parts import Part, Workload, parts_of_step
from .reference import ReferenceModel, critical_batch, step_time
from .step import PredictedStep, predict_step

__all__ = [
    "Memory",
    "Part",
    "PredictedStep",
    "ReferenceModel",
    "Workload",
    "critical_batch",
    "memory_of",
    "parts_of_step",
    "predict_step",
    "step_time",
]

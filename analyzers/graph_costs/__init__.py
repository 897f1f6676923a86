"""Costs of device kernels that no op explains: replays of CUDA and HIP graphs, and traces recorded without shapes."""

from .explain import Explained, explain_kernels

__all__ = ["Explained", "explain_kernels"]

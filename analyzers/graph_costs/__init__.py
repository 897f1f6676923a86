"""Costs of device kernels that no op explains: replays of CUDA and HIP graphs, and traces recorded without shapes."""

from .explain import Explained, explain_kernels
from .reference import Reference, read_references

__all__ = ["Explained", "Reference", "explain_kernels", "read_references"]

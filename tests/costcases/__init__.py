"""Costs worked out by hand, for every op that has a formula."""

from . import attention, engines, matrices, quantised, streaming

CASES = [*streaming.CASES, *matrices.CASES, *attention.CASES, *quantised.CASES, *engines.CASES]

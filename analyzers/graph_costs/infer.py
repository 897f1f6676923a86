"""`infer_model`: which of the well-known models a trace ran, where exactly one fits everything that it shows.

What is seen (layers, heads, vocabulary, recorded shapes, the order of the kernels) often leaves one model. Where it leaves
several, or does not show the hidden size, the kernels' own times decide: in a decode step of few tokens a product's time
is its weights' streaming time and a fixed part, t = t_0 + bytes / rate, with one t_0 and one rate for all of the model's
products. Only the right sizes lie on such a line.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..device import Device
from ..facts import ModelFacts
from ..work import Work
from .evidence import Evidence
from .fit import Fit, fit
from .known import known_models
from .order import MisfitError
from .passes import Sequences
from .prices import prices_of_step

Floats = npt.NDArray[np.float64]

_ON_THE_LINE = 0.15
"""Largest relative distance of a product's median time from the line for a model to be believed. Products of one model on
one device reach bandwidths that differ about so much with their shapes."""
_CLEARLY_WORSE = 1.5
"""How many times farther from the line all other models must be."""
_FEW_TOKENS = 64
"""Below any device's 16-bit ridge (the lowest known lies at 76 FLOPs per byte): products stream their weights."""
_ROLES = ("qkv_proj", "q_proj", "o_proj", "gate_up_proj", "gate_proj", "down_proj", "lm_head")


def infer_model(
    work: Work, sequence: Sequences, seen: Evidence, device: Device, *, models: Sequence[ModelFacts] | None = None
) -> tuple[Fit, str] | None:
    """The one model that fits a sequence of kernels, and the sentence that says so; None where none or several do."""
    if not seen.tells_sizes:
        return None
    fitting = [f for facts in models or known_models() if (f := _fits(work, sequence, seen, facts, device)) is not None]
    told = any(outer == seen.vocabulary or outer > 2 * inner for inner, outer in seen.products)
    if len(fitting) == 1 and told:
        return fitting[0], _note(fitting[0], seen, "the only known model that fits what the trace shows")
    distances = sorted(
        (distance, at) for at, f in enumerate(fitting) if (distance := off_line(work, sequence, f)) is not None
    )
    if not distances or len(distances) < len(fitting) or distances[0][0] > _ON_THE_LINE:
        return None
    if len(distances) > 1 and distances[1][0] < max(_CLEARLY_WORSE * distances[0][0], _ON_THE_LINE):
        return None
    best = fitting[distances[0][1]]
    others = [f.facts.name for f in fitting if f is not best]
    why = "the only known model that fits what the trace shows and whose products' times follow their sizes"
    if others:
        why += f" (those of {', '.join(others)} do not)"
    return best, _note(best, seen, why)


def off_line(work: Work, sequence: Sequences, found: Fit) -> float | None:
    """The largest relative distance of a product's median time from t = t_0 + bytes / rate; None where the pass has too
    many tokens or too few kinds of product to tell."""
    one = sequence.passes[0]
    if one.step.kind != "decode" or one.workload.query > _FEW_TOKENS:
        return None
    prices = prices_of_step(found.facts, one.workload)
    times: dict[str, list[int]] = {}
    for row, role in zip(one.rows.tolist(), found.roles, strict=True):
        if role is not None and role.operator in _ROLES:
            times.setdefault(role.operator, []).append(int(work.time[row]))
    if len(times) < 4:
        return None
    moved = np.array([prices[name].bytes for name in times])
    time = np.array([float(np.median(values)) for values in times.values()])
    return _distance(moved, time)


def _distance(moved: Floats, time: Floats) -> float:
    """Least squares of the relative distances, with t_0 and 1 / rate not below 0."""
    line = np.column_stack([np.ones_like(moved), moved]) / time[:, None]
    solution = np.linalg.lstsq(line, np.ones_like(time), rcond=None)[0]
    if solution[0] < 0:
        solution = np.array([0.0, 1.0 / float(np.mean(moved / time))])
    return float(np.abs(line @ solution - 1).max())


def _fits(work: Work, sequence: Sequences, seen: Evidence, facts: ModelFacts, device: Device) -> Fit | None:
    if seen.unexplained(facts):
        return None
    try:
        return fit(work, sequence, seen, facts, device)
    except MisfitError:
        return None


def _note(found: Fit, seen: Evidence, why: str) -> str:
    heads = (
        f"{seen.kv_heads} KV heads" if seen.kv_heads else f"{seen.ratio} query heads per KV head" if seen.ratio else ""
    )
    shown = [f"{seen.layers} layers", heads, f"{seen.vocabulary} logits" if seen.vocabulary else ""]
    shown += [f"a [{inner},{outer}] product" for inner, outer in sorted(seen.products)[:2]]
    return (
        f"the model is taken to be {found.facts.name}: {why} ({', '.join(s for s in shown if s)}); --model says another"
    )

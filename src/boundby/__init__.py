"""boundby: what is each phase of a language model bound by, and what would make it faster?

The three rooms are `boundby.tracer` (records), `boundby.analyzers` (reads and reasons) and `boundby.reports` (shows).
The names below are the public surface; they load on first use, so that importing `boundby` costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from boundby.analyzers.presenters import PRESENTERS
from boundby.tracer import version as _version

if TYPE_CHECKING:
    from boundby.analyzers.analysis import Analysis as Analysis
    from boundby.analyzers.analyze import analyze as analyze
    from boundby.analyzers.errors import BoundbyError as BoundbyError
    from boundby.tracer.hook import PhaseTracer as PhaseTracer

__version__ = _version.VERSION

__all__ = ["Analysis", "BoundbyError", "PhaseTracer", "__version__", "analyze"]

_HOMES = {
    "Analysis": "boundby.analyzers.analysis",
    "BoundbyError": "boundby.analyzers.errors",
    "PhaseTracer": "boundby.tracer.hook",
    "analyze": "boundby.analyzers.analyze",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'boundby' has no attribute {name!r}")


def _on_first_call(module: str, name: str) -> Callable[..., Any]:
    def call(*given: Any) -> Any:
        return getattr(import_module(module), name)(*given)

    return call


# Here the rooms meet: an Analysis shows itself by the reports, which it doesn't know.
PRESENTERS.update(
    html=_on_first_call("boundby.reports.notebook", "fragment"),
    polars=_on_first_call("boundby.reports.notebook", "to_polars"),
    pandas=_on_first_call("boundby.reports.notebook", "to_pandas"),
    plot=_on_first_call("boundby.reports.notebook", "Plots"),
)

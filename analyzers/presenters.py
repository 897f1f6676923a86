"""How an `Analysis` shows itself in a notebook: by functions given from outside, because this room knows no report.

`boundby/__init__.py` gives them; each loads its module when it is first called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

PRESENTERS: dict[str, Callable[..., Any]] = {}
"""By name: "html" (analysis) -> str, "polars" and "pandas" (analysis, table) -> a frame, "plot" (analysis) -> its plots."""


def present(how: str, *given: Any) -> Any:
    """What the presenter `how` makes of `given`. Raises `LookupError` where none was given (not by way of `boundby`)."""
    presenter = PRESENTERS.get(how)
    if presenter is None:
        raise LookupError(f"no presenter {how!r} is registered; import boundby")
    return presenter(*given)

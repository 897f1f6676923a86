"""Gate results as GitHub workflow commands: an annotation on the run for each failure and each doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .inert import inert

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boundby.analyzers.comparison.gates import GateResult


def github_annotations(results: Sequence[GateResult]) -> list[str]:
    """One line a result that did not pass. Text from a trace cannot end the command or begin another."""
    level = {"fail": "error", "unknown": "warning"}
    return [
        f"::{level[r.outcome]} title=boundby {_property(r.gate)}::{_data(f'{r.phase}: {r.message}')}"
        for r in results
        if r.outcome in level
    ]


def _data(text: str) -> str:
    return inert(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

"""What was wrong with a trace, counted by kind. The codes are stable and documented."""

from __future__ import annotations

from ..trace import TraceWarning


class Notes:
    """Collects warnings; the same code adds up, and keeps its first message."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, int]] = {}

    def add(self, code: str, message: str, count: int = 1) -> None:
        """Count `count` more of a kind."""
        first, before = self._found.get(code, (message, 0))
        self._found[code] = (first, before + count)

    def warnings(self) -> tuple[TraceWarning, ...]:
        """All kinds, in order of first appearance."""
        return tuple(TraceWarning(code, message, count) for code, (message, count) in self._found.items())

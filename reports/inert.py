"""Text from a trace is untrusted: make whatever could act on a terminal, a page or a reader's eye visible instead."""

from __future__ import annotations

import unicodedata

LIMIT = 2000
"""Characters kept of one name; real kernel names stay below this."""


def inert(text: str, limit: int = LIMIT) -> str:
    """`text` with control, escape, bidi, zero-width and unpaired surrogate characters spelled out (`\\x1b`, `\\u202e`).

    The result is one line, encodes to UTF-8, and holds at most `limit` characters (a longer one ends in "…").
    """
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _visible(char) for char in text)


def _visible(char: str) -> str:
    if unicodedata.category(char) == "Zs":
        return " "
    return char.encode("unicode_escape").decode("ascii")

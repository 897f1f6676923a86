"""A headless Chromium for the page tests: Debian's, driven by Playwright. Both are optional; tests skip with the reason."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from boundby.analyzers.analysis import Analysis
from boundby.reports.html import render

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium_path() -> str | None:
    """Where Chromium is, or None; BOUNDBY_CHROMIUM names another one."""
    return os.environ.get("BOUNDBY_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = chromium_path()
    if path is None:
        pytest.skip("no chromium: apt-get install chromium, or name one in BOUNDBY_CHROMIUM")
    with api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


RENDERED: dict[Callable[[], Analysis], str] = {}


def rendered(make: Callable[[], Analysis]) -> str:
    """The page of `make()`, made once."""
    if make not in RENDERED:
        RENDERED[make] = render(make())
    return RENDERED[make]


@dataclass
class Opened:
    """A page that is open, what it has asked for, and what it has complained of."""

    page: Any
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@pytest.fixture
def open_page(chromium: Any, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """Render an example to a file and open it: `open_page(prefill_h100, fragment="#kernels", width=390, **context)`."""
    contexts = []

    def opened(make: Callable[[], Analysis], *, fragment: str = "", width: int = 1280, **context: Any) -> Opened:
        path = tmp_path / "report.html"
        path.write_text(rendered(make), encoding="utf-8")
        contexts.append(chromium.new_context(viewport={"width": width, "height": 900}, **context))
        shown = Opened(contexts[-1].new_page())
        shown.page.on("console", lambda message: shown.complaints.append(message.text))
        shown.page.on("pageerror", lambda error: shown.complaints.append(str(error)))
        shown.page.on("request", lambda request: shown.requests.append(request.url))
        shown.page.goto(path.as_uri() + fragment)
        return shown

    yield opened
    for context in contexts:
        context.close()

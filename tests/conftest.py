"""What the tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared" / "traces"


@pytest.fixture(scope="session")
def shared_traces() -> Path:
    """The folder of real traces beside the project; the test skips where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the traces for developers (../shared/traces) are not beside this project")
    return SHARED

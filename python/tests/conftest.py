"""What the tests share: stores in folders of their own, and nothing of the user."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import memorist
import pytest


@pytest.fixture(autouse=True)
def nothing_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides the settings and the store of the user who runs the tests."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    for name in ("STORE", "CONFIG", "CACHE", "MODEL", "PROJECT", "AGENT"):
        monkeypatch.delenv(f"MEMORIST_{name}", raising=False)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[memorist.Store]:
    """A store in which nothing embeds."""
    with memorist.Store(tmp_path / "store", embed=None) as opened:
        yield opened

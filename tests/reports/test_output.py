import os
import stat
from pathlib import Path

import pytest

from boundby.analyzers.errors import OutputError
from boundby.reports import output


def test_an_interrupted_write_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("old")

    def interrupted() -> None:
        with output.replacing(target) as beside:
            beside.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_finished_write_replaces_the_file_and_makes_its_folder(tmp_path: Path) -> None:
    target = tmp_path / "new" / "out.json"
    output.write(target, "µ")
    output.write(target, b"second")
    assert target.read_bytes() == b"second"
    assert list(target.parent.iterdir()) == [target]


def test_a_new_file_has_the_mode_of_any_other(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        output.write(tmp_path / "a", "x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


@pytest.mark.parametrize("act", [output.check_writable, lambda path: output.write(path, "x")])
def test_a_folder_or_a_place_under_a_file_is_refused(tmp_path: Path, act: object) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path, tmp_path / "file" / "below"):
        with pytest.raises(OutputError):
            act(path)  # type: ignore[operator]


def test_a_folder_cannot_take_the_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="choose another place"):
        output.folder(tmp_path / "file")

"""Secrets made once: for their owner's eyes, the same for every process."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from config import keyring

ROOT = Path(__file__).parent.parent.parent


def test_a_secret_is_made_once_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "keys" / "secret"
    made = keyring.load_or_create_secret(file)
    assert len(made) >= 50
    assert keyring.load_or_create_secret(file) == made == file.read_text(encoding="utf-8")
    assert [one.name for one in file.parent.iterdir()] == ["secret"]
    assert keyring.load_or_create_secret(tmp_path / "other") != made


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    keyring.load_or_create_secret(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_key_that_cannot_be_made_leaves_no_file(tmp_path: Path) -> None:
    def fail() -> bytes:
        raise OSError("no entropy")

    with pytest.raises(OSError, match="no entropy"):
        keyring.load_or_create_file(tmp_path / "secret", fail)
    assert list(tmp_path.iterdir()) == []


def test_who_comes_second_takes_the_secret_of_who_was_first(tmp_path: Path) -> None:
    file = tmp_path / "secret"

    def make_while_another_is_faster() -> bytes:
        keyring.load_or_create_file(file, lambda: b"first")
        return b"second"

    assert keyring.load_or_create_file(file, make_while_another_is_faster) == b"first"


def test_processes_that_start_at_once_end_with_the_same_secret(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from config import keyring; print(keyring.load_or_create_secret(Path(sys.argv[1])))"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / "keys" / "secret")], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for _ in range(6)
    ]
    secrets = {process.communicate(timeout=60)[0] for process in processes}
    assert [process.returncode for process in processes] == [0] * 6
    assert len(secrets) == 1

"""The inputs that are kept: a file of lines for each target, an input a line, its bytes as printable ASCII.

Each once reached code that no smaller one reached. `python -m tests.fuzz.explore` renews them.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parents[1] / "corpus"


def load(target: str) -> list[bytes]:
    lines = (FOLDER / f"{target}.txt").read_text(encoding="ascii").splitlines()
    return [line.encode().decode("unicode_escape").encode("latin-1") for line in lines]


def save(target: str, inputs: Iterable[bytes]) -> None:
    """In order of size, so that what is added shows."""
    lines = [
        made.decode("latin-1").encode("unicode_escape").decode() for made in sorted(set(inputs), key=lambda one: (len(one), one))
    ]
    (FOLDER / f"{target}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="ascii")

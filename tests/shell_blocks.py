"""Blocks of shell in documents: which are run on a fresh sample (make test-readme), and why the others are not.

The line that opens a block says so: "```sh not-run: it asks a site on the internet".
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.clients.server import ROOT

SHELL: Final = re.compile(r"^```(sh\b[^\n]*)\n(.*?)^```$", re.M | re.S)
MARKER: Final = "sh not-run: "
LINES_RUN_BY_OTHERS: Final = {
    ROOT / "README.md",  # tests/test_readme.py, line by line
    ROOT / "docs" / "mcp-articles.md",  # tests/mcpserver/test_articles_document.py
    ROOT / "docs" / "verification.md",  # tests/mcpserver/test_verification_document.py
    ROOT / "docs" / "changes.md",
}


@dataclass(frozen=True, slots=True)
class ShellBlock:
    info: str
    text: str

    @property
    def is_run(self) -> bool:
        return self.info == "sh"

    @property
    def reason(self) -> str:
        return self.info.removeprefix(MARKER).strip() if self.info.startswith(MARKER) else ""


def read_blocks(document: Path) -> list[ShellBlock]:
    return [ShellBlock(info, text) for info, text in SHELL.findall(document.read_text(encoding="utf-8"))]


def list_scripts() -> dict[str, str]:
    """Return for each document that no other test runs its blocks as one script, in order."""
    scripts = {}
    for document in sorted((ROOT / "docs").rglob("*.md")):
        blocks = [block.text for block in read_blocks(document) if block.is_run]
        if blocks and document not in LINES_RUN_BY_OTHERS:
            scripts[document.relative_to(ROOT).as_posix()] = "\n".join(blocks)
    return scripts

"""docs/verification.md and docs/changes.md: their examples are answered as they stand there, in process and by a served wire."""

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest
from django.conf import settings

from tests.clients.server import serving
from tests.mcpserver.documented import Example, examples
from wire.queries import claim_corroboration

DOCS: Final = Path(settings.BASE_DIR) / "docs"
DOCUMENT: Final = "\n".join((DOCS / name).read_text(encoding="utf-8") for name in ("verification.md", "changes.md"))
EXAMPLES: Final = examples(DOCUMENT)
TOOLS: Final = ("verify_citation", "corroborate", "compare_coverage", "get_changes", "get_provenance")


def test_each_tool_and_as_of_have_an_example() -> None:
    asked = " ".join(example.command for example in EXAMPLES if example.command.startswith("ask "))
    assert [name for name in TOOLS if f'"name":"{name}"' not in asked] == []
    assert '"as_of":"' in asked


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.usefixtures("sample")
@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_every_example_is_answered_as_it_stands_there(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claim_corroboration, "is_sample_wire", lambda: True)  # as the wire is that a reader tries them on
    body = example.ask("/mcp").body.decode()
    assert example.shows(body), example.answered(body)


def test_a_block_that_says_something_else_is_noticed() -> None:
    example = Example("curl localhost:8000/api/today.json", "json", '{"verdict":"wrong",…}')
    assert example.shows('{"verdict":"wrong","found":1}')
    assert not example.shows('{"verdict":"verified","found":1}')
    assert not example.shows('{"verdict":"wrong","found":1}]')


@pytest.mark.slow
def test_a_shell_and_curl_get_the_same_from_a_served_wire(tmp_path: Path) -> None:
    (ask,) = re.findall(r"^ask\(\) .*$", DOCUMENT, re.M)
    with serving(tmp_path) as site:
        here = site.removeprefix("http://")
        for example in EXAMPLES:
            command = example.command.replace("curl -N", "curl -m 3 -N")  # a stream goes on until somebody leaves
            script = f"{ask}\n{command}".replace("localhost:8000", here).replace("curl ", "curl -s ")
            body = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False).stdout
            assert example.shows(body.replace(here, "localhost:8000")), body

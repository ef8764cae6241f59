"""Examples of documents: a request as it is typed into a shell, and in the block below it what is answered."""

import asyncio
import json
import re
import shlex
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from urllib.parse import urlencode

from tests.mcpserver.asgi import Answer, http_scope, request, send_request

JSON: Final = {"content-type": "application/json", "accept": "application/json"}
WHOLE: Final = {"json", "event-stream"}
"""Languages of blocks that show a body; in others stands the text of the tool's result."""
LEFT_OUT: Final = "…"


@dataclass(frozen=True, slots=True)
class Example:
    """`ask` posts its first word to an MCP server, which a second one may name; `curl` gets an address."""

    command: str
    language: str
    shown: str

    @property
    def words(self) -> list[str]:
        return shlex.split(self.command)[1:]

    def ask(self, path: str) -> Answer:
        """The answer of the real application; of the server at `path`, if it is one of MCP."""
        if self.command.startswith("ask "):
            return request("POST", path, self.words[0].encode(), JSON)
        (url,) = (word for word in self.words if word.startswith("localhost:8000/"))
        data = dict(value.split("=", 1) for option, value in pairwise(self.words) if option == "--data-urlencode")
        address = url.removeprefix("localhost:8000") + (f"?{urlencode(data)}" if data else "")
        return asyncio.run(send_request(http_scope("GET", address), leaves="-N" in self.words))

    def answered(self, body: str) -> str:
        """What the block shows of a body."""
        return body if self.language in WHOLE else str(json.loads(body)["result"]["content"][0]["text"])

    def shows(self, body: str) -> bool:
        """Whether the block is what was answered, but for what it leaves out."""
        parts = (re.escape(part) for part in self.shown.split(LEFT_OUT))
        return re.fullmatch(".*".join(parts), self.answered(body).strip(), re.S) is not None


def examples(document: str) -> list[Example]:
    found = re.findall(r"^```sh\n((?:ask|curl) [^`]*?)\n```\n```([\w-]+)\n(.*?)\n```$", document, re.M | re.S)
    assert len(found) == len(re.findall(r"^(?:ask|curl) ", document, re.M)), "each request has its answer below"
    return [Example(*one) for one in found]

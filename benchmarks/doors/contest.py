"""Contenders and questions: the rows of the tables, in sections whose rows answer the same."""

import base64
import gzip
import json
import re
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.doors.environments import NotInstalled, prepare
from benchmarks.doors.load import Measured
from benchmarks.doors.ourwire import LIMITED, fill, serve_wire
from benchmarks.doors.questions import (
    FIRST_NUMBER,
    MODERN,
    NINE,
    SHORT,
    Question,
    Section,
    category_miss,
    get,
    resource_hit,
    search_hit,
    search_miss,
    sections,
)
from benchmarks.doors.servers import Reply, Server, contender

ON, OFF = "the wire, limiter on", "the wire, limiter off"
BARE, VIEW = "bare ASGI", "async Django view"
LOW, HIGH, MCPZ, FAST = "SDK, low-level server", "SDK, high-level server", "django-mcpz", "FastMCP"
_OWN_FIELDS: Final = re.compile(r'"next_cursor":"[^"]*"|"est_tokens":\d+')
KEPT_HEADERS: Final = ("content-type", "content-encoding", "etag", "cache-control", "vary")


@dataclass(slots=True)
class Row:
    """A contender and a question; `measured` has one entry a round, `calm` some at a constant rate, each with what a request
    cost then beside what it cost when that rate was found.
    """

    section: Section
    who: str
    server: Server
    question: Question
    size: int  # bytes of an answer, head and body
    measured: list[Measured] = field(default_factory=list)
    calm: list[tuple[float, Measured]] = field(default_factory=list)

    @property
    def paced(self) -> bool:
        return bool(self.section.era) and not self.section.miss and self.who in (ON, BARE)

    @property
    def steady(self) -> list[Measured]:
        """Half of those at a constant rate, at least one: those during which the machine was not slower than before. At 70 % of
        what it could do before it slowed down by half, every queue grows.
        """
        ordered = sorted(self.calm, key=lambda found: found[0])
        return [calm for _, calm in ordered[: (len(ordered) + 1) // 2]]


class Contest:
    """Starts everyone and checks that they answer the same; then they stand still. They end with `stack`. Raises: SystemExit."""

    def __init__(self, scratch: Path, stack: ExitStack) -> None:
        self.servers: dict[str, Server] = {}
        self.versions: dict[str, str] = {}
        self.missing: dict[str, str] = {}
        self._number = FIRST_NUMBER
        fill(scratch / "wire")
        for who, limit in ((OFF, "off"), (ON, LIMITED)):
            self.servers[who] = stack.enter_context(serve_wire(who, scratch / "wire", limit=limit))
        today = self._ask(OFF, get("/api/today.json", accept_encoding="gzip"))
        story_id = json.loads(self._ask(OFF, get("/api/today.json")).body)["stories"][0]["chatbotnews_id"]
        asked = sections(story_id, today.headers["etag"])
        answers = scratch / "answers.json"
        answers.write_text(json.dumps(self._capture_answers(asked, story_id)), encoding="utf-8")
        finished, search = get("/first"), search_hit(MODERN)
        for who, module, first in (
            (BARE, "bare", finished),
            (VIEW, "django_view", finished),
            (LOW, "sdk_low", search),
            (HIGH, "sdk_high", search),
        ):
            self.servers[who] = stack.enter_context(contender(who, module, first, answers))
        for package, who, module in (("django-mcpz", MCPZ, "mcpz"), ("fastmcp", FAST, "fast")):
            try:
                self.versions[who], python = prepare(package)
            except NotInstalled as error:
                self.missing[who] = str(error)
                continue
            self.servers[who] = stack.enter_context(contender(who, module, search, answers, python))
        self.rows = [row for section in asked for row in self._build_rows(section)]
        for server in self.servers.values():
            server.stand_still()

    def _capture_answers(self, wanted: list[Section], story_id: str) -> dict[str, Any]:
        """Return the answers that contenders/payload.py reads."""
        pages = {}
        asked = (("search_wire", SHORT, search_hit), ("search_wire", NINE, search_miss), ("get_category", NINE, category_miss))
        for name, limit, question_of in asked:
            question = question_of(MODERN)
            told = pages[f"{name} {limit}"] = _extract_text(self._ask(OFF, question), question)
            if len(json.loads(told)["stories"]) != limit:
                raise SystemExit(f"Not {limit} stories: {told}")
        finished: dict[str, Any] = {"/first": (200, [], "")}
        for section in wanted:
            reply = self._ask(OFF, section.question)
            body = reply.body
            if section.question.method == "POST":
                body = json.dumps(json.loads(body)["result"], separators=(",", ":"), ensure_ascii=False).encode()
            headers = [(name, reply.headers[name]) for name in KEPT_HEADERS if name in reply.headers]
            finished[section.path] = (reply.status, headers, base64.b64encode(body).decode())
        read = resource_hit(MODERN, story_id)
        return {"pages": pages, "resource": _extract_text(self._ask(OFF, read), read), "finished": finished}

    def _build_rows(self, section: Section) -> list[Row]:
        """The section's rows, each of whose servers has answered as the wire does."""
        everyone = [OFF, BARE, VIEW]
        if not section.miss:
            everyone = [ON, *everyone]
        if section.kind == "call":
            everyone += [LOW, HIGH, MCPZ, FAST]
        elif section.kind == "read":
            everyone += [LOW, HIGH, FAST]
        if not section.everyone:
            everyone = [who for who in everyone if who in (ON, OFF, BARE)]
        rows, wanted = [], ""
        for who in (who for who in everyone if who in self.servers):
            question = section.question.at(section.path) if who in (BARE, VIEW) else section.question
            reply = self._ask(who, question)
            said = comparable_text(reply, question)
            wanted = wanted or said
            if said != wanted:
                at = next((at for at, (one, other) in enumerate(zip(said, wanted, strict=False)) if one != other), 0)
                shown = slice(max(0, at - 100), at + 200)
                raise SystemExit(f"{who} does not answer as the wire does: {section.title}\n{said[shown]}\n{wanted[shown]}")
            rows.append(Row(section, who, self.servers[who], question, reply.size))
        return rows

    def _ask(self, who: str, question: Question) -> Reply:
        self._number += 1
        reply = self.servers[who].ask(question, self._number)
        if reply.status != 304 and not (reply.status == 200 and "content-length" in reply.headers):
            raise SystemExit(f"{who} answers {question.path} with {reply.status} {reply.headers} {reply.body[:300]!r}")
        return reply


def comparable_text(reply: Reply, question: Question) -> str:
    """Return the text of an answer without the fields that depend on how the question is put."""
    # A cursor is bound to its question, the estimate of tokens counts the cursor's characters, and each contender is asked another
    # question: those of a miss differ in a second or a parameter.
    return _OWN_FIELDS.sub("", _extract_text(reply, question))


def _extract_text(reply: Reply, question: Question) -> str:
    """Return the text of a tool or resource, or status and body of a page."""
    if question.method == "GET":
        body = gzip.decompress(reply.body) if reply.headers.get("content-encoding") == "gzip" else reply.body
        return f"{reply.status} {body.decode()}"
    message = json.loads(reply.body)
    if "result" not in message:
        raise SystemExit(f"{question.body} is answered with {message}")
    result = message["result"]
    text: str = (result.get("content") or result["contents"])[0]["text"]
    if "content" in result and result["structuredContent"] != json.loads(text):
        raise SystemExit(f"The structured content is not the text: {result}")
    return text

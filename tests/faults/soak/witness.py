"""Whether what clients are told is true: whole, as its hashes say, as it was published, and never older than before."""

import gzip
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from tests.faults.soak.questions import Asked
from tests.faults.soak.wires import Chain
from tests.wire.newsroom import manifest_of, verifier

_SHOWN_DAY: Final = re.compile(rb"SHA-256 <code>([0-9a-f]{64})</code>")
_SHOWN_STORY: Final = re.compile(rb"<dt>Revision</dt><dd>(\d+), .*?<dt>SHA-256</dt><dd><code>([0-9a-f]{64})</code>", re.DOTALL)
MOST_FAULTS: Final = 1_000


class Wrong(Exception):
    """An answer that is not what it should be."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How new an answer is: the snapshot's place in the chain, or a story's revision. `day` is the wire date it tells of."""

    number: int
    day: str = ""


@dataclass(slots=True)
class Witness:
    """Looks at every answer. Bodies that it has seen before are known by their digest, so it keeps up with thousands a second."""

    wrong: list[str] = field(default_factory=list)
    stale: float = 0.0
    """Seconds for which an answer was older than one that somebody had been given before."""
    looked: int = 0
    days: dict[tuple[str, int], str] = field(default_factory=dict)
    stories: dict[tuple[str, int], str] = field(default_factory=dict)
    pages: set[str] = field(default_factory=set)
    """Hashes of days that pages of the site showed."""
    bodies: dict[tuple[str, int], bytes] = field(default_factory=dict)
    """Days as REST served them, by date and snapshot."""
    _known: dict[tuple[str, bytes], Mark | None] = field(default_factory=dict)
    _checked: set[bytes] = field(default_factory=set)
    _first: dict[str, dict[int, float]] = field(default_factory=lambda: defaultdict(dict))

    def look(self, asked: Asked, number: int, headers: Mapping[str, str], body: bytes, sent: float, heard: float) -> Mark | None:
        """How new a 200 is that was asked for with this number. Raises: Wrong."""
        self.looked += 1
        body = self._as_asked(asked, number, headers, body)
        key = (asked.about, hashlib.blake2b(body, digest_size=16).digest())
        if key not in self._known:
            self._known[key] = self._read(asked, body)
        mark = self._known[key]
        if mark is not None and mark.day and asked.newest:
            self._see(mark, sent, heard)
        return mark

    def note(self, fault: str) -> None:
        if len(self.wrong) < MOST_FAULTS:
            self.wrong.append(fault)

    def against(self, chain: Chain) -> list[str]:
        """What clients were told that was never published."""
        found = [f"day {day} revision {n}" for (day, n), sha256 in self.days.items() if chain.days.get((day, n)) != sha256]
        found += [f"{story} revision {n}" for (story, n), sha256 in self.stories.items() if chain.stories.get((story, n)) != sha256]
        return found + sorted(self.pages - {*chain.days.values()})

    def _as_asked(self, asked: Asked, number: int, headers: Mapping[str, str], body: bytes) -> bytes:
        """The body without what differs from client to client: the coding, which its ETag must fit, or the request's id."""
        if asked.door == "mcp":
            opening = b'{"jsonrpc":"2.0","id":%d,"result":' % number
            if not body.startswith(opening):
                raise Wrong(f"{asked.about}: {body[:200]!r}")
            return body[len(opening) - 1 :]
        coding = headers.get("content-encoding", "")
        if coding == "gzip":
            body = gzip.decompress(body)
        tag = hashlib.sha256(body).hexdigest()[:32] + (f"-{coding}" if coding else "")
        if headers.get("etag") != f'"{tag}"':
            raise Wrong(f"{asked.about}: ETag {headers.get('etag')} of a body whose own is {tag}")
        return body

    def _read(self, asked: Asked, body: bytes) -> Mark | None:
        if asked.door == "site":
            return self._page(asked, body)
        try:
            if asked.door == "rest":
                return self._document(asked, orjson.loads(body), body)
            result = orjson.loads(body[1:-1])
            if result.get("isError"):
                raise Wrong(f"{asked.about}: {body[:200]!r}")
            told = result.get("structuredContent") or orjson.loads(result["contents"][0]["text"])
            return self._document(asked, told, b"")
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise Wrong(f"{asked.about}: {error!r} in {body[:100]!r}") from error

    def _page(self, asked: Asked, body: bytes) -> Mark | None:
        if asked.question.path.endswith((".txt", ".json", "/healthz")):
            return None
        if not body.rstrip().endswith(b"</html>"):
            raise Wrong(f"{asked.about}: the page ends in {body[-60:]!r}")
        if found := _SHOWN_DAY.search(body):
            self.pages.add(found[1].decode())
        if asked.question.path.startswith("/story/"):
            if not (story := _SHOWN_STORY.search(body)):
                raise Wrong(f"{asked.about}: the page shows no revision")
            self._agree(self.stories, (asked.question.path.rpartition("/")[2], int(story[1])), story[2].decode())
            return Mark(int(story[1]))
        return None

    def _document(self, asked: Asked, told: Mapping[str, Any], body: bytes) -> Mark | None:
        for story in _stories(told):
            self._story(story)
        if "editor_take_detail" in told:
            sequence, day = told["provenance"]["sequence"], told["wire_date"]
            self._day(day, told["provenance"], manifest_of(told))
            if body and "/archive/" in asked.about and asked.newest:
                self.bodies[day, sequence] = body
            return Mark(sequence, day)
        if "manifest" in told:
            self._day(told["wire_date"], told, told["manifest"])
            return Mark(told["sequence"], told["wire_date"])
        return Mark(told["revision"]) if "story_sha256" in told else None

    def _day(self, day: str, published: Mapping[str, Any], manifest: Mapping[str, Any]) -> None:
        if verifier().sha256(manifest) != published["wire_sha256"]:
            raise Wrong(f"{day} revision {published['revision']} is not what its hash is of")
        self._agree(self.days, (day, published["revision"]), published["wire_sha256"])

    def _story(self, story: Mapping[str, Any]) -> None:
        content = {name: story[name] for name in verifier().CONTENT}
        key = hashlib.blake2b(orjson.dumps([content, story["story_sha256"]]), digest_size=16).digest()
        if key in self._checked:
            return
        if verifier().sha256({"v": 1, **content}) != story["story_sha256"]:
            raise Wrong(f"{story['chatbotnews_id']} revision {story['revision']} is not what its hash is of")
        self._agree(self.stories, (story["chatbotnews_id"], story["revision"]), story["story_sha256"])
        self._checked.add(key)

    def _agree(self, known: dict[tuple[str, int], str], what: tuple[str, int], sha256: str) -> None:
        if known.setdefault(what, sha256) != sha256:
            raise Wrong(f"{what[0]} revision {what[1]} was told in two ways")

    def _see(self, mark: Mark, sent: float, heard: float) -> None:
        """For how long somebody else had known something newer when this was asked."""
        first = self._first[mark.day]
        first.setdefault(mark.number, heard)
        newer = [at for number, at in first.items() if number > mark.number]
        if newer:
            self.stale = max(self.stale, sent - min(newer))


def _stories(told: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "story_sha256" in told:
        yield told
    elif "stories" in told:
        yield from told["stories"]

"""Whether what clients are answered is true: whole, as its hashes say, as it was published, and never older than before."""

import gzip
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from tests.faults.soak.questions import Asked
from tests.faults.soak.wires import Chain
from tests.wire.newsroom import manifest_of, verifier

_SHOWN_DAY: Final = re.compile(rb"SHA-256 <code>([0-9a-f]{64})</code>")
_SHOWN_STORY: Final = re.compile(rb"<dt>Revision</dt><dd>(\d+), .*?<dt>SHA-256</dt><dd><code>([0-9a-f]{64})</code>", re.DOTALL)
MOST_FAULTS: Final = 1_000
Mark = int
"""How new an answer is: the snapshot's place in the chain, or a story's revision."""


class Wrong(Exception):
    """An answer that is not what it should be."""


@dataclass(slots=True)
class Checker:
    """Looks at every answer. Bodies that it has seen before are known by their digest, so it keeps up with thousands a second."""

    wrong: list[str] = field(default_factory=list)
    looked: int = 0
    days: dict[tuple[str, int], str] = field(default_factory=dict)
    """Hashes by date and revision; those of stories by their id and revision."""
    stories: dict[tuple[str, int], str] = field(default_factory=dict)
    pages: set[str] = field(default_factory=set)
    """Hashes of days that pages of the site showed."""
    _known: dict[tuple[str, bytes], Mark | None] = field(default_factory=dict)

    def look(self, asked: Asked, number: int, headers: Mapping[str, str], body: bytes) -> Mark | None:
        """How new a 200 is that was asked for with this number. Raises: Wrong."""
        self.looked += 1
        body = self._as_asked(asked, number, headers, body)
        key = (asked.about, hashlib.blake2b(body, digest_size=16).digest())
        if key not in self._known:
            self._known[key] = self._read(asked, body)
        return self._known[key]

    def note(self, fault: str) -> None:
        if len(self.wrong) < MOST_FAULTS:
            self.wrong.append(fault)

    def against(self, chain: Chain) -> list[str]:
        """What clients were answered that was never published, and what the chain has last that nobody was answered."""
        found = [f"day {day} revision {n}" for (day, n), sha256 in self.days.items() if chain.days.get((day, n)) != sha256]
        found += [f"{story} revision {n}" for (story, n), sha256 in self.stories.items() if chain.stories.get((story, n)) != sha256]
        found += sorted(self.pages - {*chain.days.values()})
        found += [f"{story} revision {n} was never seen" for story, n in chain.shown.items() if (story, n) not in self.stories]
        newest = dict(sorted(chain.days))  # of each day the last revision
        return found + [f"day {day} revision {n} was never seen" for day, n in newest.items() if (day, n) not in self.days]

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
        try:
            if asked.door == "site":
                return self._page(asked, body)
            if asked.door == "rest":
                return self._document(orjson.loads(body))
            result = orjson.loads(body[1:-1])
            if result.get("isError"):
                raise Wrong(f"{asked.about}: {body[:200]!r}")
            return self._document(result.get("structuredContent") or orjson.loads(result["contents"][0]["text"]))
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise Wrong(f"{asked.about}: {error!r} in {body[:100]!r}") from error

    def _page(self, asked: Asked, body: bytes) -> Mark | None:
        if asked.question.path.endswith((".txt", ".json")):
            return None
        if not body.rstrip().endswith(b"</html>"):
            raise Wrong(f"{asked.about}: the page ends in {body[-60:]!r}")
        if found := _SHOWN_DAY.search(body):
            self.pages.add(found[1].decode())
        if not asked.question.path.startswith("/story/"):
            return None
        if not (story := _SHOWN_STORY.search(body)):
            raise Wrong(f"{asked.about}: the page shows no revision")
        self._agree(self.stories, (asked.question.path.rpartition("/")[2], int(story[1])), story[2].decode())
        return int(story[1])

    def _document(self, answer: Mapping[str, Any]) -> Mark | None:
        """Every story in it and, if it is a day or its manifest, the day."""
        for story in [answer] if "story_sha256" in answer else answer.get("stories", []):
            content = {name: story[name] for name in verifier().CONTENT}
            self._hashed(self.stories, (story["chatbotnews_id"], story["revision"]), {"v": 1, **content}, story["story_sha256"])
        if "editor_take_detail" in answer:
            published = answer["provenance"]
            self._hashed(self.days, (answer["wire_date"], published["revision"]), manifest_of(answer), published["wire_sha256"])
            return int(published["sequence"])
        if "manifest" in answer:
            self._hashed(self.days, (answer["wire_date"], answer["revision"]), answer["manifest"], answer["wire_sha256"])
            return int(answer["sequence"])
        return int(answer["revision"]) if "story_sha256" in answer else None

    def _hashed(self, known: dict[tuple[str, int], str], what: tuple[str, int], content: Mapping[str, Any], sha256: str) -> None:
        if verifier().sha256(content) != sha256:
            raise Wrong(f"{what[0]} revision {what[1]} is not what its hash is of")
        self._agree(known, what, sha256)

    def _agree(self, known: dict[tuple[str, int], str], what: tuple[str, int], sha256: str) -> None:
        if known.setdefault(what, sha256) != sha256:
            raise Wrong(f"{what[0]} revision {what[1]} was answered in two ways")

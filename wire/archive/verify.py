"""Recomputes a wire from its records and names the first break. The same check for a database and for dumped files."""

import base64
import datetime as dt
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from sources.roster import fingerprint
from wire.archive import reading
from wire.archive.dump import Record
from wire.identity import chatbotnews_id
from wire.models import StoryRevision
from wire.normalise import Rejected
from wire.provenance import digest, story_content
from wire.signing import is_valid

REVISION_TIMES = ("published_at", "recorded_at")


class Broken(Exception):
    """The first thing that is not as it was published; the text names it and what does not match."""


@dataclass(slots=True)
class Verified:
    """What was recomputed and found true."""

    counts: Counter[str] = field(default_factory=Counter)
    last_sha256: str | None = None


class Verifier:
    """Checks records one at a time, in dump order; keeps 32 bytes a revision."""

    def __init__(self) -> None:
        self.result = Verified()
        self._keys: dict[str, str] = {}
        self._rosters: set[str] = set()
        self._hashes: dict[tuple[str, int], bytes] = {}
        self._revision_of: dict[str, int] = {}
        self._sequence = 0

    def check(self, record: Record) -> None:
        """Raises: Broken."""
        kind = record["kind"]
        match kind:
            case "key":
                self._key(record)
            case "roster":
                self._roster(record)
            case "story":
                self._story(record)
            case "snapshot":
                self._snapshot(record)
            case "end":
                self._end(record)
                return
        self.result.counts[kind] += 1

    def _key(self, record: Record) -> None:
        raw = base64.b64decode(record["public_key"])
        if hashlib.sha256(raw).hexdigest()[:16] != record["key_id"]:
            raise Broken(f"key {record['key_id']}: its id does not belong to its public key.")
        self._keys[record["key_id"]] = record["public_key"]

    def _roster(self, record: Record) -> None:
        _same(f"roster revision {record['number']}", "fingerprint", record["fingerprint"], fingerprint(record["members"]))
        self._rosters.add(record["fingerprint"])

    def _story(self, record: Record) -> None:
        story_id = record["chatbotnews_id"]
        _same(f"story {story_id}", "id", story_id, chatbotnews_id(record["original_url"]))
        for number, row in enumerate(record["revisions"], start=1):
            what = f"story {story_id} revision {row['revision']}"
            _same(what, "number", row["revision"], number)
            sha256 = digest(story_content(story_id, record["original_url"], revision_of(row)))
            _same(what, "story_sha256", row["story_sha256"], sha256)
            self._hashes[story_id, number] = bytes.fromhex(sha256)
            self.result.counts["revision"] += 1

    def _snapshot(self, record: Record) -> None:
        manifest = record["manifest"]
        day = manifest["wire_date"]
        what = f"snapshot {record['sequence']} ({day} revision {manifest['revision']})"
        _same(what, "sequence", record["sequence"], self._sequence + 1)
        _same(what, "revision", manifest["revision"], self._revision_of.get(day, 0) + 1)
        _same(what, "previous_sha256", manifest["previous_sha256"], self.result.last_sha256)
        _same(what, "wire_sha256", record["wire_sha256"], digest(manifest))
        if manifest["roster_sha256"] not in self._rosters:
            raise Broken(f"{what}: no roster ever had the fingerprint {manifest['roster_sha256']}.")
        for row in manifest["stories"]:
            known = self._hashes.get((row["chatbotnews_id"], row["revision"]), b"").hex()
            _same(
                f"{what}, story {row['chatbotnews_id']} revision {row['revision']}",
                "story_sha256",
                row["story_sha256"],
                known,
            )
        if not is_valid(record["signature"], record["wire_sha256"], self._keys.get(record["key_id"], "")):
            raise Broken(f"{what}: the signature was not made by the published key {record['key_id']}.")
        self._sequence = record["sequence"]
        self._revision_of[day] = manifest["revision"]
        self.result.last_sha256 = record["wire_sha256"]

    def _end(self, record: Record) -> None:
        found = {kind: n for kind, n in sorted(self.result.counts.items()) if kind != "revision"}
        _same("end of the dump", "counts", record["counts"], found)


def verify(records: Iterable[Record]) -> Verified:
    """Raises: Broken, naming the first break; also when the records end before their end record."""
    verifier = Verifier()
    last = None
    for record in records:
        verifier.check(record)
        last = record["kind"]
    if last != "end":
        raise Broken("the dump breaks off: its end record is missing.")
    return verifier.result


def dump_records(file: Path) -> Iterator[Record]:
    """The records of a dumped file. Raises: Broken for a line that cannot be read."""
    for number, line in reading.lines(file):
        try:
            if isinstance(line, Rejected):
                raise Broken(f"line {number}: {line.message}")
            yield orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise Broken(f"line {number}: not JSON: {error}.") from error


def revision_of(row: dict[str, Any]) -> StoryRevision:
    """An unsaved revision from its record."""
    values = row | {name: dt.datetime.fromisoformat(row[name]) for name in REVISION_TIMES}
    if values["corrected_on"]:
        values["corrected_on"] = dt.date.fromisoformat(values["corrected_on"])
    return StoryRevision(**values)


def _same(what: str, name: str, said: object, found: object) -> None:
    if said != found:
        raise Broken(f"{what}: {name} is {said!r}, recomputed {found!r}.")

"""Verification of a wire from its records, up to the first break; the same for a database and for dumped files."""

import base64
import datetime as dt
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any, Final

import orjson

from config.database import row_seal
from config.plugins import list_plugins
from sources.roster import compute_fingerprint
from wire.ingest.normalise import Rejected
from wire.models import StoryRevision
from wire.ops.archive import derived_checks, reader
from wire.ops.archive.dump import VERSION, Broken, Record, read_consistently, read_wire_records
from wire.publishing.signing import is_valid_signature
from wire.text.choices import NEWER_RULES, Status, get_merged_into
from wire.text.identity import chatbotnews_id
from wire.text.plain_text import SHORT
from wire.text.provenance_manifest import build_story_content, hash_json

TEXTS: Final = ("headline", "summary_medium", "author")  # what a correction corrects
MAX_RECORD: Final = 256 << 20  # bytes: a snapshot of a million stories

# What a story shows of itself: revision, event, consensus score, number of sources.
Shown = tuple[int, str | None, float, int]
Owed = tuple[float, int]  # consensus score, number of sources
NONE: Final[Owed] = (0.0, 1)


class Verifier:
    """Checks records one at a time, in dump order; `counts` has the number of records by kind, `last_sha256` is the chain's end."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.last_sha256: str | None = None
        self._keys: dict[str, Record] = {}
        self._signers: dict[str, str] = {}  # by id when they were made: the keys that signed so far
        self._publications: dict[str, Record] = {}
        self._rosters: list[Record] = []
        self._events: dict[str, str | None] = {}  # and what each was merged into
        self._storylines: dict[str, str | None] = {}  # the event that began the storyline of each
        self._hashes: dict[tuple[str, int], bytes] = {}
        self._shown: dict[str, dict[str, Shown]] = defaultdict(dict)  # wire date -> story
        self._merged: dict[str, str] = {}  # and the story that stands for each
        self._withdrawn: dict[str, tuple[str, Owed]] = {}  # wire date and what is shown of these
        self._before: dict[str, Owed] = {}  # what the last snapshot that has them says
        self._unlike: dict[str, tuple[str, str] | None] = {}  # wire date -> its latest snapshot, and a story shown otherwise
        self._revision_of: dict[str, int] = {}
        self._sequence = 0

    def check_record(self, record: Record) -> None:
        """Raises: Broken; others for a record that lacks something."""
        kind = record["kind"]
        match kind:
            case "dump":
                if record["v"] != VERSION:
                    raise Broken(f"the dump has version {record['v']}; this program reads version {VERSION}.")
            case "key":
                raw = base64.b64decode(record["public_key"])
                if hashlib.sha256(raw).hexdigest()[:16] != record["key_id"]:
                    raise Broken(f"key {record['key_id']}: its id does not belong to its public key.")
                self._keys[record["key_id"]] = record
            case "publication":
                self._publications[record["slug"]] = record
            case "roster":
                what = f"roster revision {record['number']}"
                _expect(what, "number", record["number"], len(self._rosters) + 1)
                _expect(what, "fingerprint", record["fingerprint"], compute_fingerprint(record["members"]))
                self._rosters.append(record)
            case "event":
                self._events[record["event_id"]] = record["merged_into"]
                self._storylines[record["event_id"]] = record.get("storyline")
            case "story":
                self._check_story(record)
            case "pair":
                for side in ("story", "other"):
                    if (record[side], 1) not in self._hashes:
                        raise Broken(f"pair of {record['story']} and {record['other']}: there is no story {record[side]!r}.")
            case "take":
                pass
            case "snapshot":
                self._check_snapshot(record)
            case "end":
                self._check_dump_end(record)
                return
            case _:
                raise Broken(f"a record of the unknown kind {kind!r}.")
        self.counts[kind] += 1

    def _check_story(self, record: Record) -> None:
        story_id, rows = record["chatbotnews_id"], record["revisions"]
        what = f"story {story_id}"
        _expect(what, "id", story_id, chatbotnews_id(record["original_url"]))
        if record["publication"] not in self._publications:
            raise Broken(f"{what}: there is no publication {record['publication']!r}.")
        if record["event_id"] is not None and record["event_id"] not in self._events:
            raise Broken(f"{what}: there is no event {record['event_id']!r}.")
        publisher = self._publications[record["publication"]]["name"]
        for number, row in enumerate(rows, start=1):
            self._check_revision(f"{what} revision {row['revision']}", record, row, number)
            _expect(f"{what} revision {number}", "original_publisher", row["original_publisher"], publisher)
            _check_corrected_on(f"{what} revision {number}", row, rows[: number - 1])
        into = record.get("merged_into")  # no hash is of it, but the reason that readers are shown names it
        _expect(what, "merged_into", into, get_merged_into(rows[-1]["reason"]) if rows else None)
        if into is not None:
            _expect(f"{what} revision {len(rows)}", "status", rows[-1]["status"], Status.WITHDRAWN)
            self._merged[story_id] = into
        current = record["current"]
        if not rows or current not in {None, *range(1, len(rows) + 1)}:
            raise Broken(f"{what}: its revision {current or 1} is missing.")
        if current is None:
            return
        figures = record["consensus_score"], record["cross_source_count"]
        if rows[current - 1]["status"] == Status.WITHDRAWN:
            self._withdrawn[story_id] = record["wire_date"], figures
        else:
            self._shown[record["wire_date"]][story_id] = (current, record["event_id"], *figures)

    def _check_revision(self, what: str, story: Record, row: Record, number: int) -> None:
        story_id = story["chatbotnews_id"]
        _expect(what, "number", row["revision"], number)
        sha256 = hash_json(build_story_content(story_id, story["original_url"], build_revision(row)))
        _expect(what, "story_sha256", row["story_sha256"], sha256)
        # Not hashed itself, but cited: it must be the opening of the summary that is. How long a one is for `cut` to say.
        short, medium = row["summary_short"], row["summary_medium"]
        if short != medium and (len(medium) <= SHORT or not short or not medium.startswith(short.removesuffix("…"))):
            raise Broken(f"{what}: summary_short is not how summary_medium begins.")
        self._hashes[story_id, number] = bytes.fromhex(sha256)
        self.counts["revision"] += 1

    def _check_snapshot(self, record: Record) -> None:
        manifest = record["manifest"]
        day = manifest["wire_date"]
        what = f"snapshot {record['sequence']} ({day} revision {manifest['revision']})"
        _expect(what, "sequence", record["sequence"], self._sequence + 1)
        _expect(what, "revision", manifest["revision"], self._revision_of.get(day, 0) + 1)
        _expect(what, "previous_sha256", manifest["previous_sha256"], self.last_sha256)
        _expect(what, "wire_sha256", record["wire_sha256"], hash_json(manifest))
        for name in ("wire_date", "revision", "previous_sha256", "roster_sha256"):
            _expect(what, f"the column {name}", record[name], manifest[name])
        _expect(what, "the column story_count", record["story_count"], len(manifest["stories"]))
        if manifest["roster_sha256"] not in {roster["fingerprint"] for roster in self._rosters}:
            raise Broken(f"{what}: no roster ever had the fingerprint {manifest['roster_sha256']}.")
        for row in manifest["stories"]:
            known = self._hashes.get((row["chatbotnews_id"], row["revision"]), b"").hex()
            _expect(f"{what}, story {row['chatbotnews_id']} revision {row['revision']}", "story_sha256", row["story_sha256"], known)
            if row["chatbotnews_id"] in self._withdrawn:
                _expect(f"story {row['chatbotnews_id']}", "wire_date", self._withdrawn[row["chatbotnews_id"]][0], day)
                self._before[row["chatbotnews_id"]] = row["consensus_score"], row["cross_source_count"]
        self._check_signature(what, record)
        self._unlike[day] = self._find_difference(what, manifest)
        self._sequence = record["sequence"]
        self._revision_of[day] = manifest["revision"]
        self.last_sha256 = record["wire_sha256"]

    def _check_signature(self, what: str, record: Record) -> None:
        """Check that a published key made it before it was retired, and before any key that came after signed."""
        key_id = record["key_id"]
        key = self._keys.get(key_id, {"public_key": "", "created_at": "", "retired_at": None})
        if not is_valid_signature(record["signature"], record["wire_sha256"], key["public_key"]):
            raise Broken(f"{what}: the signature was not made by the published key {key_id}.")
        # The snapshot's own time is not hashed, so the keys that signed earlier snapshots count, too.
        others = (created_at for other, created_at in self._signers.items() if other != key_id)
        if key["retired_at"] and (record["generated_at"] > key["retired_at"] or max(others, default="") >= key["retired_at"]):
            raise Broken(f"{what}: it was signed by the key {key_id} after that key was retired.")
        self._signers[key_id] = key["created_at"]

    def _find_difference(self, what: str, manifest: Record) -> tuple[str, str] | None:
        published: dict[str, Shown] = {
            row["chatbotnews_id"]: (row["revision"], row["event_id"], row["consensus_score"], row["cross_source_count"])
            for row in manifest["stories"]
        }
        shown = self._shown.get(manifest["wire_date"], {})
        return next(((what, story) for story in published | shown if published.get(story) != shown.get(story)), None)

    def _check_dump_end(self, record: Record) -> None:
        derived_checks.check_rosters(self._publications, self._rosters)
        for event, into in self._events.items():
            if (event, 1) not in self._hashes:
                raise Broken(f"event {event}: no story began it.")
            if into is not None:
                self._check_chain("event", event, self._events)
            if self._storylines[event] not in {None, *self._events}:
                raise Broken(f"event {event}: there is no event {self._storylines[event]!r}, which began its storyline.")
        standing: dict[str, str | None] = {into: None for into in self._merged.values() if (into, 1) in self._hashes}
        for story_id in self._merged:
            self._check_chain("story", story_id, standing | self._merged)
        for day, stories in self._shown.items():
            if day not in self._unlike:
                raise Broken(f"story {next(iter(stories))} is shown as published, but its day {day} has no snapshot.")
        for what, story_id in filter(None, self._unlike.values()):
            raise Broken(f"story {story_id} is not shown as in {what}, the latest of its day.")
        for story_id, (_day, figures) in self._withdrawn.items():
            if figures not in (NONE, self._before.get(story_id)):
                raise Broken(f"story {story_id}: it was withdrawn, but its consensus figures are in no snapshot.")
        found = {kind: n for kind, n in sorted(self.counts.items()) if kind != "revision"}
        _expect("end of the dump", "counts", record["counts"], found)

    def _check_chain(self, what: str, first: str, merged_into: Mapping[str, str | None]) -> None:
        seen, at = {first}, merged_into[first]
        while at is not None:
            if at in seen or at not in merged_into:
                raise Broken(f"{what} {first}: its chain of mergers breaks off or runs in a circle.")
            seen.add(at)
            at = merged_into[at]


def check_records(dump: Iterable[Record], verifier: Verifier) -> Iterator[Record]:
    """Yield each record once it was verified. Raises: Broken, naming the first break; also for a missing end."""
    kind = None
    for number, record in enumerate(dump, start=1):
        if kind == "end":
            raise Broken(f"record {number}: the dump continues after its end record.")
        try:
            verifier.check_record(record)
            kind = record["kind"]
        except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
            raise Broken(f"record {number}: not one that dumpwire writes ({error!r}).") from error
        yield record
    if kind != "end":
        raise Broken("the dump breaks off: its end record is missing.")


def verify_dump(dump: Iterable[Record]) -> Verifier:
    """Raises: Broken."""
    verifier = Verifier()
    for _ in check_records(dump, verifier):
        pass
    return verifier


def verify_database() -> Verifier:
    """Verify the stored wire as of one moment, and tables that repeat it and that no dump holds. Raises: Broken."""
    with read_consistently():
        try:
            with closing(read_wire_records()) as stored:
                result = verify_dump(stored)
            derived_checks.check_derived_tables()
            derived_checks.check_log()
            rows = (fault for model in row_seal.list_sealed_models() for fault in row_seal.list_seal_faults(model))
            for fault in chain(rows, *(plugin.list_faults() for plugin in list_plugins())):  # names table and key
                raise Broken(fault)
            derived_checks.check_changes()
            result.counts["other_key"] = row_seal.count_foreign_seals()
        except (TypeError, ValueError) as error:
            raise Broken(f"a column holds a value that cannot be read: {error!r}.") from error
    return result


def read_dump(file: Path) -> Iterator[Record]:
    """Yield the records of a dumped file. Raises: Broken for a line that cannot be read."""
    for number, line in reader.read_lines(file, MAX_RECORD):
        try:
            if isinstance(line, Rejected):
                raise Broken(f"line {number}: {line.message}")
            yield orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise Broken(f"line {number}: not JSON: {error}.") from error


def build_revision(row: dict[str, Any]) -> StoryRevision:
    """Return an unsaved revision from its record."""
    values = row | {name: dt.datetime.fromisoformat(row[name]) for name in ("published_at", "recorded_at")}
    if values["corrected_on"]:
        values["corrected_on"] = dt.date.fromisoformat(values["corrected_on"])
    return StoryRevision(**values)


def _check_corrected_on(what: str, row: Record, before: list[Record]) -> None:
    """Check the day of the editor's last correction, the revision's own or an earlier one's: it is cited, but not hashed."""
    carried, own = before[-1]["corrected_on"] if before else None, row["recorded_at"][:10]
    if not before or row["reason"] in ("", NEWER_RULES):  # the publisher's
        days = {carried}
    elif row["status"] == Status.CORRECTED and any(row[text] != before[-1][text] for text in TEXTS):
        days = {own}
    else:
        days = {carried, own}
    was_corrected = any(one["status"] == Status.CORRECTED for one in (*before, row))
    if row["corrected_on"] not in days or (row["corrected_on"] is not None) != was_corrected:
        raise Broken(f"{what}: corrected_on is {row['corrected_on']!r}, which is not the day of a correction.")


def _expect(what: str, name: str, said: object, found: object) -> None:
    if said != found:
        raise Broken(f"{what}: {name} is {said!r}, but recomputed it is {found!r}.")

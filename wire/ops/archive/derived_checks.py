"""Checks of what must follow from the record: the roster's history, tables that no dump holds, the log, and the log of changes."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import pairwise
from typing import Any, Final

from config.errors import Damaged
from sources.choices import ROSTER_SIZE
from sources.models import RosterRevision
from sources.roster import compute_fingerprint
from wire.models import (
    Change,
    LogEntry,
    LogNode,
    SearchDocument,
    Snapshot,
    Story,
    StoryEntity,
    StoryRevision,
    StoryTopic,
    WireState,
)
from wire.models.entity import Entity
from wire.models.search import get_position
from wire.ops.archive.dump import CHUNK, Broken, Record
from wire.publishing import signing, story_json
from wire.publishing.entity_links import find_entity_links
from wire.publishing.indexing import build_document
from wire.publishing.transparency import log
from wire.text.choices import ChangeKind, Status

# columns of a story, and the column of its published revision that each repeats
REPEATED: Final = {"status": "status", "category": "category", "tier": "original_publisher_tier", "published_at": "published_at"}
CROWD: Final = 50  # more stories than ever have the same second and ids that begin alike
BATCH: Final = 2_000


def check_derived_tables() -> None:
    """Check tables that repeat the record for speed, on a verified record. Raises: Broken, naming the first that differs."""
    if list(WireState.objects.values_list("pk", flat=True)) != [1]:
        raise Broken("the state of the wire: it is not one row with the id 1.")
    found: Counter[str] = Counter()
    published = Story.objects.published().select_related("current", "json", "search_document").prefetch_related("story_topics")
    for story in published.order_by("pk").iterator(CHUNK):
        if story.current is None or story.current.story_id != story.pk:
            raise Broken(f"story {story}: the revision that it shows is another story's.")
        revision = story.current
        if any(getattr(story, column) != getattr(revision, source) for column, source in REPEATED.items()):
            raise Broken(f"story {story}: {', '.join(REPEATED)} are not those of its published revision.")
        is_withdrawn = revision.status == Status.WITHDRAWN
        topics = [] if is_withdrawn else [(topic, story.published_at) for topic in sorted(revision.topics)]
        if sorted((row.topic, row.published_at) for row in story.story_topics.all()) != topics:
            raise Broken(f"story {story}: the lists of topics do not list it as its revision says.")
        found["topics"] += len(topics)
        found["documents"] += _check_search_document(story, revision)
        if not story_json.matches_revision(story):
            raise Broken(f"story {story}: its stored JSON is not what its revision says; manage.py renderwire makes it again.")
    for what, rows in (("topics", StoryTopic.objects.count()), ("documents", SearchDocument.objects.count())):
        if rows != found[what]:
            raise Broken(f"lists and search: {rows:,} {what} are stored, but the live stories have {found[what]:,}.")
    _check_entity_links()


def _check_entity_links() -> None:
    """Check which stories name which company, person or product."""
    columns = ("story_id", "entity_id", "is_official", "published_at")
    number = 0
    for links in find_entity_links(Entity.objects.filter(state=Entity.State.SHOWN)):
        expected = {tuple(getattr(link, column) for column in columns) for link in links}
        number += len(expected)
        stored = StoryEntity.objects.filter(story__in={link.story_id for link in links}).values_list(*columns)
        if expected.symmetric_difference(stored):
            raise Broken(
                "the pages of companies, people and products: a story is not listed where its text names one, or the reverse."
            )
    if (rows := StoryEntity.objects.count()) != number:
        raise Broken(f"the pages of companies, people and products: {rows:,} stories are listed, but the texts name {number:,}.")


def _check_search_document(story: Story, revision: StoryRevision) -> int:
    """Check the search document of a story; return the number of its documents."""
    stored: SearchDocument | None = getattr(story, "search_document", None)
    if (stored is None) != (revision.status == Status.WITHDRAWN):
        raise Broken(f"story {story}: search {'does not have it' if stored is None else 'has it although it was withdrawn'}.")
    if stored is None:
        return 0
    expected = build_document(story, revision)
    below = get_position(story.published_at, story.chatbotnews_id) - stored.place  # as many as others of the second lay above it
    if any(getattr(stored, name) != value for name, value in expected.items()) or not 0 <= below < CROWD:
        raise Broken(f"story {story}: search has words for it that its revision lacks, or the wrong place for it.")
    return 1


def check_rosters(publications: Mapping[str, Record], rosters: Sequence[Record]) -> None:
    """Check `publications`, by slug, against `rosters` from the first one on, each with its own fingerprint. Raises: Broken."""
    seated = [one for one in publications.values() if one["seat"] is not None]
    members = sorted(map(_to_roster_member, seated), key=lambda row: str(row["name"]))
    if compute_fingerprint(members) != rosters[-1]["fingerprint"]:
        raise Broken(f"roster: fingerprint is {rosters[-1]['fingerprint']!r}, recomputed {compute_fingerprint(members)!r}.")
    since, until, left = _replay_history(publications, rosters)
    for slug, one in publications.items():
        for name, days in (("admitted_on", since), ("retired_on", until)):
            if one[name] != days.get(slug):
                raise Broken(f"publication {slug}: {name} is {one[name]!r}, the roster's history says {days.get(slug)!r}.")
        if slug in left and _to_roster_member(one) not in left[slug]:
            raise Broken(f"publication {slug}: its name, tier or domain is not what it was when it left the roster.")
    seats = sorted(one["seat"] for one in seated)
    if seats != list(range(1, ROSTER_SIZE + 1)):
        raise Broken(f"roster: the seats are {seats}.")


def _replay_history(
    publications: Mapping[str, Record], rosters: Sequence[Record]
) -> tuple[dict[str, str], dict[str, str], dict[str, list[dict[str, Any]]]]:
    """Return by slug: since when each holds a seat, until when it did, and the members of the roster that it left."""
    founders = {row["name"] for row in rosters[0]["members"]}
    since = {slug: rosters[0]["on"] for slug, one in publications.items() if one["name"] in founders}
    until: dict[str, str] = {}
    left: dict[str, list[dict[str, Any]]] = {}
    for before, roster in pairwise(rosters):
        old, new = ({row["name"] for row in one["members"]} for one in (before, roster))
        retired, admitted = roster["retired"], roster["admitted"]
        for slug, names in ((retired, old - new), (admitted, new - old)):
            if slug is None or {publications[slug]["name"]} != names:
                raise Broken(f"roster revision {roster['number']}: it names {slug!r} as changed; its members say {sorted(names)}.")
        since[admitted] = until[retired] = roster["on"]
        left[retired] = before["members"]
        until.pop(admitted, None)
        left.pop(admitted, None)
    if rosters[0]["retired"] or rosters[0]["admitted"]:
        raise Broken("roster revision 1: it founds the roster, but names a change.")
    return since, until, left


def _to_roster_member(publication: Record) -> dict[str, Any]:
    return {"name": publication["name"], "tier": publication["tier"], "domain": publication["domains"][0]}


def check_log() -> None:
    """Compare leaves, roots, nodes and signatures. Raises: Broken, which names table and row."""
    with (
        closing(one for one in LogEntry.objects.order_by("sequence").iterator(BATCH)) as entries,
        closing(log.recompute_leaves()) as leaves,
    ):
        try:
            _compare_log(entries, leaves)
        except (Damaged, KeyError) as error:
            raise Broken(f"the log cannot be recomputed from the snapshots ({error!r}).") from error


def _compare_log(entries: Iterator[LogEntry], leaves: Iterable[log.Leaf]) -> None:
    nodes = {(level, at): bytes(digest) for level, at, digest in LogNode.objects.values_list("level", "position", "digest")}
    entry, size, is_any_signed = None, 0, False
    for leaf in leaves:
        entry, size = next(entries, None), leaf.sequence
        if entry is None or entry.sequence != leaf.sequence:
            raise Broken(f"wire_logentry {leaf.sequence}: it is missing, though snapshot {leaf.sequence} was published.")
        for name in ("stories_root", "leaf", "root"):
            if bytes(getattr(entry, name)) != getattr(leaf, name):
                raise Broken(f"wire_logentry {entry.sequence}: {name} is not what the snapshots have.")
        for at, digest in leaf.nodes.items():
            if (stored := nodes.pop(at, None)) != digest:
                what = "it is missing" if stored is None else "its digest is not what the snapshots have"
                raise Broken(f"wire_lognode {at[0]}/{at[1]}: {what}.")
        is_any_signed = is_any_signed or bool(entry.origin)
        if entry.origin and not log.is_checkpoint_signed(entry, leaf.root):
            raise Broken(f"wire_logentry {entry.sequence}: its checkpoint does not bear the signature of one of the wire's keys.")
        if not entry.origin and bytes(entry.signature):
            raise Broken(f"wire_logentry {entry.sequence}: its signature names no origin.")
    if (more := next(entries, None)) is not None:
        raise Broken(f"wire_logentry {more.sequence}: there is no such snapshot.")
    for level, position in nodes:
        raise Broken(f"wire_lognode {level}/{position}: the log of {size} snapshots has no such node.")
    if entry is not None and not entry.origin and (is_any_signed or signing.holds_key_in_force()):
        raise Broken(f"wire_logentry {entry.sequence}: the newest checkpoint is not signed; manage.py migrate signs it.")


def check_changes() -> None:
    """Compare the last change about each story, day and roster with the record; the seals were compared before. Raises: Broken."""
    last_changes: dict[str, tuple[int, str, int | None, str]] = {}
    columns = ("number", "kind", "subject", "revision", "other")
    number, roster = 0, 1
    with closing(one for one in Change.objects.order_by("number").values_list(*columns).iterator(BATCH)) as changes:
        for expected, (number, kind, subject, revision, other) in enumerate(changes, start=1):
            if number != expected:
                raise Broken(f"wire_change {expected}: it is missing.")
            if kind.startswith("story_") or kind == ChangeKind.DAY_PUBLISHED:
                last_changes[subject] = (number, kind, revision, other)
            elif kind == ChangeKind.ROSTER_REPLACED:
                roster = revision or 0
    _check_last_changes(last_changes, number)
    days: dict[dt.date, int] = dict(Snapshot.objects.order_by("sequence").values_list("wire_date", "revision"))
    for day, latest in days.items():
        if last_changes.pop(str(day), (0, "", 0, ""))[2] != latest:
            raise Broken(f"wire_change: no change up to {number} says that {day} was published in its revision {latest}.")
    for subject, (last, *_) in last_changes.items():
        raise Broken(f"wire_change {last}: the wire has no {subject}.")
    newest = RosterRevision.objects.order_by("-number").values_list("number", flat=True).first() or 1
    if roster != newest:
        raise Broken(f"wire_change: no change up to {number} says that the roster was replaced by its revision {newest}.")


def _check_last_changes(last_changes: dict[str, tuple[int, str, int | None, str]], last: int) -> None:
    columns: Any = ("chatbotnews_id", "status", "current__revision", "event_id", "pending")
    with closing(one for one in Story.objects.published().values_list(*columns).iterator(BATCH)) as stories:
        for story, status, revision, event, is_pending in stories:
            number, kind, announced_revision, other = last_changes.pop(story, (0, "", None, ""))
            if not number:
                raise Broken(f"wire_change: no change up to {last} is about story {story}.")
            is_withdrawn = status == Status.WITHDRAWN
            # The event of a withdrawn story, and of one that waits to be published, may change without a word to readers.
            is_other_event = not (is_withdrawn or is_pending) and other != (event or "")
            is_announced_withdrawn = kind == ChangeKind.STORY_WITHDRAWN or (kind == ChangeKind.STORY_MOVED and is_withdrawn)
            if announced_revision != revision or is_other_event or is_withdrawn != is_announced_withdrawn:
                raise Broken(f"wire_change {number}: it is the last one about story {story}, which is not as it says.")

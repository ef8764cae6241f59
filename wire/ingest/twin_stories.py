"""Stories that are one article under two addresses, kept apart by earlier releases: found, and merged into the older one."""

import datetime as dt
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from django.db import transaction
from django.utils import timezone

from sources import job_lock
from wire.ingest.draft_comparison import Known
from wire.ingest.evidence import NEAR, is_same_guid_item, is_twin
from wire.ingest.normalise import SHARED_FIELDS, StoryDraft
from wire.ingest.save import CHUNK, build_next_revision, set_content_hash
from wire.models import Snapshot, Story, StoryAlias, StoryRevision, WireState
from wire.publishing.publish import publish_pending
from wire.text.choices import MERGED, NEWER_RULES, Status
from wire.text.identity import headline_key


@dataclass(frozen=True, slots=True)
class Twin:
    """A story and the older one that is the same article; `addresses` lead to the older one from now on."""

    story: Known
    standing: Known
    addresses: list[str]


@dataclass(slots=True)
class Plan:
    """Effect of a merge. Stories in `edited` stay: merging them would lose what an editor did."""

    twins: list[Twin] = field(default_factory=list)
    edited: list[Twin] = field(default_factory=list)
    waiting: int = 0  # stories that were merged and are not published yet, because a run was killed


def plan_merges() -> Plan:
    """Return what `merge_twins` would do now; nothing is written."""
    found = Plan(waiting=Story.objects.pending().exclude(merged_into=None).count())
    older_stories, shared_guids = _list_candidates()
    while twins := _find_twins(older_stories, shared_guids, found):  # with its new addresses a story may be the twin of more
        found.twins += twins
    return found


def merge_twins(now: dt.datetime | None = None) -> tuple[Plan, list[Snapshot]]:
    """Withdraw each twin in favour of the older story, then publish; the next run goes on if killed. Raises: Busy."""
    now = now or timezone.now()
    with job_lock.acquire() as lease:
        with transaction.atomic():
            WireState.lock()
            lease.renew()
            found = plan_merges()
            _withdraw_twins(found.twins, now.replace(microsecond=0))
        return found, publish_pending(now, progress=lambda _day: lease.renew())


def _list_candidates() -> tuple[list[tuple[Known, list[Known]]], set[tuple[int, str]]]:
    """Return each story with the older ones that may be the same article, oldest first, and guids that identify nothing."""
    rows: Any = StoryRevision.objects.filter(story__in=Story.objects.live().filter(merged_into=None)).values_list(
        "story", "story__publication", "story__published_at", "story__guid", "headline"
    )
    by_headline: dict[tuple[int, str], set[tuple[dt.datetime, int]]] = defaultdict(set)
    by_guid: dict[tuple[int, str], set[tuple[dt.datetime, int]]] = defaultdict(set)
    for story, publication, published_at, guid, headline in rows.iterator(CHUNK):
        by_headline[publication, headline_key(headline)].add((published_at, story))
        by_guid[publication, guid].add((published_at, story))
    # A guid that stories of three dates share is one that the feed gives to all its items, and no evidence.
    shared = {key for key, places in by_guid.items() if not key[1] or len({at for at, _ in places}) > 2}
    groups = [*by_headline.values(), *(places for key, places in by_guid.items() if key not in shared)]
    pairs: set[frozenset[int]] = set()
    for places in groups:
        ordered = sorted(places, reverse=True)
        for number, (at, story) in enumerate(ordered):
            near = takewhile(lambda place: at - place[0] <= NEAR, ordered[number + 1 :])  # noqa: B023  used up at once
            pairs |= {frozenset((story, other)) for _, other in near}
    keys, known = sorted({story for pair in pairs for story in pair}), dict[int, Known]()
    for start in range(0, len(keys), CHUNK):
        stories = Story.objects.filter(pk__in=keys[start : start + CHUNK]).select_related("publication")
        known |= {story.pk: Known.from_row(story) for story in stories.prefetch_related("revisions", "aliases")}
    older: dict[int, list[int]] = defaultdict(list)
    ages = {pk: (one.story.first_seen_at, one.story.chatbotnews_id) for pk, one in known.items()}
    for pair in pairs:
        first, second = sorted(pair, key=ages.__getitem__)
        older[second].append(first)
    by_age = sorted(older, key=ages.__getitem__)
    return [(known[pk], [known[other] for other in sorted(older[pk], key=ages.__getitem__)]) for pk in by_age], shared


def _find_twins(older_stories: list[tuple[Known, list[Known]]], shared_guids: set[tuple[int, str]], found: Plan) -> list[Twin]:
    """Return the twins of one pass, and give their addresses to the stories that stand; note those that an editor changed."""
    gone = {twin.story.story.pk for twin in found.twins}
    found.edited.clear()
    twins = []
    for known, candidates in older_stories:
        if known.story.pk in gone:
            continue
        draft = _build_draft(known, shared_guids)
        standing = next((one for one in candidates if one.story.pk not in gone and _is_one_article(draft, known, one)), None)
        if standing is None:
            continue
        addresses = [url for url in (known.story.original_url, *known.aliases) if not standing.has_address(url)]
        twin = Twin(known, standing, addresses)
        if _is_edited(known, standing):
            found.edited.append(twin)
            continue
        gone.add(known.story.pk)
        standing.aliases |= dict.fromkeys(addresses)
        twins.append(twin)
    return twins


def _is_one_article(draft: StoryDraft, known: Known, older: Known) -> bool:
    """Return whether a story is the same article as an older one, by the evidence by which an item would be."""
    if draft.is_by_google_news or older.is_by_google_news or Status.WITHDRAWN in (known.latest.status, older.latest.status):
        return False
    if draft.original_url.partition("#")[0] == older.story.original_url.partition("#")[0]:
        return False
    if draft.guid == older.story.guid != "" and is_same_guid_item(draft, older):
        return abs(draft.published_at - older.latest.published_at) <= NEAR
    return bool((known.headline_keys & older.headline_keys) - {""}) and is_twin(draft, older)


def _is_edited(known: Known, standing: Known) -> bool:
    """Return whether an editor changed or settled something about a story that the one that stands does not have."""
    story, other = known.story, standing.story
    classified = story.editor_category, story.editor_topics
    return (
        story.leads_event
        or (story.event_pinned and story.event_id != other.event_id)
        or classified not in (("", None), (other.editor_category, other.editor_topics))
        or any(revision.reason not in ("", NEWER_RULES) for revision in known.revisions)
    )


def _build_draft(known: Known, shared_guids: set[tuple[int, str]]) -> StoryDraft:
    story, texts = known.story, known.published_texts[-1]
    page = story.original_url.partition("#")[0]
    fields = {name: getattr(known.latest, name) for name in SHARED_FIELDS}
    fields |= {"headline": texts["headline"] or "", "summary_medium": texts["summary_medium"] or ""}
    return StoryDraft(
        chatbotnews_id=story.chatbotnews_id,
        original_url=story.original_url,
        guid="" if (story.publication_id, story.guid) in shared_guids else story.guid,
        publication=story.publication,
        image_url=story.image_url,
        digest="",
        page_url=page if page != story.original_url else "",
        **fields,
    )


def _withdraw_twins(twins: list[Twin], now: dt.datetime) -> None:
    """Add the revisions that withdraw the twins, and the addresses that lead to the stories that stand."""
    into = {twin.story.story.pk: twin.standing.story for twin in twins}
    revisions, aliases = [], dict[tuple[str, int], StoryAlias]()
    for twin in twins:
        story, standing = twin.story.story, twin.standing.story
        while standing.pk in into:  # it turned out to be the twin of an even older one
            standing = into[standing.pk]
        reason = MERGED.format(standing.chatbotnews_id)
        revision = build_next_revision(story, twin.story.latest, status=Status.WITHDRAWN, recorded_at=now, reason=reason)
        set_content_hash(story, revision)
        revisions.append(revision)
        story.merged_into, story.pending = standing.chatbotnews_id, True
        aliases |= {(url, standing.pk): StoryAlias(url=url, story=standing, seen_at=now) for url in twin.addresses}
    StoryRevision.objects.bulk_create(revisions)
    StoryAlias.objects.bulk_create(aliases.values())
    Story.objects.all().write([twin.story.story for twin in twins], ["merged_into", "pending"])

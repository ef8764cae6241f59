"""The wire itself as a corpus: stories are reports, events timeline events, topics motifs, storylines threads.

Only what the wire knows is said. A maker about itself is `official`, analysis `interpretive`, all else `reported`; nobody judges a
stance, and frames and disputes are an editor's. Brought up to date after each publish, from days that changed.
"""

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
from django.conf import settings
from django.db import models, transaction
from django.db.models import Q

from sources.choices import Tier
from sources.models import Publication
from wire.corpora.timeline import releases, store
from wire.corpora.timeline.corpus_config import CorpusFile
from wire.corpora.timeline.load import LoadResult
from wire.corpora.timeline.models import Corpus, Report, Thread, TimelineEvent
from wire.corpora.timeline.validation import is_on_domain
from wire.models import Event, Snapshot, Story, WireState
from wire.text.choices import Category, Topic

SLUG: Final = "wire"
THREAD: Final = "storyline-"  # how ids of threads begin that are made here; an editor's begin otherwise
EARLIER: Final = "event-"  # how they began when widely reported events were threads
OFFICIAL: Final = "official-announcement"
TYPES: Final = {1: "maker-blog", 2: "specialist-press", 3: "newswire", 4: "category-wire"}
MAX_TITLE: Final = 480
MAX_RELATED: Final = 20
_WORD: Final = re.compile(r"[A-Za-z0-9]+")

# What the corpus says of itself; its words are the wire's own vocabularies.
CORPUS: Final[dict[str, Any]] = orjson.loads((Path(settings.BASE_DIR) / "fixtures" / "timeline-wire.json").read_bytes())
CORPUS["vocabularies"] |= {"phenomenon_types": Category.values, "source_types": list(TYPES.values())}
_THEMES: Final = frozenset({Topic.AGENTS, Topic.FUNDING, Topic.REGULATION})


def synchronise_corpus() -> LoadResult | None:
    """Bring the corpus up to date and release it; None where the desk's changes wait for their release. Raises: WireError."""
    with transaction.atomic():
        WireState.lock()
        houses = Publication.objects.in_bulk()
        makers = {host for house in houses.values() if house.tier == Tier.CORPORATE for host in _list_hosts(house)}
        described = orjson.dumps(CORPUS | {"official_domains": sorted(makers)}).decode()
        corpus, is_new = Corpus.objects.get_or_create(slug=SLUG, defaults={"name": CORPUS["name"], "written": described})
        if not is_new and corpus.release and store.has_unreleased_changes(corpus):
            return None
        loaded = LoadResult(corpus)
        last = Snapshot.objects.aggregate(last=models.Max("sequence"))["last"] or 0
        meta = orjson.loads(corpus.meta)
        # A corpus that another version described is made anew.
        before = meta.get("reports.json", {}).get("snapshot", 0) if corpus.written == described else 0
        if not last or (before == last and corpus.release):
            return loaded
        days = set(Snapshot.objects.filter(sequence__gt=before).values_list("wire_date", flat=True))
        # Events that may have changed, and all days of their stories, since each names its event's date.
        events = set(TimelineEvent.objects.draft(corpus.pk).filter(date__in=days).values_list("key", flat=True))
        events.update(filter(None, Story.objects.live().filter(wire_date__in=days).values_list("event_id", flat=True)))
        for some in store.split_batches(sorted(events)):
            days.update(Story.objects.live().filter(event_id__in=some).values_list("wire_date", flat=True))
        loaded.counts["sources"] = store.replace_draft_rows(corpus, "sources", _build_source_families())
        loaded.counts["motifs"] = store.replace_draft_rows(corpus, "motifs", _build_motifs())
        reports = set(Report.objects.draft(corpus.pk).filter(date_observed__in=days).values_list("key", flat=True))
        storylines, threads = _find_changed_storylines(corpus, events, reports, is_anew=not before)
        # By table: its rows by now, and the keys that are removed unless their rows come.
        tables: dict[str, tuple[Iterable[Any], set[str]]] = {
            "events": ((event.row for event in _find_events(events, houses)), events),
            "reports": (_find_reports(corpus, sorted(days), houses), reports),
            "threads": (filter(None, (_to_thread(one, houses) for one in sorted(storylines))), threads),
        }
        for table, (rows, candidates) in tables.items():
            loaded.counts[table] = store.update_draft_rows(corpus, table, ((None, row) for row in rows), candidates)
        meta["reports.json"] = {"name": "Stories as the wire published them", "snapshot": last}
        is_described = corpus.written == described
        corpus.meta, corpus.written = orjson.dumps(meta).decode(), described
        corpus.save(update_fields=["meta", "written", "changed_at"])
        loaded.counts = {table: counted for table, counted in loaded.counts.items() if counted}
        if loaded.counts or not corpus.release or not is_described:
            loaded.release = releases.release_draft(corpus, f"Snapshot {last} of the wire.", checked=True)
        else:
            store.discard_draft(corpus)  # a snapshot that changed nothing of what is told here
        return loaded


def _find_changed_storylines(corpus: Corpus, events: set[str], reports: set[str], *, is_anew: bool) -> tuple[set[str], set[str]]:
    """Return the ids of storylines that may have changed, and the keys of threads made of them so far."""
    of_events, threads = set[str](), set[str]()
    for some in store.split_batches(sorted(events)):
        of_events.update(Event.objects.filter(pk__in=some).exclude(storyline=None).values_list("storyline_id", flat=True))
    made = Thread.objects.draft(corpus.pk).filter(Q(key__startswith=THREAD) | Q(key__startswith=EARLIER))
    if is_anew:
        threads.update(made.values_list("key", flat=True))
    for some in store.split_batches(sorted(reports)):
        threads.update(made.filter(mentions__report_key__in=some).values_list("key", flat=True))
    return of_events | {key.removeprefix(THREAD) for key in threads if key.startswith(THREAD)}, threads


class _Event(NamedTuple):
    """An event of the timeline: its row, and the ids of its stories."""

    row: dict[str, Any]
    members: list[str]


def _find_events(ids: Iterable[str], houses: Mapping[int, Publication]) -> Iterator[_Event]:
    for some in store.split_batches(sorted(ids)):
        by_event = defaultdict[str, list[Story]](list)
        for story in _iterate_with_text(Story.objects.live().filter(event_id__in=some)):
            by_event[str(story.event_id)].append(story)
        yield from filter(None, (_to_event(key, stories, houses) for key, stories in by_event.items()))


def _find_reports(corpus: Corpus, days: Sequence[dt.date], houses: Mapping[int, Publication]) -> Iterator[Any]:
    for some in store.split_batches(days, 30):
        stories = list(_iterate_with_text(Story.objects.live().filter(wire_date__in=some)))
        events = {event.row["id"]: event for event in _find_events({story.event_id for story in stories if story.event_id}, houses)}
        disputed = Report.objects.draft(corpus.pk).filter(date_observed__in=some, body__contains='"disputes":')
        disputes = {one.key: one.row["claims"][0].get("disputes") for one in disputed}
        for story in stories:
            row = _to_report(story, houses, events.get(str(story.event_id)))
            if stated := disputes.get(row["id"]):  # an editor's; it stays with the headline
                row["claims"][0]["disputes"] = stated
            yield row


def _iterate_with_text(stories: Any) -> Iterable[Any]:
    found: Iterable[Any] = stories.select_related("current").order_by("published_at", "chatbotnews_id").iterator(2_000)
    return found


def _to_event(key: str, stories: Sequence[Any], houses: Mapping[int, Publication]) -> _Event | None:
    """Return what several publications report, or a maker announces; None for anything else."""
    names = list(dict.fromkeys(houses[story.publication_id].name for story in stories))
    official = next((one for one in stories if _is_official(one, houses) and one.original_url.startswith("https://")), None)
    if official is None and len(names) < 2:
        return None
    lead = official or stories[0]
    attribution = f"Reported by {', '.join(names)}."
    if official:
        maker = official.current.original_publisher
        others = [name for name in names if name != maker]
        attribution = f"Announced by {maker}{'; reported by ' if others else ''}{', '.join(others)}."
    title = _shorten_title(lead.current.headline)
    row = {
        "id": key,
        "title": title,
        "date": str(min(story.wire_date for story in stories)),
        "layer": OFFICIAL if official else "press-coverage",
        "summary": lead.current.summary_short or title,
        "source_url": lead.original_url,
        "motifs": list(dict.fromkeys(topic for story in stories for topic in story.current.topics)),
        "claim_status": "official" if official else "reported",
        "attribution": attribution[:MAX_TITLE],
    }
    return _Event(row, [story.chatbotnews_id for story in stories])


def _to_thread(storyline: str, houses: Mapping[int, Publication]) -> dict[str, Any] | None:
    """Return a storyline as a thread; None where it has less than two events with a live story."""
    stories = list(_iterate_with_text(Story.objects.live().filter(event__storyline=storyline)))
    events = sorted(_find_events({str(story.event_id) for story in stories}, houses), key=lambda event: event.row["date"])
    if len({story.event_id for story in stories}) < 2:
        return None
    first, last = stories[0], stories[-1]
    dates = dict.fromkeys((str(first.wire_date), str(last.wire_date)))
    return {
        "id": f"{THREAD}{storyline}",
        "title": _shorten_title(last.current.headline),
        "anchor_label": " → ".join(dates),
        "public_summary": f"From “{_shorten_title(first.current.headline)}” to “{_shorten_title(last.current.headline)}”.",
        "belief_frame": None,
        "neutral_frame": None,
        "motifs": list(dict.fromkeys(topic for story in stories for topic in story.current.topics)),
        "anchor_ids": [event.row["id"] for event in events],
        "report_ids": [story.chatbotnews_id for story in stories[:100]],
        "suggested_questions": [],
    }


def _to_report(story: Any, houses: Mapping[int, Publication], event: _Event | None) -> dict[str, Any]:
    text = story.current
    official = _is_official(story, houses)
    grade = "official" if official else "interpretive" if text.category == Category.ANALYSIS else "reported"
    claim_type, say, avoid = {
        "official": ("official-fact", "{} announced…", "avoid: it is proven that…"),
        "interpretive": ("analysis", "an analysis by {} holds…", "avoid: it is a fact that…"),
        "reported": ("press-report", "{} reports…", "avoid: it is known that…"),
    }[grade]
    flags = {
        "untrusted-instructions": text.untrusted_instructions,
        "corrected-by-editor": text.corrected_on is not None,
        "date-estimated": text.published_at_estimated,
    }
    claim_status = "verified-source" if official else "reported"
    title = _shorten_title(text.headline)
    row = {
        "id": story.chatbotnews_id,
        "title": title,
        "summary": text.summary_short or title,
        "long_summary": text.summary_medium or None,
        "phenomenon_type": str(text.category),
        "date_observed": str(story.wire_date),
        "date_posted": str(story.published_at.astimezone(dt.UTC).date()),
        "date_added": str(story.first_seen_at.astimezone(dt.UTC).date()),
        "source": {
            "source_id": houses[story.publication_id].slug,
            "source_type": TYPES[text.original_publisher_tier],
            "source_url": story.original_url,
            **({"author_display": text.author} if text.author else {}),
            "author_policy": "public" if text.author else "unknown",
            "language": text.language,
        },
        "evidence_grade": grade,
        "stance": "official" if official else None,
        "motifs": list(dict.fromkeys(text.topics)),
        "claims": [{"text": title, "claim_type": claim_type, "status": claim_status, "source_url": story.original_url}],
    }
    if event:
        named = {"label": event.row["title"], "date": event.row["date"], "layer": event.row["layer"]}
        row["anchors"] = [{"anchor_id": event.row["id"], **named, "relation": "reports-on"}]
        row["related_report_ids"] = [key for key in event.members if key != story.chatbotnews_id][:MAX_RELATED]
    row["safety_flags"] = [name for name, holds in flags.items() if holds] or None
    row["recommended_agent_language"] = [say.format(text.original_publisher), avoid]
    return {name: value for name, value in row.items() if value is not None or name == "stance"}


def _is_official(story: Any, houses: Mapping[int, Publication]) -> bool:
    """Return whether a maker speaks about itself: a corporate blog, at its own address, that names the maker or has its topic."""
    text, house = story.current, houses[story.publication_id]
    if text.original_publisher_tier != Tier.CORPORATE or not is_on_domain(story.original_url, _list_hosts(house)):
        return False
    maker = house.name.split()[0].lower()
    words = {word.lower() for word in _WORD.findall(f"{text.headline} {text.summary_medium}")}
    return maker in text.topics or maker in words


def _list_hosts(house: Publication) -> set[str]:
    return {domain.partition("/")[0] for domain in house.domains}


def _shorten_title(headline: str) -> str:
    return headline if len(headline) <= MAX_TITLE else f"{headline[: MAX_TITLE - 1].rstrip()}…"


def _build_source_families() -> list[dict[str, Any]]:
    policy = "Headline and short summary in the publication's own words, with its address."
    return [
        {"id": one.slug, "label": one.name, "kind": TYPES[one.tier], "policy": policy}
        | ({"home_url": one.homepage} if one.homepage.startswith("http") else {})
        for one in Publication.objects.in_roster_order()
    ]


def _build_motifs() -> list[dict[str, Any]]:
    return [
        {
            "id": str(topic.value),
            "label": str(topic.label),
            "short_definition": f"Stories about {topic.label}, as the wire's lexicon finds them.",
            "family": "theme" if topic in _THEMES else "company",
            "aliases": [],
        }
        for topic in Topic
    ]


CorpusFile.model_validate(CORPUS)  # a mistake above shows when this is imported, not when somebody publishes

"""Compares how each side tells a topic, with the facts they share and the evidence of each claim. Nothing is generated."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from wire.corpora.timeline import answer_phrases
from wire.corpora.timeline.errors import NoMatchingTopic
from wire.corpora.timeline.models import Thread
from wire.corpora.timeline.queries.lists import events_named, thread_names
from wire.corpora.timeline.queries.reports import rows_named
from wire.corpora.timeline.queries.scope import LISTED, Scope, Walk, quote, scope_of
from wire.corpora.timeline.schemas import CompareOut, TimelineEvidenceOut, TimelineFactOut
from wire.corpora.timeline.vocabulary import DISPUTED, FRAMES, OFFICIAL, Frame
from wire.text.tokens import STOP_WORDS, token

SKIPPED: Final = STOP_WORDS | {
    *("about", "cause", "does", "effect", "effects", "report", "reports", "shift", "shifts", "story", "stories"),
    *("timeline", "timelines"),
}  # words of a topic that tell no thread from another
IN_MOTIF: Final = 3
IN_TEXT: Final = 2
IN_ANCHOR: Final = 1
MOST_SCORED: Final = 5_000  # threads that a topic is compared with: those that hold one of its words
MAX_CLAIMED: Final = 500  # reports of a thread whose claims are listed
_WORD: Final = re.compile(r"[a-z0-9]+")
_AGAINST: Final = frozenset({"skeptical", OFFICIAL})


@dataclass(frozen=True, slots=True)
class Match:
    """A thread, how well it fits, and which words of the topic it says something about."""

    row: Any
    score: int
    words: list[str]


def compare_sources(
    slug: str,
    topic: str,
    frames: Sequence[Frame] | None = None,
    limit: int = LISTED,
    cursor: str | None = None,
    as_of: int | None = None,
) -> CompareOut:
    """Return the thread that fits a topic best. Raises: NoMatchingTopic, NotFound, InvalidArgument."""
    walk = Walk("claims", slug, as_of, [topic, sorted(set(frames or ()))], cursor)
    scope = scope_of(slug, walk.as_of)
    asked = words_of(topic)
    match = _find_best(scope, asked)
    if match is None:
        raise NoMatchingTopic(
            f"No thread matches {quote(topic)}.", f"Try one of: {thread_names(scope)} — or a motif id from timeline_motif_map."
        )
    row = match.row
    claims = _claims(rows_named(scope, row["report_ids"][:MAX_CLAIMED]))
    start = walk.before[0] if walk.before else 0
    end = start + limit
    wanted = frames or FRAMES
    framed: dict[str, Any] = {name: row.get(f"{name}_frame") or None for name in FRAMES if name in wanted}
    lanes = scope.settings.vocabularies.lanes()
    official = [event for event in events_named(scope, row["anchor_ids"]) if lanes[event["layer"]] == OFFICIAL]
    facts = [(f"{event['title']} ({event.get('date_label') or event['date']})", event.get("source_url")) for event in official]
    return CompareOut(
        **scope.answered,
        topic=topic,
        matched_thread=row["id"],
        matched_words=match.words,
        unmatched_words=[word for word in asked if word not in match.words],
        **framed,
        shared_facts=[TimelineFactOut(fact=fact, source_url=url) for fact, url in facts],
        disputed_or_unsourced=[answer_phrases.UNSOURCED_THREAD] if row.get("flag") else [],
        disputed_claims=[claim for claim in claims if claim.status == DISPUTED],
        total_claims=len(claims),
        next_cursor=walk.cursor(scope, end) if end < len(claims) else None,
        claims=claims[start:end],
        recommended_wording=answer_phrases.WORDING,
    )


def words_of(topic: str) -> list[str]:
    return [word for word in dict.fromkeys(_WORD.findall(topic.lower())) if len(word) > 2 and word not in SKIPPED]


def _find_best(scope: Scope, asked: Sequence[str]) -> Match | None:
    """Return the thread of the highest score, the first of several; None where most of the topic is about something else."""
    lanes, best = scope.settings.vocabularies.lanes(), None
    rows = [one.row for one in scope.rows(Thread).in_order()[:MOST_SCORED]]
    events = {one["id"]: one for one in events_named(scope, sorted({key for row in rows for key in row["anchor_ids"]}))}
    for row in rows:
        anchors = [events[key] for key in row["anchor_ids"] if key in events and lanes[events[key]["layer"]] == OFFICIAL]
        match = _match(row, anchors, asked)
        if match.score and (best is None or match.score > best.score):
            best = match
    return best if best and 3 * len(best.words) > len(asked) else None


def _match(row: Any, anchors: Sequence[Any], asked: Sequence[str]) -> Match:
    near = _stems(row["id"], row["title"], row["public_summary"])
    motifs = _stems(*row["motifs"])
    official = _stems(*(text for one in anchors for text in (one["title"], one["summary"], one.get("source_url") or "")))
    wide = _stems(*(row.get(f"{name}_frame") or "" for name in FRAMES))
    asked_stems = [token(word) for word in asked]
    score = sum(IN_TEXT * (one in near) + IN_MOTIF * (one in motifs) + IN_ANCHOR * (one in official) for one in asked_stems)
    anywhere = near | motifs | official | wide
    return Match(row, score, [word for word, stem in zip(asked, asked_stems, strict=True) if stem in anywhere])


def _stems(*texts: str) -> set[str]:
    return {token(word) for text in texts for word in _WORD.findall(text.lower())}


def _claims(reports: Sequence[Any]) -> list[TimelineEvidenceOut]:
    """Return every claim of these reports, and the reports against it: skeptical or official ones on a motif of its report."""
    against = [(one["id"], set(one["motifs"])) for one in reports if one["stance"] in _AGAINST]
    return [
        TimelineEvidenceOut(
            text=claim["text"],
            claim_type=claim["claim_type"],
            status=claim["status"],
            source_url=claim.get("source_url") or row["source"].get("source_url"),
            report_id=row["id"],
            report_title=row["title"],
            evidence_grade=row["evidence_grade"],
            stance=row["stance"],
            source_type=row["source"]["source_type"],
            disputed_by=[
                key for key, motifs in against if key != row["id"] and row["stance"] not in _AGAINST and motifs & set(row["motifs"])
            ],
        )
        for row in reports
        for claim in row["claims"]
    ]

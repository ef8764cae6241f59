"""Compares how each side tells a topic, with the facts they share and the evidence of each claim. Nothing is generated."""

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from wire.corpora.timeline import answer_phrases
from wire.corpora.timeline.errors import NoMatchingTopic
from wire.corpora.timeline.models import Report, Thread
from wire.corpora.timeline.queries.lists import list_official_events
from wire.corpora.timeline.queries.scope import Scope, Walk, quote
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


class Match(NamedTuple):
    """A thread, how well it fits, and which words of the topic it says something about."""

    row: Any
    score: int
    words: list[str]


def compare_sources(slug: str, topic: str, frames: Sequence[Frame] | None = None, **given: Any) -> CompareOut:
    """Return the thread that fits a topic best. Raises: NoMatchingTopic, NotFound, InvalidArgument."""
    walk = Walk("claims", slug, topic, sorted(set(frames or ())), **given)
    scope = walk.scope
    asked = [word for word in dict.fromkeys(_WORD.findall(topic.lower())) if len(word) > 2 and word not in SKIPPED]
    match = _find_best(scope, asked)
    if match is None:
        raise NoMatchingTopic(
            f"No thread matches {quote(topic)}.", f"Try one of: {scope.list_ids(Thread)} — or a motif id from timeline_motif_map."
        )
    row = match.row
    claims = _claims(scope.list_rows(Report, row["report_ids"][:MAX_CLAIMED]))
    start = walk.before[0] if walk.before else 0
    end = start + walk.limit
    framed: dict[str, Any] = {name: row.get(f"{name}_frame") or None for name in FRAMES if name in (frames or FRAMES)}
    return CompareOut(
        **scope.answered,
        topic=topic,
        matched_thread=row["id"],
        matched_words=match.words,
        unmatched_words=[word for word in asked if word not in match.words],
        **framed,
        shared_facts=[
            TimelineFactOut(fact=f"{one['title']} ({one.get('date_label') or one['date']})", source_url=one.get("source_url"))
            for one in list_official_events(scope, row["anchor_ids"])
        ],
        disputed_or_unsourced=[answer_phrases.UNSOURCED_THREAD] if row.get("flag") else [],
        disputed_claims=[claim for claim in claims if claim.status == DISPUTED],
        total_claims=len(claims),
        next_cursor=walk.cursor(end) if end < len(claims) else None,
        claims=claims[start:end],
        recommended_wording=answer_phrases.WORDING,
    )


def _find_best(scope: Scope, asked: Sequence[str]) -> Match | None:
    """Return the thread of the highest score, the first of several; None where most of the topic is about something else."""
    rows = [one.row for one in scope.rows(Thread).in_order()[:MOST_SCORED]]
    events = {one["id"]: one for one in list_official_events(scope, [key for row in rows for key in row["anchor_ids"]])}
    matches = [_match(row, [events[key] for key in row["anchor_ids"] if key in events], asked) for row in rows]
    best = max(matches, key=lambda match: match.score, default=None)
    return best if best and best.score and 3 * len(best.words) > len(asked) else None


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
            **{name: claim[name] for name in ("text", "claim_type", "status")},
            **{name: row[name] for name in ("evidence_grade", "stance")},
            source_url=claim.get("source_url") or row["source"].get("source_url"),
            report_id=row["id"],
            report_title=row["title"],
            source_type=row["source"]["source_type"],
            disputed_by=[
                key for key, motifs in against if key != row["id"] and row["stance"] not in _AGAINST and motifs & set(row["motifs"])
            ],
        )
        for row in reports
        for claim in row["claims"]
    ]

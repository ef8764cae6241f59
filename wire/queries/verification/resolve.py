"""Stories that citations without an id, or with a wrong one, are of: the story that says these very words, if there is one."""

import datetime as dt
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from django.db.models import Q, prefetch_related_objects
from rapidfuzz import fuzz

from citations.find.citation_match import CitationMatch
from citations.find.claim_context import NO_WORDS, find_open_bracket, find_urls
from citations.find.footnotes import locate_notes
from citations.find.normalize import ELLIPSIS, fold_words, split_at_ellipses
from citations.find.segments import ID
from citations.sentence_boundaries import split_sentences
from wire.models import Story, StoryAlias, StoryRevision
from wire.models.search import find_newest, get_first_position
from wire.models.story import BY_EDITOR
from wire.publishing.story_json import get_permalink
from wire.queries.verification.paraphrase_checks import ABOUT, SOME, measure_word_share
from wire.queries.verification.record import Publications, StoryRecord
from wire.text.claim_match import parse_statement
from wire.text.identity import canonical_url
from wire.text.search_query import Term
from wire.text.tokens import tokenize
from wire.text.word_frequency import FREQUENT_WORDS

CANDIDATES: Final = 60
DAYS: Final = 5  # of one text, read whole for citations whose words the index does not have
WINDOW: Final = dt.timedelta(days=2)  # before and after noon, UTC, of the day given: days of a wire begin at its own midnight
CHANGED: Final = 200  # stories that were corrected or withdrawn, read for citations that give no date
LOOSER: Final = 20  # below that for one whose publisher and date are the story's
ALIKE: Final = 88  # of 100: the words of a headline beside those of a citation that somebody changed a word of
SURE: Final = 97

Ranking = list[tuple[float, StoryRecord]]


def resolve_citations(found: Sequence[CitationMatch], publications: Publications) -> list[list[StoryRecord]]:
    """Return for each the story whose words these are; none, where no story is near; several, where they are equally near."""
    rankings: dict[int, Ranking] = {id(one): [] for one in found}
    for look in (partial(_search_index, is_near_day=True), partial(_search_index, is_near_day=False), _read_day_stories):
        missed = [one for one in found if _get_cited_text(one) and not rankings[id(one)]]
        for one, candidates in zip(missed, look(missed), strict=True):
            rankings[id(one)] = _rank_candidates(one, candidates, publications, is_last=look is _read_day_stories)
    silent = [one for one in found if not _get_cited_text(one) and find_open_bracket(one.ahead)]
    for one, candidates in zip(silent, _read_day_stories(silent), strict=True):
        rankings[id(one)] = _rank_own_words(one, candidates, publications)
    nearest = []
    for one in found:
        ranking = rankings[id(one)]
        tied = [known for score, known in ranking if ranking[0][0] - score < 1]
        same = {(known.current.headline, known.current.original_publisher, known.story.wire_date) for known in tied}
        nearest.append(tied[:1] if len(same) == 1 else tied)  # a publisher that has one headline twice a day means either
    return nearest


def replace_article_urls(text: str) -> str:
    """Return a text in which a numbered note has the permalink of a story in place of the publisher's address of its article, if
    the text cites this wire elsewhere and the note has no id itself.
    """
    spans = [(begin, end) for begin, end in locate_notes(text) if not ID.search(text, begin, end)] if ID.search(text) else []
    canonical = {}
    for url in dict.fromkeys(url for begin, end in spans for url in find_urls(text[begin:end])[:1]):
        with suppress(ValueError):
            canonical[url] = canonical_url(url)
    stories = Story.objects.published().filter(original_url__in=canonical.values())
    aliases = StoryAlias.objects.filter(url__in=canonical.values(), story__current__isnull=False)
    ids = dict([*aliases.values_list("url", "story__chatbotnews_id"), *stories.values_list("original_url", "chatbotnews_id")])
    for begin, end in reversed(spans):
        url = next(iter(find_urls(text[begin:end])), "")
        if (story_id := ids.get(canonical.get(url, ""))) and story_id not in text:
            text = text[:begin] + text[begin:end].replace(url, get_permalink(story_id), 1) + text[end:]
    return text


def _search_index(found: Sequence[CitationMatch], *, is_near_day: bool) -> list[list[StoryRecord]]:
    """Return stories which the index has by the words of each; only of about the day that it gives, where one usually is."""
    positions: list[set[int]] = []
    for one in found:
        day = _parse_day(one)
        if not is_near_day:
            positions.append(_find_positions(one))
        elif day and WINDOW.days < day.toordinal() < dt.date.max.toordinal() - WINDOW.days:
            noon = dt.datetime.combine(day, dt.time(12), dt.UTC)
            positions.append(_find_positions(one, get_first_position(noon - WINDOW), get_first_position(noon + WINDOW)))
        else:
            positions.append(set())
    by_position = {one.story.search_document.place: one for one in _fetch_records(Q(search_document__in=set().union(*positions)))}
    return [[by_position[at] for at in some if at in by_position] for some in positions]


def _find_positions(found: CitationMatch, low: int | None = None, high: int | None = None) -> set[int]:
    """Return where in the index stories stand that have these words, or most of them."""
    wanted = [Term((token,)) for token in dict.fromkeys(tokenize(_get_cited_text(found) or "")) if token not in FREQUENT_WORDS]
    head = wanted[: 5 if found.rest is not None else 10]
    positions: set[int] = set()
    # What a word was changed in, or what was cut inside of one, holds the others all the same.
    parts = (head, head[:-1], head[:4], [*head[:2], *head[3:6]], head[3:7], head[1:4], wanted[4:8], wanted[6:9])
    for number, terms in enumerate(parts):
        if len(terms) > 1:
            positions.update(find_newest([terms], limit=CANDIDATES, low=low, high=high))
        if len(positions) >= 3 or (positions and number >= 3):
            break
    return positions


def _read_day_stories(found: Sequence[CitationMatch]) -> list[list[StoryRecord]]:
    """Return stories of the day that each gives, or the newest that an editor corrected or withdrew: the index has no words of
    earlier revisions, nor of withdrawn stories.
    """
    days = list(dict.fromkeys(day for one in found if (day := _parse_day(one))))[:DAYS]
    on_days = _fetch_records(Q(wire_date__in=days)) if days else []
    changed: list[StoryRecord] = []
    if any(_parse_day(one) is None for one in found):
        by_editor = StoryRevision.objects.filter(BY_EDITOR).order_by("-pk").values_list("story", flat=True)
        changed = _fetch_records(Q(pk__in=list(by_editor[:CHANGED])))
    return [[known for known in on_days if known.story.wire_date == day] if (day := _parse_day(one)) else changed for one in found]


def _get_cited_text(found: CitationMatch) -> str | None:
    text = found.statement or found.headline or found.rest
    least = 1 if found.dates else 2  # words: one is enough for a headline of a day that is given
    return text if text and len(fold_words(text)) >= least else None


def _rank_candidates(found: CitationMatch, candidates: list[StoryRecord], publications: Publications, *, is_last: bool) -> Ranking:
    """Return those that say nearly these words, the nearest first. `is_last`: if there is none, the one report of the publisher
    and the day that are named whose words are at all alike.
    """
    publisher = publications.canonical_name(found.publisher) if found.publisher else None
    scored = [(_score_candidate(found, known, publisher), known) for known in candidates]
    near = [(score, known) for score, known in scored if score >= ALIKE]
    if not near and is_last and publisher and found.dates:
        alike = [(score, known) for score, known in scored if score > ALIKE - LOOSER]
        near = alike if len(alike) == 1 else []
    return sorted(near, key=lambda pair: -pair[0])


def _rank_own_words(found: CitationMatch, candidates: list[StoryRecord], publications: Publications) -> Ranking:
    """Return the reports of the publisher and the day that a sentence names in a bracket, by how much they have of its words."""
    publisher = publications.canonical_name(found.publisher or "")
    is_told = len(parse_statement(NO_WORDS.sub(" ", found.ahead)).told) >= ABOUT
    those = [known for known in candidates if is_told and found.dates and known.current.original_publisher == publisher]
    scored = [(100 * share, known) for known in those if (share := measure_word_share(found.ahead, known)) >= SOME]
    return sorted(scored, key=lambda pair: -pair[0])


def _score_candidate(found: CitationMatch, known: StoryRecord, publisher: str | None) -> float:
    """Return how near the words are, 0 to 100, and a little for the publisher and the date."""
    said = _get_cited_text(found) or ""
    theirs = fold_words(said)
    began = split_at_ellipses(said)[0] if found.rest is not None and ELLIPSIS.search(said) else ()
    is_same = known.current.original_publisher == publisher
    is_on_day = bool(found.dates) and known.story.wire_date.isoformat().startswith(found.dates[0])
    least = ALIKE - LOOSER if is_same and is_on_day else ALIKE - 4
    best = 100.0 if found.statement and len(theirs) > 4 and known.find_quote(said) else 0.0
    for row in known.revisions:
        texts = [row.headline]
        if found.statement is not None:  # of this release, or of one whose statements were made in another way
            texts += [known.statements[row.revision], row.summary_medium, *split_sentences(row.summary_medium)]
        for ours in filter(None, map(fold_words, texts)):
            if 2 < len(began) < len(ours) and ours[: len(began)] == began:
                best = 100.0
            may_go_on = found.rest is not None or (found.story_id is None and len(ours) > 5)
            lengths = {len(ours) if may_go_on else len(theirs), *([len(theirs)] if found.rest is None else [])}
            best = max(best, *(_compare_words(theirs[:length], ours[:length], least=least, is_near=is_same) for length in lengths))
    if best < SURE and not is_same and not is_on_day:
        return 0.0
    return best + 2 * is_same + 2 * is_on_day if best else 0.0


def _compare_words(theirs: Sequence[str], ours: Sequence[str], *, least: int, is_near: bool) -> float:
    """Return how alike words are, 0 to 100, and 0 below `least`. `is_near`: both are of one publisher, so that a long word may be
    another, or words may have changed places.
    """
    one, other = " ".join(theirs), " ".join(ours)
    best = fuzz.ratio(one, other, score_cutoff=least)
    if best < ALIKE and is_near:
        best = max(best, fuzz.ratio(theirs, ours, score_cutoff=least), fuzz.token_sort_ratio(one, other, score_cutoff=least))
    return best


def _parse_day(found: CitationMatch) -> dt.date | None:
    with suppress(ValueError, IndexError):
        return dt.date.fromisoformat(found.dates[0])
    return None


def _fetch_records(which: Q) -> list[StoryRecord]:
    rows = list(Story.objects.published().filter(which).with_text().select_related("search_document"))
    prefetch_related_objects([story for story in rows if story.current and story.current.revision > 1], "revisions")
    return [StoryRecord(story) for story in rows]

"""Figures of the wire's judgements on labelled data. Pure: rows in, figures out; `manage.py evalwire` reads files and prints."""

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from statistics import fmean
from typing import Any, NamedTuple

import trafilatura
from markdown_it import MarkdownIt

from citations.sentence_boundaries import ends_like_sentence
from sources.entries import Entry
from sources.parse.article import Article
from sources.parse.charsets import decode_text
from sources.parse.extractor_pool import extract_articles
from sources.publication_names import Name, resolve_name
from wire.ingest.classify import Lexicon
from wire.ingest.normalise import MAX_HEADLINE, choose_summary
from wire.ops.quality.event_metrics import Figures, compare_groups, count_misleading_events, harmonic_mean, replay_days
from wire.publishing.grouping import cluster, headline_lookup
from wire.publishing.grouping.candidates import HALF, Item
from wire.search.ranking import ENOUGH
from wire.search.vectors import embed_stories
from wire.text import tokens
from wire.text.choices import Category
from wire.text.filters import is_caption, is_roundup, repeats_headline, strip_headline
from wire.text.identity import BadUrl, canonical_url, chatbotnews_id
from wire.text.plain_text import extract_summary, plain_text
from wire.text.search_query import ALL, Query, Text, list_query_forms

Row = Mapping[str, str]

ASKED_OF = 1_000  # headlines at most, of which a headline is asked about
ASKED = 150
SHOWN_OF_SEARCH = 10
OPENING = 20  # characters by which a summary is known to begin where the publisher's text does
ANY_TIME = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def score_summaries(items: Iterable[tuple[str, str, bool]]) -> Figures:
    """Count items, given as title, summary and whether of a maker's blog, by what becomes of their summaries: those left empty, by
    reason, and of the others those that are cut, end as no sentence does, or are whole.
    """
    counts = dict.fromkeys(("empty", "boilerplate", "picture", "repeated", "cut", "no_sentence", "whole", "opening_dropped"), 0)
    for title, raw, of_maker in items:
        headline, text = plain_text(title, 1000), plain_text(raw, 1000)
        shown = strip_headline(headline, extract_summary(raw))
        if not shown:
            counts["boilerplate" if text else "empty"] += 1
        elif is_caption(shown, of_maker=of_maker):
            counts["picture"] += 1
        elif repeats_headline(headline, shown):
            counts["repeated"] += 1
        else:
            counts["cut" if shown.endswith("…") else "whole" if ends_like_sentence(shown) else "no_sentence"] += 1
            counts["opening_dropped"] += not shown.startswith(text[:OPENING][: len(shown) - 1])
    return {"items": sum(counts.values()) - counts["opening_dropped"], **counts}


def score_events(rows: Sequence[Row], *, as_published: bool = False) -> Figures:
    """Score events. Columns title and event (the truth); published_at (RFC 3339, else UTC), summary and publisher if there are any.

    Stories are grouped at once, or with `as_published` day by day as readers see it, which also gives what readers see wrong
    (`count_misled`). `asked_*` are of a headline that somebody asks about: see `_score_lookups`.
    """
    items = build_items(rows)
    grouped = [item for item in items if not is_roundup(item.headline)]
    found = replay_days(grouped) if as_published else cluster.group_stories(grouped).events
    grouping, truth = [found.get(item.chatbotnews_id, item.chatbotnews_id) for item in items], [row["event"] for row in rows]
    figures = compare_groups(grouping, truth, [item.publisher for item in items])
    return figures | (count_misleading_events(grouping, truth, items) if as_published else _score_lookups(items, truth))


def build_items(rows: Sequence[Row]) -> list[Item]:
    """Return labelled stories as grouping sees them, with vectors where there is a model."""
    texts = [(row["title"], row.get("summary", "")) for row in rows]
    vectors = [vector.astype(HALF).tobytes() for vector in embed_stories(texts)] or [b""] * len(rows)
    return [
        Item(f"{number:08d}", title, _parse_time(row.get("published_at", "")), None, text, row.get("publisher", ""), vector)
        for number, (row, (title, text), vector) in enumerate(zip(rows, texts, vectors, strict=True))
    ]


def _score_lookups(items: Sequence[Item], truth: Sequence[str]) -> Figures:
    """Look up a story's headline where the story itself is not known: once with the others of its event, once without them."""
    known = list(zip(items, truth, strict=True))[:: len(items) // ASKED_OF + 1]
    answers = right = possible = 0
    for asked, event in known[:: len(known) // ASKED + 1]:
        others = [(item, theirs) for item, theirs in known if item is not asked]
        for stories in (others, [(item, theirs) for item, theirs in others if theirs != event]):
            found = headline_lookup.find_nearest_story(asked.headline, [item for item, _ in stories])
            answers += found is not None
            right += found is not None and (found[0], event) in stories
        possible += event in {theirs for _, theirs in others}
    return {"asked_precision": right / (answers or 1), "asked_recall": right / (possible or 1)}


def score_categories(rows: Sequence[Row], lexicon: Lexicon) -> Figures:
    """Score categories. Columns title and category; source (the publication), summary and topics (separated by spaces) if any."""
    figures = score_choices([str(lexicon.category(row["title"], row.get("summary", ""))) for row in rows], rows)
    if rows and "topics" in rows[0]:
        topics = (lexicon.topics(row["title"], row.get("summary", ""), row.get("source", "")) for row in rows)
        pairs = [(set(map(str, chosen)), set(row["topics"].split())) for chosen, row in zip(topics, rows, strict=True)]
        figures["topics_micro_f1"] = _score_topics(pairs)
    return figures


def score_choices(chosen: Sequence[str], rows: Sequence[Row]) -> Figures:
    """Score the category chosen for each row against its column category."""
    both = Counter(zip(chosen, (row["category"] for row in rows), strict=True))
    ours, theirs = Counter(chosen), Counter(row["category"] for row in rows)
    f1 = {str(c): harmonic_mean(both[c, c] / (ours[c] or 1), both[c, c] / theirs[c]) for c in Category if theirs[c]}
    figures = {"headlines": float(len(rows)), "accuracy": sum(both[c, c] for c in theirs) / max(1, len(rows))}
    return figures | {"macro_f1": sum(f1.values()) / max(1, len(f1)), **{f"f1_{name}": value for name, value in f1.items()}}


def add_texts(rows: Sequence[Row], entries: Iterable[Entry], makers: Collection[str]) -> list[Row]:
    """Return rows with a column `story` (its chatbotnews_id), with the title, source, summary and day that the wire would show
    of it where they have none and an entry is this story. `makers`: publications that are makers' blogs.
    """
    wanted, texts = {row["story"] for row in rows}, {}
    for entry in entries:
        with suppress(BadUrl):
            story = chatbotnews_id(canonical_url(entry.url))
            if story in wanted:
                headline = plain_text(entry.title, MAX_HEADLINE)
                summary = choose_summary(entry, headline, of_maker=entry.publisher in makers)
                day = str(entry.published_at)[:10]
                texts[story] = {"title": headline, "source": entry.publisher, "summary": summary, "published_on": day}
    return [{**texts.get(row["story"], {}), **row} for row in rows]


def score_names(rows: Sequence[Row], roster: Sequence[Name]) -> Figures:
    """Score names. Columns name and expected: the roster's own name, or nothing for what must be refused."""
    answers = [(found.canonical if (found := resolve_name(row["name"], roster)) else "", row["expected"]) for row in rows]
    spellings = [(name, expected) for name, expected in answers if expected]
    misses = [name for name, expected in answers if not expected]
    return {
        "spellings": len(spellings),
        "spellings_found": sum(name == expected for name, expected in spellings) / (len(spellings) or 1),
        "near_misses": len(misses),
        "near_misses_accepted": float(sum(map(bool, misses))),
        "taken_for_another": float(sum(bool(name) and name != expected for name, expected in spellings)),
    }


def score_searches(document: Mapping[str, Any]) -> Figures:
    """Score searches. `stories`: id, title, summary and published_at; `queries`: query and judged, a grade of 1-3 by id. Normalised
    discounted cumulative gain at 10 (Järvelin and Kekäläinen 2002, gains 2^grade - 1), without meaning and freshness; `relevant`:
    how much of what holds all words was judged relevant; `silent`: how often nothing is found where nothing is to be found.
    """
    texts = {
        row["id"]: Text(tokens.tokenize(row["title"]), tokens.tokenize(row.get("summary") or "")) for row in document["stories"]
    }
    times = {row["id"]: _parse_time(row.get("published_at") or "").timestamp() for row in document["stories"]}
    answers, strict, silent = [], [], []
    for row in document["queries"]:
        asked_forms = list_query_forms(row["query"])
        every = _find_stories([form for form in asked_forms if form.least == ALL], texts, {ALL: 1})
        found = _find_stories(asked_forms, texts, ENOUGH)
        if row["judged"]:
            answers.append((sorted(found, key=lambda one: (-found[one], -times[one], one))[:SHOWN_OF_SEARCH], row["judged"]))
            strict.append((list(every), row["judged"]))
        else:
            silent.append(not every)
    figures = {"queries": float(len(document["queries"])), "silent": sum(silent) / (len(silent) or 1)}
    return figures | (
        {"ndcg_10": grade_rankings(answers)["ndcg_10"], "relevant": grade_rankings(strict)["relevant"]} if answers else {}
    )


def _find_stories(asked: Sequence[Query], texts: Mapping[str, Text], enough: Mapping[float, int]) -> dict[str, float]:
    found: dict[str, float] = {}
    for form in asked:
        found = {one: text.score(form) for one, text in texts.items() if text.holds(form)}
        if len(found) >= enough[form.least]:
            break
    return found


def grade_rankings(answers: Sequence[tuple[Sequence[str], Mapping[str, int]]]) -> Figures:
    """Score rankings: a pair of ids, best first, and of the grades of judged ones, for each query that something answers."""
    relevant = sum(one in judged for ranked, judged in answers for one in ranked)
    return {
        "ndcg_10": sum(_compute_ndcg(ranked, judged) for ranked, judged in answers) / (len(answers) or 1),
        "relevant": relevant / (sum(len(ranked) for ranked, _ in answers) or 1),
    }


def _compute_ndcg(ranked: Sequence[str], judged: Mapping[str, int]) -> float:
    gains = [
        sum((2.0**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades[:10]))
        for grades in ([judged.get(one, 0) for one in ranked], sorted(judged.values(), reverse=True))
    ]
    return gains[0] / gains[1]


class LabelledPage(NamedTuple):
    """An article's page as it is sent, and what a person took for its text, without the title."""

    html: bytes
    url: str
    text: str


def score_extraction(pages: Sequence[LabelledPage]) -> Figures:
    """Score how much of each page's text is found, and how much beside it, by our extraction and by trafilatura as it comes: runs
    of four words, as scrapinghub/article-extraction-benchmark has them.
    """
    found = list(extract_articles((page.html, "", page.url) for page in pages))
    parser, ours = MarkdownIt("commonmark").enable(["table", "strikethrough"]), []
    for article in found:
        html = parser.render(article.markdown) if isinstance(article, Article) else ""
        ours.append(plain_text(html, len(html)))  # what a reader of the Markdown sees
    theirs = [trafilatura.extract(decode_text(page.html), include_comments=False) or "" for page in pages]
    return {
        "pages": float(len(pages)),
        "refused": float(sum(not isinstance(one, Article) for one in found)),
        **_score_texts(ours, pages),
        **{f"trafilatura_{name}": value for name, value in _score_texts(theirs, pages).items()},
    }


def _score_texts(texts: Sequence[str], pages: Sequence[LabelledPage]) -> Figures:
    pairs = [(_count_runs(text), _count_runs(page.text)) for text, page in zip(texts, pages, strict=True)]
    precision = fmean([(one & other).total() / one.total() for one, other in pairs if one] or [0.0])
    recall = fmean([(one & other).total() / other.total() for one, other in pairs if other] or [0.0])
    return {"precision": precision, "recall": recall, "f1": harmonic_mean(precision, recall)}


def _count_runs(text: str) -> Counter[tuple[str, ...]]:
    """Return each run of four words with its count; of a shorter text, the text."""
    words = re.findall(r"\w+", text)
    return Counter(tuple(words[at : at + 4]) for at in range(max(1, len(words) - 3)) if words)


def score_agreement(rows: Sequence[Row]) -> Figures:
    """Compare two labellings, columns category_a, category_b, topics_a, topics_b: share, Cohen's kappa, F1 of topics."""
    pairs = [(row["category_a"], row["category_b"]) for row in rows]
    share = sum(a == b for a, b in pairs) / max(1, len(pairs))
    one, two = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    chance = sum(one[c] * two[c] for c in one) / max(1, len(pairs) ** 2)
    topics = [(set(row["topics_a"].split()), set(row["topics_b"].split())) for row in rows]
    return {"agreement": share, "kappa": (share - chance) / (1 - chance or 1), "topics_agreement_f1": _score_topics(topics)}


def _score_topics(pairs: Sequence[tuple[set[str], set[str]]]) -> float:
    return 2 * sum(len(a & b) for a, b in pairs) / (sum(len(a) + len(b) for a, b in pairs) or 1)


def _parse_time(raw: str) -> dt.datetime:
    if not raw:
        return ANY_TIME
    moment = dt.datetime.fromisoformat(raw)
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)

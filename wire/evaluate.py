"""How right the wire's judgements are on labelled data. Pure: rows in, figures out; `manage.py evalwire` reads files and prints."""

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import trafilatura
from markdown_it import MarkdownIt

from citations.sentences import ends_whole
from sources.entries import Entry
from sources.names import Name, resolve
from sources.parse.article import Article
from sources.parse.charsets import decode
from sources.parse.extractor import extract_all
from wire.intake.classify import Lexicon
from wire.intake.normalise import MAX_HEADLINE, summary_of
from wire.search.ranking import ENOUGH
from wire.snapshots import cluster
from wire.stories import tokens
from wire.stories.captions import is_caption, repeats, without_headline
from wire.stories.identity import BadUrl, canonical_url, chatbotnews_id
from wire.stories.question import ALL, Query, Text, forms
from wire.stories.roundups import is_roundup
from wire.stories.text import plain_text, summary
from wire.stories.vocabulary import Category

Row = Mapping[str, str]
Figures = dict[str, float]

ASKED_OF = 1_000  # headlines at most, of which a headline is asked about
ASKED = 150
SHOWN_OF_SEARCH = 10
SHOWN = ("cut", "no_sentence", "whole")
OPENING = 20  # characters by which a summary is known to begin where the publisher's text does
ANY_TIME = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def summaries(items: Iterable[tuple[str, str, bool]]) -> Figures:
    """Of items, given as title, summary and whether of a maker's blog: how many bring no summary, boilerplate alone (a newsletter's
    greeting, navigation), a picture's description or their headline again, which are left empty; and of the others, how many are
    cut, end as no sentence does, or are whole. `opening_dropped` are those of the others that begin after boilerplate or the
    headline.
    """
    kinds: Counter[str] = Counter()
    for title, raw, of_maker in items:
        headline, text = plain_text(title, 1000), plain_text(raw, 1000)
        said = without_headline(headline, summary(raw))
        kind = _kind(headline, said, of_maker=of_maker) if said else "boilerplate" if text else "empty"
        opening = text[:OPENING]
        kinds.update([kind, *(["opening_dropped"] if kind in SHOWN and not said.startswith(opening[: len(said) - 1]) else [])])
    names = ("empty", "boilerplate", "picture", "repeated", *SHOWN)
    return {"items": sum(kinds[name] for name in names), **{name: kinds[name] for name in (*names, "opening_dropped")}}


def _kind(headline: str, text: str, *, of_maker: bool) -> str:
    if is_caption(text, of_maker=of_maker):
        return "picture"
    if repeats(headline, text):
        return "repeated"
    return "cut" if text.endswith("…") else "whole" if ends_whole(text) else "no_sentence"


def events(rows: Sequence[Row]) -> Figures:
    """Columns title and event (the truth); published_at (RFC 3339, else UTC), summary and publisher if there are any.

    `bcubed_*` average over stories (Bagga and Baldwin 1998), `pairwise_*` over pairs of stories that are, or are said to be, one.
    `asked_*` are of a headline that somebody asks about: see `_asked`.
    """
    items = [
        cluster.Item(
            *(f"{n:08d}", row["title"], _moment(row.get("published_at", "")), None),
            row.get("summary", ""),
            row.get("publisher", ""),
        )
        for n, row in enumerate(rows)
    ]
    found = cluster.assign(item for item in items if not is_roundup(item.headline))
    said, truth = [found.get(item.chatbotnews_id, item.chatbotnews_id) for item in items], [row["event"] for row in rows]
    both, ours, theirs = Counter(zip(said, truth, strict=True)), Counter(said), Counter(truth)
    total = max(1, len(rows))
    precision = sum(count * count / ours[one] for (one, _), count in both.items()) / total
    recall = sum(count * count / theirs[other] for (_, other), count in both.items()) / total
    right = _pairs(both.values())
    return {
        "stories": len(rows),
        "events_found": len(ours),
        "events_true": len(theirs),
        "bcubed_precision": precision,
        "bcubed_recall": recall,
        "bcubed_f1": _harmonic(precision, recall),
        "pairwise_precision": right / (_pairs(ours.values()) or 1),
        "pairwise_recall": right / (_pairs(theirs.values()) or 1),
        **_asked(items, truth),
    }


def _asked(items: Sequence[cluster.Item], truth: Sequence[str]) -> Figures:
    """A story's headline asked about where the story itself is not known: once with the others of its event, once without them.

    Precision is the share of answers that are of its event, recall the share of those that could be answered and were.
    """
    known = list(zip(items, truth, strict=True))[:: len(items) // ASKED_OF + 1]
    answers = right = possible = 0
    for asked, event in known[:: len(known) // ASKED + 1]:
        others = [(item, theirs) for item, theirs in known if item is not asked]
        for told in (others, [(item, theirs) for item, theirs in others if theirs != event]):
            found = cluster.nearest(asked.headline, [item for item, _ in told])
            answers += found is not None
            right += found is not None and (found[0], event) in told
        possible += event in {theirs for _, theirs in others}
    return {"asked_precision": right / (answers or 1), "asked_recall": right / (possible or 1)}


def categories(rows: Sequence[Row], lexicon: Lexicon) -> Figures:
    """Columns title and category; source (the publication), summary and topics (separated by spaces) if there are any.

    `macro_f1` is the mean over the categories that occur, `topics_micro_f1` counts every topic of every story once.
    """
    told = [str(lexicon.category(row["title"], row.get("summary", ""))) for row in rows]
    both = Counter(zip(told, (row["category"] for row in rows), strict=True))
    ours, theirs = Counter(told), Counter(row["category"] for row in rows)
    f1 = {str(c): _harmonic(both[c, c] / (ours[c] or 1), both[c, c] / theirs[c]) for c in Category if theirs[c]}
    figures = {"headlines": float(len(rows)), "accuracy": sum(both[c, c] for c in theirs) / max(1, len(rows))}
    figures |= {"macro_f1": sum(f1.values()) / max(1, len(f1)), **{f"f1_{name}": value for name, value in f1.items()}}
    if rows and "topics" in rows[0]:
        topics = (lexicon.topics(row["title"], row.get("summary", ""), row.get("source", "")) for row in rows)
        pairs = [(set(map(str, told)), set(row["topics"].split())) for told, row in zip(topics, rows, strict=True)]
        right, all_told, all_true = (sum(map(len, sets)) for sets in zip(*((a & b, a, b) for a, b in pairs), strict=True))
        figures["topics_micro_f1"] = 2 * right / ((all_told + all_true) or 1)
    return figures


def with_texts(rows: Sequence[Row], entries: Iterable[Entry], makers: Collection[str]) -> list[Row]:
    """Rows with a column `story` (its chatbotnews_id), with the title, source and summary that the wire would show of it where they
    say none and an entry is this story. `makers`: publications that are makers' blogs.
    """
    wanted = {row["story"] for row in rows}
    texts = {story: _texts(entry, makers) for entry in entries if (story := _story(entry)) in wanted}
    return [{**texts.get(row["story"], {}), **row} for row in rows]


def _story(entry: Entry) -> str:
    try:
        return chatbotnews_id(canonical_url(entry.url))
    except BadUrl:
        return ""


def _texts(entry: Entry, makers: Collection[str]) -> dict[str, str]:
    headline = plain_text(entry.title, MAX_HEADLINE)
    summary = summary_of(entry, headline, of_maker=entry.publisher in makers)
    return {"title": headline, "source": entry.publisher, "summary": summary}


def names(rows: Sequence[Row], roster: Sequence[Name]) -> Figures:
    """Columns name and expected: the roster's own name, or nothing for what must be refused."""
    answers = [(found.canonical if (found := resolve(row["name"], roster)) else "", row["expected"]) for row in rows]
    spellings = [(told, meant) for told, meant in answers if meant]
    misses = [told for told, meant in answers if not meant]
    return {
        "spellings": len(spellings),
        "spellings_found": sum(told == meant for told, meant in spellings) / (len(spellings) or 1),
        "near_misses": len(misses),
        "near_misses_accepted": float(sum(map(bool, misses))),
        "taken_for_another": float(sum(bool(told) and told != meant for told, meant in spellings)),
    }


def searches(document: Mapping[str, Any]) -> Figures:
    """`stories`: id, title, summary and published_at (both may be missing). `queries`: query and judged, a grade of 1-3 by id.

    Found as the wire finds them, but without the meaning of texts and without freshness. Normalised discounted cumulative gain at
    10 (Järvelin and Kekäläinen 2002, gains 2^grade - 1) over queries that something answers; `relevant`: how much of what holds all
    words was judged relevant; `silent`: how often nothing holds all words where nothing is to be found.
    """
    texts = {row["id"]: Text(tokens.tokens(row["title"]), tokens.tokens(row.get("summary") or "")) for row in document["stories"]}
    moments = {row["id"]: _moment(row.get("published_at") or "").timestamp() for row in document["stories"]}
    answers, strict, silent = [], [], []
    for asked in document["queries"]:
        forms_of = forms(asked["query"])
        every, found = _searched([form for form in forms_of if form.least == ALL], texts, 1), _searched(forms_of, texts, None)
        if asked["judged"]:
            answers.append((sorted(found, key=lambda one: (-found[one], -moments[one], one))[:SHOWN_OF_SEARCH], asked["judged"]))
            strict.append((list(every), asked["judged"]))
        else:
            silent.append(not every)
    figures = {"queries": float(len(document["queries"])), "silent": sum(silent) / (len(silent) or 1)}
    return figures | ({"ndcg_10": graded(answers)["ndcg_10"], "relevant": graded(strict)["relevant"]} if answers else {})


def _searched(asked: Sequence[Query], texts: Mapping[str, Text], enough: int | None) -> dict[str, float]:
    """Scores of what answers a question, in the strictest of its forms that finds enough: so many, or as a search has it."""
    found: dict[str, float] = {}
    for form in asked:
        found = {one: text.score(form) for one, text in texts.items() if text.holds(form)}
        if len(found) >= (ENOUGH[form.least] if enough is None else enough):
            break
    return found


def asked(document: Mapping[str, Any], find: Callable[[str], Sequence[str]]) -> Figures:
    """`questions`: question and answers, the ids of all stories that answer it; `queries`: query and judged, a grade of 1-3 by id.
    `find` gives the ids of the first ten that a search finds, best first.

    `recall_5`: how many of a question's answers, of five at most, are among the first five; `answered_5` and `answered_10`: how
    often any is among the first five or ten; all over questions that have answers. `ndcg_10` as of `searches`.
    """
    answered = [(set(row["answers"]), find(row["question"])) for row in document["questions"] if row["answers"]]
    judged = [(find(row["query"]), row["judged"]) for row in document["queries"] if row["judged"]]
    recalls = [len(answers.intersection(found[:5])) / min(5, len(answers)) for answers, found in answered]
    return {
        "questions": float(len(document["questions"])),
        "recall_5": sum(recalls) / (len(recalls) or 1),
        **{
            f"answered_{first}": sum(not answers.isdisjoint(found[:first]) for answers, found in answered) / (len(answered) or 1)
            for first in (5, 10)
        },
        "queries": float(len(judged)),
        "ndcg_10": graded(judged)["ndcg_10"],
    }


def graded(answers: Sequence[tuple[Sequence[str], Mapping[str, int]]]) -> Figures:
    """Of what was found, best first, and the grades of what was judged, a pair each query that something answers."""
    relevant = sum(one in judged for ranked, judged in answers for one in ranked)
    return {
        "ndcg_10": sum(_ndcg(ranked, judged) for ranked, judged in answers) / (len(answers) or 1),
        "relevant": relevant / (sum(len(ranked) for ranked, _ in answers) or 1),
    }


def _ndcg(ranked: Sequence[str], judged: Mapping[str, int], at: int = 10) -> float:
    def gained(grades: Iterable[int]) -> float:
        return sum((2.0**grade - 1) / math.log2(place + 2) for place, grade in enumerate(list(grades)[:at]))

    return gained(judged.get(one, 0) for one in ranked) / gained(sorted(judged.values(), reverse=True))


class LabelledPage(NamedTuple):
    """An article's page as it is sent, and what a person took for its text, without the title."""

    html: bytes
    url: str
    text: str


def articles(pages: Sequence[LabelledPage]) -> Figures:
    """How much of each page's text is found, and how much beside it, by our extraction and by trafilatura as it comes.

    Precision and recall compare runs of four words, how often each occurs included, and average over pages, as
    scrapinghub/article-extraction-benchmark has them; `f1` is their harmonic mean. `refused` pages count as answered with nothing.
    """
    found = list(extract_all((page.html, "", page.url) for page in pages))
    ours = [_read(one.markdown) if isinstance(one, Article) else "" for one in found]
    theirs = [trafilatura.extract(decode(page.html), include_comments=False) or "" for page in pages]
    return {
        "pages": float(len(pages)),
        "refused": float(sum(not isinstance(one, Article) for one in found)),
        **_overlap(ours, [page.text for page in pages]),
        **{f"trafilatura_{name}": value for name, value in _overlap(theirs, [page.text for page in pages]).items()},
    }


def _read(markdown: str) -> str:
    """What a reader of the Markdown sees."""
    html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown)
    return plain_text(html, len(html))


def _overlap(said: Sequence[str], truth: Sequence[str]) -> Figures:
    pairs = [(_runs(one), _runs(other)) for one, other in zip(said, truth, strict=True)]
    precision = fmean([(one & other).total() / one.total() for one, other in pairs if one] or [0.0])
    recall = fmean([(one & other).total() / other.total() for one, other in pairs if other] or [0.0])
    return {"precision": precision, "recall": recall, "f1": _harmonic(precision, recall)}


def _runs(text: str, length: int = 4) -> Counter[tuple[str, ...]]:
    """Each run of so many words with its count; of a shorter text, the text."""
    words = re.findall(r"\w+", text)
    return Counter(tuple(words[at : at + length]) for at in range(max(1, len(words) - length + 1)) if words)


def agreement(rows: Sequence[Row]) -> Figures:
    """Of two labellings, columns category_a, category_b, topics_a, topics_b: share, Cohen's kappa, F1 of topics."""
    pairs = [(row["category_a"], row["category_b"]) for row in rows]
    share = sum(a == b for a, b in pairs) / max(1, len(pairs))
    one, two = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    chance = sum(one[c] * two[c] for c in one) / max(1, len(pairs) ** 2)
    topics = [(set(row["topics_a"].split()), set(row["topics_b"].split())) for row in rows]
    same, total = sum(len(a & b) for a, b in topics), sum(len(a) + len(b) for a, b in topics)
    return {"agreement": share, "kappa": (share - chance) / (1 - chance or 1), "topics_agreement_f1": 2 * same / (total or 1)}


def _moment(raw: str) -> dt.datetime:
    if not raw:
        return ANY_TIME
    moment = dt.datetime.fromisoformat(raw)
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


def _pairs(sizes: Iterable[int]) -> float:
    return sum(size * (size - 1) / 2 for size in sizes)


def _harmonic(one: float, two: float) -> float:
    return 2 * one * two / ((one + two) or 1)

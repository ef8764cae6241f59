"""How right the wire's judgements are on labelled data. Pure: rows in, figures out; `manage.py evalwire` reads files and prints."""

import datetime as dt
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from sources.names import Name, resolve
from wire import cluster, search
from wire.classify import Lexicon
from wire.vocabulary import Category

Row = Mapping[str, str]
Figures = dict[str, float]

ASKED_OF = 1_000  # headlines at most, of which a headline is asked about
ASKED = 150
ANY_TIME = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def events(rows: Sequence[Row]) -> Figures:
    """Columns title and event (the truth); published_at (RFC 3339, else UTC) if there is one.

    `bcubed_*` average over stories (Bagga and Baldwin 1998), `pairwise_*` over pairs of stories that are, or are said to be, one.
    `asked_*` are of a headline that somebody asks about: see `_asked`.
    """
    items = [cluster.Item(f"{n:08d}", row["title"], _moment(row.get("published_at", ""))) for n, row in enumerate(rows)]
    found = cluster.assign(items)
    said, truth = [found[item.chatbotnews_id] for item in items], [row["event"] for row in rows]
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
    """Columns title and category; summary and topics (separated by spaces) if there are any.

    `macro_f1` is the mean over the categories that occur, `topics_micro_f1` counts every topic of every story once.
    """
    told = [str(lexicon.category(row["title"], row.get("summary", ""))) for row in rows]
    both = Counter(zip(told, (row["category"] for row in rows), strict=True))
    ours, theirs = Counter(told), Counter(row["category"] for row in rows)
    f1 = {str(c): _harmonic(both[c, c] / (ours[c] or 1), both[c, c] / theirs[c]) for c in Category if theirs[c]}
    figures = {"headlines": float(len(rows)), "accuracy": sum(both[c, c] for c in theirs) / max(1, len(rows))}
    figures |= {"macro_f1": sum(f1.values()) / max(1, len(f1)), **{f"f1_{name}": value for name, value in f1.items()}}
    if rows and "topics" in rows[0]:
        pairs = [(set(map(str, lexicon.topics(row["title"], row.get("summary", "")))), set(row["topics"].split())) for row in rows]
        right, all_told, all_true = (sum(map(len, sets)) for sets in zip(*((a & b, a, b) for a, b in pairs), strict=True))
        figures["topics_micro_f1"] = 2 * right / ((all_told + all_true) or 1)
    return figures


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

    Normalised discounted cumulative gain at 10 (Järvelin and Kekäläinen 2002, gains 2^grade - 1) over queries that something
    answers, and how much of what is found was judged relevant: of the wire's search, and beside it of plain BM25 over stories that
    hold any word, and over those that hold all. `silent`: how often nothing was found where nothing is to be.
    """
    texts = {row["id"]: (row["title"], row.get("summary") or "") for row in document["stories"]}
    moments = {row["id"]: _moment(row.get("published_at") or "").timestamp() for row in document["stories"]}
    parts = {one: (search.tokens(title), search.tokens(summary)) for one, (title, summary) in texts.items()}
    plain = _PlainBM25({one: _words(f"{title} {summary}") for one, (title, summary) in texts.items()})
    told: dict[str, list[tuple[list[str], Mapping[str, int]]]] = defaultdict(list)
    silent = []
    for asked in document["queries"]:
        query, words, judged = search.parse(asked["query"]), set(_words(asked["query"])), asked["judged"]
        scores = {
            one: search.score(headline, summary, query)
            for one, (headline, summary) in parts.items()
            if search.holds(" ".join([*headline, *summary]), len(headline), query)
        }
        if not judged:
            silent.append(not scores)
            continue
        told[""].append((sorted(scores, key=lambda one: (-scores[one], -moments[one], one)), judged))
        told["_plain_bm25"].append((plain.ranked(words), judged))
        told["_plain_bm25_all_words"].append((plain.ranked(words, every=True), judged))
    figures = {"queries": float(len(document["queries"])), "silent": sum(silent) / (len(silent) or 1)}
    for how, answers in told.items():
        figures[f"ndcg_10{how}"] = sum(_ndcg(ranked, judged) for ranked, judged in answers) / len(answers)
        relevant = sum(one in judged for ranked, judged in answers for one in ranked)
        figures[f"relevant{how}"] = relevant / (sum(len(ranked) for ranked, _ in answers) or 1)
    return figures


class _PlainBM25:
    """Robertson and Zaragoza 2009, k₁ = 1.2, b = 0.75: what a search is compared with."""

    def __init__(self, documents: Mapping[str, Sequence[str]]) -> None:
        self._counts = {one: Counter(words) for one, words in documents.items()}
        self._mean = sum(map(len, documents.values())) / max(1, len(documents)) or 1.0
        self._held_by = Counter(word for counts in self._counts.values() for word in counts)

    def ranked(self, words: Set[str], *, every: bool = False) -> list[str]:
        held = {one: counts for one, counts in self._counts.items() if not every or words <= counts.keys()}
        scores = {one: self._score(counts, words) for one, counts in held.items()}
        return sorted((one for one, score in scores.items() if score > 0), key=lambda one: (-scores[one], one))

    def _score(self, counts: Counter[str], words: Set[str]) -> float:
        damped = 1.2 * (0.25 + 0.75 * counts.total() / self._mean)
        return sum(
            math.log(1 + (len(self._counts) - self._held_by[word] + 0.5) / (self._held_by[word] + 0.5))
            * (counts[word] * 2.2 / (counts[word] + damped))
            for word in words & counts.keys()
        )


def _ndcg(ranked: Sequence[str], judged: Mapping[str, int], at: int = 10) -> float:
    def gained(grades: Iterable[int]) -> float:
        return sum((2.0**grade - 1) / math.log2(place + 2) for place, grade in enumerate(list(grades)[:at]))

    return gained(judged.get(one, 0) for one in ranked) / gained(sorted(judged.values(), reverse=True))


def agreement(rows: Sequence[Row]) -> Figures:
    """Of two labellings, columns category_a, category_b, topics_a, topics_b: share, Cohen's kappa, F1 of topics."""
    pairs = [(row["category_a"], row["category_b"]) for row in rows]
    share = sum(a == b for a, b in pairs) / max(1, len(pairs))
    one, two = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    chance = sum(one[c] * two[c] for c in one) / max(1, len(pairs) ** 2)
    topics = [(set(row["topics_a"].split()), set(row["topics_b"].split())) for row in rows]
    same, total = sum(len(a & b) for a, b in topics), sum(len(a) + len(b) for a, b in topics)
    return {"agreement": share, "kappa": (share - chance) / (1 - chance or 1), "topics_agreement_f1": 2 * same / (total or 1)}


def small_events(rows: Sequence[Row], seed: int, *, events_at_most: int = 60, stories_at_most: int = 6) -> list[Row]:
    """A sample in which every event has one to six stories, as most events of a day have; the same for the same seed."""
    import random

    pick = random.Random(seed)  # noqa: S311
    by_event: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_event[row["event"]].append(row)
    chosen = sorted(by_event)
    pick.shuffle(chosen)
    return [
        row
        for event in chosen[:events_at_most]
        for row in pick.sample(by_event[event], min(len(by_event[event]), pick.randint(1, stories_at_most)))
    ]


def _words(text: str) -> list[str]:
    return [search.token(word) for word in search.words(text)]


def _moment(raw: str) -> dt.datetime:
    if not raw:
        return ANY_TIME
    moment = dt.datetime.fromisoformat(raw)
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


def _pairs(sizes: Iterable[int]) -> float:
    return sum(size * (size - 1) / 2 for size in sizes)


def _harmonic(one: float, two: float) -> float:
    return 2 * one * two / ((one + two) or 1)

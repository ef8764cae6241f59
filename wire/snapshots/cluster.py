"""Which stories tell of the same happening. Pure and deterministic; the order in which stories arrive makes no difference.

Headlines and summaries become vectors of stemmed words and word pairs, rare ones weighing more; clusters grow by joining the two
that are most alike until none are alike enough. The measure lies between average and centroid linkage, so that neither chains of
look-alikes nor the mere size of a cluster join strangers. docs/quality.md has what it gives on labelled data.
"""

import datetime as dt
import heapq
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Final

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from wire.stories.tokens import token, words
from wire.stories.versions import differ, versions

FREQUENCIES_FILE: Final = Path(settings.BASE_DIR) / "fixtures" / "frequencies.json"
WINDOW: Final = dt.timedelta(days=10)  # stories of one event never lie further apart
UNPUNISHED: Final = dt.timedelta(days=3)  # further apart than this, similarity halves every seven days
HALVING: Final = dt.timedelta(days=7)

THRESHOLD: Final = 0.13  # of linkage, from which two clusters are one event: precision first
DOUBT: Final = 0.25  # taken off the linkage, divided by the number of stories: two alone must agree more than many do
ASKED_THRESHOLD: Final = 0.5  # of similarity, from which a story answers to a headline that somebody asks about
KEYWORDS: Final = 2  # words that are rather a keyword than a headline …
KEYWORDS_THRESHOLD: Final = 0.7  # … unless a story's headline is little else
MOST_NAMED: Final = 0.85  # share of words with a capital, above which capitals tell no names
SIZE_POWER: Final = 0.6  # 1 is average linkage …
LENGTH_POWER: Final = 0.4  # … and 1 here is centroid linkage; together 1, so that the size of a cluster is no advantage
NOTICED: Final = 0.12  # a lower similarity of two stories is noise
SUMMARY_WEIGHT: Final = 0.5  # of a word that only the summary has; in the headline it is 1
TELLING: Final = 10  # features of a summary, the rarest, that count
SUMMARIZED: Final = 0.73  # what two summaries have in common is partly what all news of their subject has
SAME_PUBLISHER: Final = 0.5  # whoever writes twice mostly tells of two happenings
ANOTHER_VERSION: Final = -1.0  # similarity of what is certainly not the same
FIELD: Final = 0.3  # share of AI news in a feature's frequency, in which "OpenAI" is no rare word …
LOCAL: Final = 0.02  # … and of the stories at hand; the rest is that of general news
RAREST: Final = math.exp(-8)  # nothing counts as rarer: an unknown word may be a slip
RARITY_POWER: Final = 1.3
CAPITAL_WEIGHT: Final = 1.5  # names
PAIR_WEIGHT: Final = 0.4
_STOP_WORDS: Final = """
a about after ai all an and are as at be been but by can could do does fictional first for from get has have how if in
into is it its just may more most new no not now of off on one or our out over says so than that the their they this
to up us via was we what when which who why will with would you your
"""
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
_RAW_WORD: Final = re.compile(r"[^\W_]+")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Item:
    """What clustering knows of a story. `event_id` is set where its event is settled; whoever founded that belongs to it too."""

    chatbotnews_id: str
    headline: str
    published_at: dt.datetime
    event_id: str | None = None
    summary: str = ""
    publisher: str = ""


@dataclass(slots=True)
class _Cluster:
    """Items that are one event. `total`: the sum of their vectors; `near`: sums of similarities to other clusters."""

    items: list[Item]
    total: dict[int, float]
    first: dt.datetime
    last: dt.datetime
    event_id: str | None
    near: dict[int, float] = field(default_factory=dict)
    joined: int = 0
    weight: float = 1.0  # of one item alone, whose vector is of length 1

    def weigh(self) -> None:
        """Note what the linkage divides by, which is asked for far more often than it changes."""
        squared = sum([weight * weight for weight in self.total.values()]) or 1.0
        self.weight = len(self.items) ** SIZE_POWER * squared ** (LENGTH_POWER / 2)


def assign(items: Iterable[Item]) -> dict[str, str]:
    """The event of each story, by chatbotnews_id. An event's id is the one that was fixed, else that of its first story.

    Fixed events never join each other; other stories may join them. Stories are taken by (published_at, chatbotnews_id).
    """
    clusters = _start(sorted(items, key=lambda item: (item.published_at, item.chatbotnews_id)))
    _join(clusters)
    events = {}
    for cluster in clusters:
        for item in cluster.items:
            events[item.chatbotnews_id] = cluster.event_id or cluster.items[0].chatbotnews_id
    return events


def nearest(headline: str, known: Iterable[Item]) -> tuple[Item, float] | None:
    """The known story most like a headline, whenever it was published, and how like it is (0-1); None when no story is like enough.

    A word that no story has counts against all of them: it may be the very one that makes the headline untrue. A story
    that has another name or another version in its place is no answer.
    """
    least = ASKED_THRESHOLD if sum(" " not in feature for feature in features(headline)) > KEYWORDS else KEYWORDS_THRESHOLD
    alike = (found for found in scored(headline, known) if found[1] >= least and not _contradicts(headline, found[0]))
    return max(alike, key=lambda found: found[1], default=None)


def _contradicts(headline: str, story: Item) -> bool:
    """Whether a story names another where the headline names one that the story does not have, or another version."""
    told = _stems(f"{story.headline} {story.summary}")
    swapped = _names(headline) - told and _names(story.headline) - _stems(headline)
    return bool(swapped) or differ(headline, story.headline)


def _names(headline: str) -> set[str]:
    """Words with a capital letter; nothing where nearly all have one."""
    told = [word for word in _RAW_WORD.findall(headline) if len(word) > 1 and word.casefold() not in STOP_WORDS]
    named = [word for word in told if not word.islower() and not word.isdigit()]
    return _stems(" ".join(named)) if len(named) <= MOST_NAMED * len(told) else set()


def _stems(text: str) -> set[str]:
    return {token(word) for word in words(text)}


def scored(headline: str, known: Iterable[Item]) -> list[tuple[Item, float]]:
    """Each known story, and how like the headline it is (0-1); by chatbotnews_id."""
    stories = sorted(known, key=lambda item: item.chatbotnews_id)
    alike = _Vectors([features(headline), *(features(story.headline) for story in stories)]).alike(0)
    return [(story, min(1.0, similarity)) for story, similarity in zip(stories, alike[1:].tolist(), strict=True)]


class _Vectors:
    """Unit vectors of texts, given which features each has. In arrays, because thousands of stories are compared for every new one.

    Text by text: which of the `texts` has which of the `features`, both as numbers, and its share of the `weights`.
    """

    def __init__(self, told: Sequence[Mapping[str, float]]) -> None:
        sizes = np.array([len(text) for text in told], np.intp)
        self.texts = np.repeat(np.arange(len(told)), sizes)
        self.begins = [0, *np.cumsum(sizes).tolist()]  # of each text
        numbers = {feature: number for number, feature in enumerate(dict.fromkeys(chain.from_iterable(told)))}
        self.features = np.fromiter(map(numbers.__getitem__, chain.from_iterable(told)), np.intp, len(self.texts))
        self.by_feature = np.argsort(self.features, kind="stable")  # where the first feature is, where the second is, …
        self.often = np.bincount(self.features)
        self.ends = np.cumsum(self.often)  # of each feature, in `by_feature`
        emphases = np.fromiter(chain.from_iterable(text.values() for text in told), float, len(self.texts))
        weights = emphases * _rarities(numbers, self.often / len(told))[self.features]
        lengths = np.sqrt(np.bincount(self.texts, weights * weights))
        self.weights = weights / np.where(lengths, lengths, 1.0)[self.texts]

    def alike(self, text: int) -> Floats:
        """How like one text each of them is, 0–1: summed over the features that both have."""
        own = slice(self.begins[text], self.begins[text + 1])
        features = self.features[own]
        often = self.often[features]
        # For each of these features a run of places in `by_feature`: `often` of them, up to its end. One run follows the other.
        runs = np.repeat(self.ends[features] - np.cumsum(often), often) + np.arange(often.sum())
        having = self.by_feature[runs]
        products = self.weights[having] * np.repeat(self.weights[own], often)
        return np.bincount(self.texts[having], products, len(self.begins) - 1).astype(float)

    def each(self) -> Iterator[dict[int, float]]:
        """What the features of each text weigh."""
        features, weights = self.features.tolist(), self.weights.tolist()
        return (dict(zip(features[begin:end], weights[begin:end], strict=True)) for begin, end in pairwise(self.begins))


@lru_cache(maxsize=4_096)
def told_by(headline: str, summary: str) -> Mapping[str, float]:
    """The features of a headline, and at half their weight the rarest, then first, of those that only the summary has."""
    if not summary:
        return features(headline)
    own = features(headline)
    others = {feature: emphasis for feature, emphasis in features(summary).items() if feature not in own}
    rarities = dict(zip(others, _rarities(others).tolist(), strict=True))
    rarest = sorted(others, key=lambda feature: -others[feature] * rarities[feature])[:TELLING]
    return {**own, **{feature: SUMMARY_WEIGHT * others[feature] for feature in rarest}}


@lru_cache(maxsize=4_096)
def features(text: str) -> Mapping[str, float]:
    """Stemmed words, those with a capital letter counting more, and pairs of neighbours."""
    capitals = {word.casefold() for word in _RAW_WORD.findall(text) if word[0].isupper()}
    told = [(token(word), CAPITAL_WEIGHT if word in capitals else 1.0) for word in words(text) if word not in STOP_WORDS]
    found: dict[str, float] = {}
    for stem, weight in told:
        found[stem] = max(weight, found.get(stem, 0.0))
    return found | {f"{one} {two}": PAIR_WEIGHT for (one, _), (two, _) in pairwise(told)}


@cache
def background() -> Mapping[str, float]:
    """How frequent features are in news, 0–1: of those that are not rare. Made by benchmarks/frequencies.py."""
    counted = json.loads(FREQUENCIES_FILE.read_text(encoding="utf-8"))
    frequency: dict[str, float] = defaultdict(float)
    for name, share in (("general", 1 - FIELD - LOCAL), ("ai", FIELD)):
        for feature, count in counted[name]["counts"].items():
            frequency[feature] += share * count / counted[name]["stories"]
    return dict(frequency)


def _rarities(features: Iterable[str], here: Floats | float = 0.0) -> Floats:
    """What each feature weighs: by how frequent it is mostly in the background, a little `here`, among the stories at hand."""
    known = background()
    shares = np.array([known.get(feature, 0.0) for feature in features]) + LOCAL * here
    return (-np.log(np.clip(shares, RAREST, 1.0))) ** RARITY_POWER


def _start(items: Sequence[Item]) -> list[_Cluster]:
    """Each story by itself, fixed events whole; each cluster knows those it is like."""
    vectors = _Vectors([told_by(item.headline, item.summary) for item in items])
    fixed_events = {item.event_id for item in items}
    clusters: list[_Cluster] = []
    fixed: dict[str, int] = {}
    places = []
    for item, vector in zip(items, vectors.each(), strict=True):
        event_id = item.event_id or (item.chatbotnews_id if item.chatbotnews_id in fixed_events else None)
        place = fixed.get(event_id, -1) if event_id else -1
        if place >= 0:
            cluster = clusters[place]
            cluster.items.append(item)
            cluster.last = item.published_at
            for feature, weight in vector.items():
                cluster.total[feature] = cluster.total.get(feature, 0.0) + weight
        else:
            place = len(clusters)
            clusters.append(_Cluster([item], vector, item.published_at, item.published_at, event_id))
            if event_id:
                fixed[event_id] = place
        places.append(place)
    for cluster in clusters:
        if len(cluster.items) > 1:
            cluster.weigh()
    for one, two, similarity in _alike(vectors, [clusters[place].event_id is not None for place in places]):
        if (apart := abs(items[one].published_at - items[two].published_at)) <= WINDOW:
            mine, theirs = places[one], places[two]
            likeness = clusters[mine].near.get(theirs, 0.0) + _weighed(similarity, items[one], items[two], apart)
            clusters[mine].near[theirs] = clusters[theirs].near[mine] = likeness
    return clusters


def _alike(vectors: _Vectors, settled: Sequence[bool]) -> Iterator[tuple[int, int, float]]:
    """Every two stories, not both settled, whose similarity is above NOTICED, and how alike their words are."""
    for one, is_settled in enumerate(settled):
        if is_settled:
            continue
        alike = vectors.alike(one)
        for two in np.flatnonzero(alike > NOTICED).tolist():
            if two < one or settled[two]:
                yield one, two, float(alike[two])


def _weighed(similarity: float, one: Item, two: Item, apart: dt.timedelta) -> float:
    """How alike two stories are, given how alike their words are."""
    if versions(one.headline) and differ(one.headline, two.headline):
        return ANOTHER_VERSION
    if one.summary and two.summary:
        similarity *= SUMMARIZED
    if one.publisher and one.publisher == two.publisher and one.headline != two.headline:
        similarity *= SAME_PUBLISHER
    if apart > UNPUNISHED:
        similarity *= 0.5 ** ((apart - UNPUNISHED) / HALVING)
    return similarity


def _join(clusters: list[_Cluster]) -> None:
    """Join the two that are most alike, again and again. Those that were joined to others are left empty."""
    waiting = [
        (-linkage, one, two, 0, 0)
        for one, cluster in enumerate(clusters)
        for two, likeness in cluster.near.items()
        if one < two and likeness >= THRESHOLD and (linkage := _linkage(cluster, clusters[two], likeness)) >= THRESHOLD
    ]
    heapq.heapify(waiting)
    while waiting:
        _, one, two, one_joined, two_joined = heapq.heappop(waiting)
        first, second = clusters[one], clusters[two]
        if (first.joined, second.joined) != (one_joined, two_joined):
            continue  # either has grown, or is gone, since this was noted
        _absorb(clusters, one, two)
        least = THRESHOLD * first.weight
        for other, likeness in first.near.items():
            if likeness < least * clusters[other].weight:
                continue  # most: and asking further is what takes the time
            linkage = _linkage(first, clusters[other], likeness)
            if linkage >= THRESHOLD:
                low, high = min(one, other), max(one, other)
                heapq.heappush(waiting, (-linkage, low, high, clusters[low].joined, clusters[high].joined))


def _linkage(one: _Cluster, two: _Cluster, likeness: float) -> float:
    """How alike two clusters are, at most 1; 0 for those that may not be one."""
    linkage = likeness / (one.weight * two.weight) - DOUBT / (len(one.items) + len(two.items))
    if linkage < THRESHOLD:
        return linkage
    apart = max(one.last, two.last) - min(one.first, two.first)
    return 0.0 if (one.event_id and two.event_id) or apart > WINDOW else linkage


def _absorb(clusters: list[_Cluster], one: int, two: int) -> None:
    kept, gone = clusters[one], clusters[two]
    for feature, weight in gone.total.items():
        kept.total[feature] = kept.total.get(feature, 0.0) + weight
    kept.items = sorted([*kept.items, *gone.items], key=lambda item: (item.published_at, item.chatbotnews_id))
    kept.weigh()
    kept.first, kept.last = min(kept.first, gone.first), max(kept.last, gone.last)
    kept.event_id = kept.event_id or gone.event_id
    kept.joined += 1
    kept.near.pop(two, None)
    for other, likeness in gone.near.items():
        if other != one:
            theirs = clusters[other]
            del theirs.near[two]
            if not (kept.event_id and theirs.event_id):  # fixed events never join
                kept.near[other] = theirs.near[one] = kept.near.get(other, 0.0) + likeness
    gone.items, gone.near, gone.joined = [], {}, -1

"""Which stories tell of the same happening. Pure and deterministic; the order in which stories arrive makes no difference.

Headlines become vectors of stemmed words and word pairs, rare ones weighing more; clusters grow by joining the two that are most
alike until none are alike enough. The measure lies between average and centroid linkage, so that neither chains of look-alikes nor
the mere size of a cluster join strangers. docs/quality.md has what it gives on labelled data.
"""

import datetime as dt
import heapq
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import chain, pairwise
from operator import mul
from pathlib import Path
from typing import Final

from django.conf import settings

from wire.stories.tokens import token, words

FREQUENCIES_FILE: Final = Path(settings.BASE_DIR) / "fixtures" / "frequencies.json"
WINDOW: Final = dt.timedelta(days=10)  # stories of one event never lie further apart
UNPUNISHED: Final = dt.timedelta(days=3).total_seconds()  # further apart than this, similarity halves every seven days
HALVING: Final = dt.timedelta(days=7).total_seconds()

THRESHOLD: Final = 0.15  # of linkage, from which two clusters are one event: precision first
DOUBT: Final = 0.2  # taken off the linkage, divided by the number of stories: two alone must agree more than many do
ASKED_THRESHOLD: Final = 0.5  # of similarity, from which a story answers to a headline that somebody asks about
SIZE_POWER: Final = 0.42  # 1 is average linkage …
LENGTH_POWER: Final = 0.6  # … and 1 here is centroid linkage; together about 1, so that the size of a cluster is no advantage
NOTICED: Final = 0.12  # a lower similarity of two headlines is noise
FIELD: Final = 0.3  # share of AI news in a feature's frequency, in which "OpenAI" is no rare word …
LOCAL: Final = 0.02  # … and of the stories at hand; the rest is that of general news
RAREST: Final = 8.0  # nothing counts as rarer than e⁻⁸: an unknown word may be a slip
RARITY_POWER: Final = 1.5
CAPITAL_WEIGHT: Final = 1.3  # names
PAIR_WEIGHT: Final = 0.4
_STOP_WORDS: Final = """
a about after ai all an and are as at be been but by can could do does fictional first for from get has have how if in
into is it its just may more most new no not now of off on one or our out over says so than that the their they this
to up us via was we what when which who why will with would you your
"""
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
_RAW_WORD: Final = re.compile(r"[^\W_]+")

Vector = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Item:
    """What clustering knows of a story. `event_id` is set where its event is settled; whoever founded that belongs to it too."""

    chatbotnews_id: str
    headline: str
    published_at: dt.datetime
    event_id: str | None = None


@dataclass(slots=True)
class _Cluster:
    """Items that are one event. `near`: sums of similarities to other clusters; `length`: the squared one of the vectors' sum."""

    items: list[Item]
    total: dict[str, float]
    length: float
    first: dt.datetime
    last: dt.datetime
    event_id: str | None
    near: dict[int, float] = field(default_factory=dict)
    joined: int = 0
    weight: float = 1.0

    def weigh(self) -> None:
        """Note what the linkage divides by, which is asked for far more often than it changes."""
        self.length = sum([weight * weight for weight in self.total.values()]) or 1.0
        self.weight = len(self.items) ** SIZE_POWER * self.length ** (LENGTH_POWER / 2)


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

    A word that no story has counts against all of them: it may be the very one that makes the headline untrue.
    """
    story, similarity = max(scored(headline, known), key=lambda pair: pair[1], default=(None, 0.0))
    return (story, similarity) if story and similarity >= ASKED_THRESHOLD else None


def scored(headline: str, known: Iterable[Item]) -> list[tuple[Item, float]]:
    """Each known story, and how like the headline it is (0-1); by chatbotnews_id."""
    stories = sorted(known, key=lambda item: item.chatbotnews_id)
    told = [features(headline), *(features(story.headline) for story in stories)]
    rarities = _rarities(Counter(chain.from_iterable(told)), len(told))
    asked = _vector(headline, rarities)
    return [(story, min(1.0, _dot(asked, _vector(story.headline, rarities)))) for story in stories]


def _vector(headline: str, rarities: Mapping[str, float]) -> dict[str, float]:
    """Unit vector of a headline's features; of those that have a rarity."""
    weights = {feature: emphasis * rarities[feature] for feature, emphasis in features(headline).items() if feature in rarities}
    length = math.sqrt(sum([weight * weight for weight in weights.values()])) or 1.0
    return {feature: weight / length for feature, weight in weights.items()}


@lru_cache(maxsize=16_384)
def features(headline: str) -> Mapping[str, float]:
    """Stemmed words, those with a capital letter counting more, and pairs of neighbours."""
    capitals = {word.casefold() for word in _RAW_WORD.findall(headline) if word[0].isupper()}
    told = [(token(word), CAPITAL_WEIGHT if word in capitals else 1.0) for word in words(headline) if word not in STOP_WORDS]
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
            frequency[feature] += share * count / counted[name]["headlines"]
    return dict(frequency)


def _rarities(often: Mapping[str, int], headlines: int) -> dict[str, float]:
    """What each feature weighs: by how frequent it is mostly in the background, a little in the headlines at hand (in `often` of so
    many).
    """
    known = background()
    shares = {feature: known.get(feature, 0.0) + LOCAL * count / headlines for feature, count in often.items()}
    weights = {share: min(RAREST, -math.log(min(1.0, share))) ** RARITY_POWER for share in set(shares.values())}  # most are alike
    return {feature: weights[share] for feature, share in shares.items()}


def _start(items: Sequence[Item]) -> list[_Cluster]:
    """Each story by itself, fixed events whole; each cluster knows those it is like."""
    told = [features(item.headline) for item in items]
    often = Counter(chain.from_iterable(told))
    vectors = _vectors(told, _rarities(often, len(items)))
    fixed_events = {item.event_id for item in items}
    clusters: list[_Cluster] = []
    fixed: dict[str, int] = {}
    places = []
    for item, vector in zip(items, vectors, strict=True):
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
            clusters.append(_Cluster([item], dict(vector), 1.0, item.published_at, item.published_at, event_id))
            if event_id:
                fixed[event_id] = place
        places.append(place)
    for cluster in clusters:
        cluster.weigh()
    seconds = [item.published_at.timestamp() for item in items]
    until = [(cluster.first + WINDOW).timestamp() for cluster in clusters]
    settled = [clusters[place].event_id is not None for place in places]
    for number, alike in _alike(vectors, often, settled, seconds, [until[place] for place in places]):
        mine, at = places[number], seconds[number]
        near = clusters[mine].near
        for other, similarity in alike:
            apart = at - seconds[other]
            if apart > UNPUNISHED:
                similarity *= 0.5 ** ((apart - UNPUNISHED) / HALVING)
            theirs = places[other]
            near[theirs] = near.get(theirs, 0.0) + similarity
        for theirs in {places[other] for other, _ in alike}:
            clusters[theirs].near[mine] = near[theirs]
    return clusters


def _vectors(told: Sequence[Mapping[str, float]], rarities: Mapping[str, float]) -> list[Vector]:
    """As `_vector`, of many whose features all have a rarity."""
    vectors: list[Mapping[str, float]] = []
    for emphases in told:
        weights = list(map(mul, emphases.values(), map(rarities.__getitem__, emphases)))
        length = math.sqrt(sum(map(mul, weights, weights))) or 1.0
        vectors.append(dict(zip(emphases, [weight / length for weight in weights], strict=True)))
    return vectors


def _alike(
    vectors: Sequence[Vector], often: Mapping[str, int], settled: Sequence[bool], seconds: Sequence[float], until: Sequence[float]
) -> Iterator[tuple[int, list[tuple[int, float]]]]:
    """Every two vectors, not both settled, whose similarity is above NOTICED: the later one, and each earlier one with how alike
    they are. `often`: in how many of the vectors each feature is.

    All-pairs search after Bayardo, Ma and Srikant (2007): what is commonest in a vector, and cannot bring it to NOTICED with any
    other, finds nobody; it is added for those whom the rest of it found.
    """
    most = dict.fromkeys(often, 0.0)
    for told in vectors:
        for feature, weight in told.items():
            if weight > most[feature]:
                most[feature] = weight
    free_features = set(chain.from_iterable(told for told, is_settled in zip(vectors, settled, strict=True) if not is_settled))
    everybody, free = (defaultdict[str, list[tuple[int, float]]](list) for _ in range(2))
    common: list[dict[str, float]] = []
    for number, told in enumerate(vectors):
        kept = dict[str, float]()
        common.append(kept)
        if settled[number] and free_features.isdisjoint(told):
            continue
        finding, like = free if settled[number] else everybody, dict[int, float]()
        for feature, weight in told.items() if finding else ():
            for other, their_weight in finding.get(feature, ()):
                like[other] = like.get(other, 0.0) + weight * their_weight
        if like:
            yield number, list(_noticed(told, like, common, seconds[number], until))
        within = 0.0
        for feature in sorted(told, key=often.__getitem__, reverse=True):
            weight = told[feature]
            if (with_it := within + weight * most[feature]) <= NOTICED:
                within = with_it
                kept[feature] = weight
                continue
            if feature in free_features:
                found = number, weight
                everybody[feature].append(found)
                if not settled[number]:
                    free[feature].append(found)


def _noticed(
    told: Vector, like: Mapping[int, float], common: Sequence[Vector], at: float, until: Sequence[float]
) -> Iterator[tuple[int, float]]:
    strange = told.keys().isdisjoint
    for other, similarity in like.items():
        if at > until[other]:
            continue
        if not strange(common[other]):  # of three found, two have nothing common in common
            for feature, weight in common[other].items():
                if feature in told:
                    similarity += weight * told[feature]
        if similarity > NOTICED:
            yield other, similarity


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


def _dot(one: Vector, two: Vector) -> float:
    if len(two) < len(one):
        one, two = two, one
    return sum(weight * two[feature] for feature, weight in one.items() if feature in two)

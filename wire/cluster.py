"""Which stories tell of the same happening. One entry, `assign`; pure, deterministic, independent of arrival order."""

import datetime as dt
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Final

from wire.search import token, words

WINDOW: Final = dt.timedelta(days=10)  # stories of one event never lie further apart
THRESHOLD: Final = 0.32  # average similarity to an event's stories from which a story joins it: precision first
UNPUNISHED: Final = dt.timedelta(days=3)  # further apart than this, similarity halves every seven days
HALVING: Final = dt.timedelta(days=7)
BACKGROUND: Final = 2_000  # headlines assumed to be around, so that a quiet day does not make common words look rare
BIGRAM_WEIGHT: Final = 0.3
TELLING: Final = 50  # a word that more events than this share says nothing about which of them is meant
STOP_WORDS: Final = frozenset(
    [
        "a",
        "about",
        "after",
        "ai",
        "all",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "been",
        "but",
        "by",
        "can",
        "could",
        "do",
        "does",
        "first",
        "for",
        "from",
        "get",
        "has",
        "have",
        "how",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "just",
        "may",
        "more",
        "most",
        "new",
        "no",
        "not",
        "now",
        "of",
        "off",
        "on",
        "one",
        "or",
        "our",
        "out",
        "over",
        "says",
        "so",
        "than",
        "that",
        "the",
        "their",
        "they",
        "this",
        "to",
        "up",
        "us",
        "via",
        "was",
        "we",
        "what",
        "when",
        "which",
        "who",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
        "fictional",
    ]
)


@dataclass(frozen=True, slots=True)
class Item:
    """What clustering knows of a story. `event_id` is None until it has one."""

    chatbotnews_id: str
    headline: str
    published_at: dt.datetime
    event_id: str | None = None


@dataclass(slots=True)
class _Cluster:
    event_id: str
    members: list[tuple[Item, dict[str, float]]] = field(default_factory=list)


def assign(new: Iterable[Item], known: Iterable[Item]) -> dict[str, str]:
    """The event of each new story, by chatbotnews_id: one that a known story belongs to, or one founded here.

    An event's id is its founder's id. New stories are taken by (published_at, chatbotnews_id), whatever order they came in.
    """
    fresh = sorted(new, key=lambda item: (item.published_at, item.chatbotnews_id))
    settled = [item for item in known if item.event_id]
    rarity = _rarity([*settled, *fresh])
    clusters: dict[str, _Cluster] = {}
    holders: dict[str, set[str]] = defaultdict(set)  # feature -> events that hold it

    def add(item: Item, vector: dict[str, float], event_id: str) -> None:
        clusters.setdefault(event_id, _Cluster(event_id)).members.append((item, vector))
        for feature in vector:
            holders[feature].add(event_id)

    for item in settled:
        add(item, _vector(item.headline, rarity), item.event_id or "")
    assigned = {}
    for item in fresh:
        vector = _vector(item.headline, rarity)
        telling = (holders[feature] for feature in vector if len(holders.get(feature, ())) <= TELLING)
        candidates = {event for events in telling for event in events}
        scored = [(_linkage(item, vector, clusters[event]), event) for event in candidates]
        similarity, event_id = max(scored, default=(0.0, ""), key=lambda pair: (pair[0], pair[1]))
        if similarity < THRESHOLD:
            event_id = item.chatbotnews_id
        add(item, vector, event_id)
        assigned[item.chatbotnews_id] = event_id
    return assigned


def nearest(headline: str, known: Iterable[Item]) -> Item | None:
    """The known story most like a headline, whenever it was published; None when no story is like enough."""
    stories = list(known)
    asked = Item("", headline, dt.datetime.min.replace(tzinfo=dt.UTC))
    rarity = _rarity([*stories, asked])
    vector = _vector(headline, rarity)
    scored = [(_cosine(vector, _vector(story.headline, rarity)), story) for story in stories]
    similarity, story = max(scored, key=lambda pair: (pair[0], pair[1].chatbotnews_id), default=(0.0, asked))
    return story if similarity >= THRESHOLD else None


def _linkage(item: Item, vector: dict[str, float], cluster: _Cluster) -> float:
    """Average similarity to the cluster's stories, so that no chain of look-alikes drags strangers together."""
    total = 0.0
    for member, other in cluster.members:
        apart = abs(item.published_at - member.published_at)
        if apart > WINDOW:
            return 0.0
        closeness = 0.5 ** (max(apart - UNPUNISHED, dt.timedelta()) / HALVING)
        total += closeness * _cosine(vector, other)
    return total / len(cluster.members)


def _cosine(one: dict[str, float], other: dict[str, float]) -> float:
    if len(other) < len(one):
        one, other = other, one
    return sum(weight * other[feature] for feature, weight in one.items() if feature in other)


def _rarity(items: Sequence[Item]) -> dict[str, float]:
    """Inverse document frequency of every feature among the items, over an assumed background."""
    counts = Counter(feature for item in items for feature in set(features(item.headline)))
    total = BACKGROUND + len(items)
    return {feature: math.log(total / (1 + count)) for feature, count in counts.items()}


def _vector(headline: str, rarity: dict[str, float]) -> dict[str, float]:
    """Unit vector of a headline's features."""
    weights = {feature: emphasis * rarity[feature] for feature, emphasis in features(headline).items()}
    length = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
    return {feature: weight / length for feature, weight in weights.items()}


@lru_cache(maxsize=4096)
def features(headline: str) -> dict[str, float]:
    """Stemmed words and pairs of neighbours; numbers count more than words, pairs less."""
    stems = [token(word) for word in words(headline) if word not in STOP_WORDS]
    found = {stem: 1.3 if any(c.isdigit() for c in stem) else 1.0 for stem in stems}
    return found | {f"{one} {two}": BIGRAM_WEIGHT for one, two in pairwise(stems)}

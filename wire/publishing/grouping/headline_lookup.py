"""Find the known story whose headline is most like a given one. Pure and deterministic."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain, pairwise
from typing import Final

from wire.publishing.grouping.candidates import Item
from wire.text.numbered_names import have_other_versions
from wire.text.tokens import stem_word, words
from wire.text.word_frequency import FREQUENT_WORDS, GROUPING_MIX, LOCAL, read_frequencies

ASKED_THRESHOLD: Final = 0.5  # of similarity, from which a story answers to a headline that somebody asks about
KEYWORDS: Final = 2  # words that are rather a keyword than a headline …
KEYWORDS_THRESHOLD: Final = 0.7  # … unless a story's headline is little else
MOST_NAMED: Final = 0.85  # share of words with a capital, above which capitals tell no names
RAREST: Final = math.exp(-8)  # nothing counts as rarer: an unknown word may be a slip
RARITY_POWER: Final = 1.3
CAPITAL_WEIGHT: Final = 1.5  # names
PAIR_WEIGHT: Final = 0.4
_RAW_WORD: Final = re.compile(r"[^\W_]+")


def find_nearest_story(headline: str, known: Iterable[Item]) -> tuple[Item, float] | None:
    """Return the known story most like a headline, and how like it is (0-1); None when none is like enough, or when the likest has
    another name or another version. A word that no story has counts against all of them.
    """
    least = ASKED_THRESHOLD if sum(" " not in feature for feature in weigh_words(headline)) > KEYWORDS else KEYWORDS_THRESHOLD
    alike = []
    for story, likeness in score_stories(headline, known):
        if likeness >= least and not have_other_versions(headline, story.headline):
            # another name stands where the headline has one that the story lacks
            is_swapped = _list_names(headline) - _stem_words(f"{story.headline} {story.summary}")
            if not (is_swapped and _list_names(story.headline) - _stem_words(headline)):
                alike.append((story, likeness))
    return max(alike, key=lambda found: found[1], default=None)


def _list_names(headline: str) -> set[str]:
    """Return the stems of words with a capital letter; none where nearly all have one."""
    telling = [word for word in _RAW_WORD.findall(headline) if len(word) > 1 and word.casefold() not in FREQUENT_WORDS]
    named = [word for word in telling if not word.islower() and not word.isdigit()]
    return _stem_words(" ".join(named)) if len(named) <= MOST_NAMED * len(telling) else set()


def _stem_words(text: str) -> set[str]:
    return {stem_word(word) for word in words(text)}


def score_stories(headline: str, known: Iterable[Item]) -> list[tuple[Item, float]]:
    """Return each known story, and how like the headline it is (0-1): the cosine of their features; by chatbotnews_id."""
    stories = sorted(known, key=lambda item: item.chatbotnews_id)
    texts = [weigh_words(headline), *(weigh_words(story.headline) for story in stories)]
    often, background = Counter(chain.from_iterable(texts)), read_frequencies(*GROUPING_MIX)
    rarity = {}  # by how frequent it is mostly in the background, a little among the stories at hand
    for feature, count in often.items():
        share = background.get(feature, 0.0) + LOCAL * count / len(texts)
        rarity[feature] = (-math.log(min(max(share, RAREST), 1.0))) ** RARITY_POWER
    asked, *others = ({feature: emphasis * rarity[feature] for feature, emphasis in text.items()} for text in texts)
    length, found = math.hypot(*asked.values()) or 1.0, []
    for story, weights in zip(stories, others, strict=True):
        product = sum(weight * weights[feature] for feature, weight in asked.items() if feature in weights)
        found.append((story, min(1.0, product / (length * (math.hypot(*weights.values()) or 1.0)))))
    return found


@lru_cache(maxsize=4_096)
def weigh_words(text: str) -> Mapping[str, float]:
    """Return stemmed words, those with a capital letter counting more, and pairs of neighbours, each with its emphasis."""
    capitals = {word.casefold() for word in _RAW_WORD.findall(text) if word[0].isupper()}
    stems = [(stem_word(word), CAPITAL_WEIGHT if word in capitals else 1.0) for word in words(text) if word not in FREQUENT_WORDS]
    found: dict[str, float] = {}
    for stem, weight in stems:
        found[stem] = max(weight, found.get(stem, 0.0))
    return found | {f"{one} {two}": PAIR_WEIGHT for (one, _), (two, _) in pairwise(stems)}

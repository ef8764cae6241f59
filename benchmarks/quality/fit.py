"""Fit the weights of the lexicon's category terms to labelled headlines: `python -m benchmarks.quality.fit`.

A softmax regression that starts from the terms in fixtures/taxonomy.json, is held close to their weights, and may add sequences of
one to three words that several headlines share and that say something. Terms that say nothing, such as `# a`, keep their weights:
they would only fit how newsrooms write. Read are the halves of fixtures/eval/*headlines.csv that may be used for tuning, and
benchmarks/quality/tuning.csv; held-back halves never. The texts of tuning.csv and all summaries are those of the archive in
../shared/data; without it nothing can be fitted. Prints the figures of a cross-validation first, then rewrites the taxonomy.

The same input gives the same weights, but whoever fits twice starts from what was fitted: begin with the file as it was.
Look at the held-back halves (`manage.py evalwire categories`) before adopting what it wrote, and count how often.
"""

import argparse
import json
import math
import os
import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
ARCHIVE: Final = ROOT.parent / "shared" / "data" / "archives" / "real-days-2025-05-to-2026-03.ndjson.gz"
TAXONOMY: Final = ROOT / "fixtures" / "taxonomy.json"
SEEN_IN: Final = 4  # headlines at least that share a sequence of words
LONGEST: Final = 3  # words
SHORTEST: Final = 4  # letters of a word that says something; sequences without any would only fit how newsrooms write
TELLING: Final = frozenset({"ai", "how", "why", "new", "buy", "ceo", "law", "sue", "ban", "?", "$", "i"})
SHARPNESS: Final = 0.12  # how sure a difference of one in weight makes
PULL: Final = 5.0  # how much a weight is held where it was
EPOCHS: Final = 15
RATE: Final = 0.5
LEAST: Final = 0.15  # a new term that weighs less is left out
FOLDS: Final = 5

Weights = dict[str, list[float]]
"""The weight of a term for each category, in the vocabulary's order."""


@dataclass(frozen=True, slots=True)
class Story:
    """What is known of a labelled story. `terms`: how often a term is in it, three times as much in the headline."""

    title: str
    summary: str
    category: int
    fold: int
    terms: Mapping[str, float]


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archive", type=Path, default=ARCHIVE, help="Where the texts are.")
    parser.add_argument("--only-try", action="store_true", help="Cross-validate and write nothing.")
    options = parser.parse_args()
    document = json.loads(TAXONOMY.read_text(encoding="utf-8"))
    written = _written(document)
    stories = _stories(options.archive, written)
    told = _crossed(stories, written)
    print(f"{len(stories):,} stories; cross-validated macro-F1 {_macro_f1(told):.3f}")
    if not options.only_try:
        _rewrite(document, written, _fitted(stories, written))


def _crossed(stories: Sequence[Story], written: Weights) -> list[tuple[int, int]]:
    """Each story's category and what weights make of it that were fitted to the stories of the other folds."""
    told = []
    for fold in range(FOLDS):
        weights = _fitted([story for story in stories if story.fold != fold], written)
        told += [(story.category, _best(weights, story)) for story in stories if story.fold == fold]
    return told


def _written(document: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Weights:
    from wire.text.vocabulary import Category

    weights: Weights = defaultdict(lambda: [0.0] * len(Category))
    for number, category in enumerate(Category):
        for text, weight in document["categories"][category].items():
            weights[text][number] = weight
    return weights


def _stories(archive: Path, written: Weights) -> list[Story]:
    from benchmarks.quality.labelled import for_tuning
    from wire.ingest.classify import Lexicon, Term
    from wire.text.vocabulary import Category

    rows = for_tuning(archive)
    shared = Counter(text for title in {row["title"] for row in rows} for text in set(_sequences(title)))
    texts = {*written, *(text for text, times in shared.items() if times >= SEEN_IN)}
    lexicon = Lexicon([Term(text, text, 1.0) for text in sorted(texts)], [], [])
    categories = list(Category)
    return [
        Story(
            row["title"],
            row["summary"],
            categories.index(Category(row["category"])),
            _fold(row["title"]),
            dict(lexicon.category_weights(row["title"], row["summary"])),
        )
        for row in rows
    ]


def _sequences(title: str) -> list[str]:
    """One to three neighbouring words as a term has them; numbers are `#`, and the edges of the headline words too."""
    words = re.findall(r"[^\W_]+|[:?|%$€£]", title.casefold())
    marked = ["^", *("#" if re.search(r"\d", word) else word for word in words), "^"]
    found = (marked[at : at + length] for length in range(1, LONGEST + 1) for at in range(len(marked) - length + 1))
    return [" ".join(sequence) for sequence in found if any(map(_says_something, sequence))]


def _says_something(word: str) -> bool:
    return word in TELLING or len(word) >= SHORTEST


def _fold(title: str) -> int:
    """The same for headlines that begin the same, as a story that is told again does."""
    return random.Random(re.sub(r"\W+", " ", title.casefold())[:40]).randrange(FOLDS)


def _fitted(stories: Sequence[Story], written: Weights) -> Weights:
    """Stochastic descent, each weight at a pace of its own (Duchi, Hazan and Singer 2011)."""
    width = range(len(next(iter(written.values()))))
    weights: Weights = {text: list(written.get(text, [0.0 for _ in width])) for story in stories for text in story.terms}
    start = {text: tuple(values) for text, values in weights.items()}
    pace: Weights = {text: [1e-6 for _ in width] for text in weights}
    times = Counter(text for story in stories for text in story.terms)
    fitted = {text for text in weights if any(map(_says_something, text.casefold().split()))}
    pick = random.Random(1)
    order = list(stories)
    for epoch in range(EPOCHS):
        pick.shuffle(order)
        rate = RATE / math.sqrt(epoch + 1)
        for story in order:
            wrong = _shares(weights, story.terms)
            wrong[story.category] -= 1
            for text, strength in story.terms.items():
                if text not in fitted:
                    continue
                here, was, steps, held = weights[text], start[text], pace[text], PULL / times[text]
                for number in width:
                    slope = SHARPNESS * strength * wrong[number] + held * (here[number] - was[number])
                    steps[number] += slope * slope
                    here[number] -= rate * slope / math.sqrt(steps[number])
    return weights


def _shares(weights: Weights, terms: Mapping[str, float]) -> list[float]:
    sums = _sums(weights, terms)
    highest = max(sums)
    powers = [math.exp(SHARPNESS * (one - highest)) for one in sums]
    return [one / sum(powers) for one in powers]


def _sums(weights: Weights, terms: Mapping[str, float]) -> list[float]:
    width = len(next(iter(weights.values())))
    found = [(strength, weights[text]) for text, strength in terms.items() if text in weights]
    return [sum(strength * values[number] for strength, values in found) for number in range(width)]


def _best(weights: Weights, story: Story) -> int:
    sums = _sums(weights, story.terms)
    return sums.index(max(sums))


def _macro_f1(told: Sequence[tuple[int, int]]) -> float:
    true, said, both = Counter(one for one, _ in told), Counter(other for _, other in told), Counter(told)
    return sum(2 * both[one, one] / (true[one] + said[one]) for one in true) / len(true)


def _rewrite(document: dict[str, dict[str, dict[str, float]]], written: Weights, fitted: Weights) -> None:
    from wire.text.vocabulary import Category

    for number, category in enumerate(Category):
        terms = {text: round(values[number], 2) for text, values in (written | fitted).items()}
        kept = {text: weight for text, weight in terms.items() if abs(weight) >= LEAST}
        document["categories"][category] = dict(sorted(kept.items(), key=lambda item: (item[0].casefold(), item[0])))
    TAXONOMY.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

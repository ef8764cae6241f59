"""Archives of any size for measuring: invented items, the same for the same seed."""

import datetime as dt
import json
import random
from collections.abc import Iterator
from pathlib import Path

from benchmarks.words import ACTORS, OBJECTS, PUBLISHERS, QUALITIES, VERBS

FIRST_DAY = dt.date(2023, 1, 1)


def write(file: Path, days: int, a_day: int, seed: int = 1) -> None:
    """`days` × `a_day` NDJSON items; about a third tell of something that others tell of too."""
    with file.open("w", encoding="utf-8") as out:
        for item in items(days, a_day, seed):
            out.write(json.dumps(item) + "\n")


def items(days: int, a_day: int, seed: int) -> Iterator[dict[str, str]]:
    rng = random.Random(seed)
    for day in range(days):
        date = FIRST_DAY + dt.timedelta(days=day)
        happenings = [_happening(rng) for _ in range(a_day * 3 // 4)]
        for number in range(a_day):
            actor, verb, thing, amount = rng.choice(happenings) if rng.random() < 0.4 else _happening(rng)
            publisher, domain = rng.choice(PUBLISHERS)
            words = [actor, verb, rng.choice(QUALITIES), thing, "for", amount]
            yield {
                "title": " ".join(words),
                "url": f"https://{domain}/{date:%Y/%m/%d}/{number}-{rng.getrandbits(40):x}",
                "publisher": publisher,
                "published_at": f"{date}T{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}Z",
                "summary": " ".join(_sentence(rng) for _ in range(rng.randrange(1, 5))),
                "author": f"{rng.choice(QUALITIES).title()} {rng.choice(OBJECTS).title()}",
            }


def _happening(rng: random.Random) -> tuple[str, str, str, str]:
    name = f"{rng.choice(ACTORS)} {rng.choice(OBJECTS).title()}" if rng.random() < 0.7 else rng.choice(ACTORS)
    return name, rng.choice(VERBS), rng.choice(OBJECTS), f"${rng.randrange(1, 999)} million"


def _sentence(rng: random.Random) -> str:
    words = [rng.choice((*QUALITIES, *OBJECTS, *VERBS)) for _ in range(rng.randrange(8, 18))]
    return f"{rng.choice(ACTORS)} {' '.join(words)}."

"""An archive told as its publishers' feeds were seen, day by day: the files that `manage.py ingest --from-files` replays."""

import datetime as dt
import gzip
import html
import json
import random
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

SHOWN: Final = 5  # days that a feed goes back
EDITED: Final = 0.06  # share of items whose headline is another from the second day on


def record(archive: Path, directory: Path, slugs: Mapping[str, str], chance: random.Random) -> list[dt.date]:
    """One RSS file a publication and day, in the folder of its slug; the days, oldest first.

    `archive` is NDJSON as `loadwire` takes it, packed if its name ends in .gz; `slugs` are the publications by name, and items of
    others are left out.
    """
    told: dict[tuple[str, dt.date], list[str]] = defaultdict(list)
    days = set()
    with gzip.open(archive, "rt", encoding="utf-8") if archive.suffix == ".gz" else archive.open(encoding="utf-8") as lines:
        for item in map(json.loads, lines):
            slug, moment = slugs.get(item["publisher"]), item["published_at"]
            if slug is None or not moment:
                continue
            if len(moment) == 10:  # of a day alone
                moment = f"{moment}T{chance.randrange(24):02}:{chance.randrange(60):02}:00Z"
            at = dt.datetime.fromisoformat(moment)
            days.add(at.date())
            is_edited = chance.random() < EDITED
            for later in range(SHOWN):
                headline = f"{item['title']}, updated" if is_edited and later else item["title"]
                told[slug, at.date() + dt.timedelta(days=later)].append(_item(item, headline, at))
    for (slug, day), items in told.items():
        if day in days:
            file = directory / slug / f"{day}.xml"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"<rss version='2.0'><channel><title>{slug}</title>{''.join(items)}</channel></rss>", encoding="utf-8")
    return sorted(days)


def _item(item: Mapping[str, Any], headline: str, at: dt.datetime) -> str:
    told = {"title": headline, "link": item["url"], "guid": item["url"], "description": item.get("summary") or ""}
    told["pubDate"] = f"{at:%a, %d %b %Y %H:%M:%S} GMT"
    return "<item>" + "".join(f"<{tag}>{html.escape(str(text))}</{tag}>" for tag, text in told.items()) + "</item>"

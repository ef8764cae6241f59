"""Outcomes of a feed's items in words, for the desk, feed health and dry runs."""

import datetime as dt
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from config.url_secrets import mask_address, mask_addresses
from sources.entries import Entry
from sources.parse.dates import read_date
from wire.ingest.match import Outcome
from wire.ingest.normalise import MAX_HEADLINE, Rejected
from wire.text.plain_text import plain_line, plain_text

RECENT: Final = 3  # items of each outcome that feed health has
SHORT: Final = 80  # characters of each of their texts; feed health has all feeds in one answer
_LONG: Final = 2_048
_REASONS: Final[Mapping[Outcome, str]] = {
    Outcome.MERGED: "Another address of a known story.",
    Outcome.REPEATED: "The document shows it a second time; the first counts.",
    Outcome.POSTPONED: "Changed again within the hour, or back within a day; looked at again later.",
    Outcome.READ_DIFFERENTLY: "Unchanged by its publisher, but read otherwise by today's rules; the story stays.",
    Outcome.FINAL_DAY: "Its story is of a final day and stays as it is.",
}


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """An item as its feed shows it, each text one plain line, and what became of it. `outcome` is named as in counts.

    `date` is in UTC, empty if it is missing or cannot be read; `reason` is empty where the outcome says it.
    """

    outcome: str
    date: str
    headline: str
    address: str
    reason: str


def name_outcome(outcome: Outcome | Rejected) -> str:
    return f"rejected:{outcome.code}" if isinstance(outcome, Rejected) else str(outcome)


def describe_item(entry: Entry, outcome: Outcome | Rejected) -> ItemOutcome:
    reason = outcome.message if isinstance(outcome, Rejected) else _REASONS.get(outcome, "")
    moment, date = entry.published_at, ""
    moment = read_date(moment[:64]) if isinstance(moment, str) else moment
    if moment is not None:
        with suppress(OverflowError):
            date = (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).astimezone(dt.UTC).isoformat(" ", "minutes")[:16]
    headline = plain_text(entry.title, MAX_HEADLINE)
    return ItemOutcome(name_outcome(outcome), date, headline, plain_line(entry.url, _LONG), plain_line(reason, _LONG))


def merge_recent_items(
    recent: Mapping[str, Sequence[Mapping[str, Any]]],
    entries: Sequence[Entry],
    outcomes: Sequence[Outcome | Rejected],
    now: dt.datetime,
) -> dict[str, list[Mapping[str, Any]]]:
    """Return the last items of each outcome, of a document seen at `now` and of those before, as JSON for feed health.

    Addresses are masked, texts short. Of a document the first items count, the newest in most feeds.
    """
    merged: dict[str, list[Mapping[str, Any]]] = {}
    for entry, outcome in zip(entries, outcomes, strict=True):
        items = merged.setdefault(name_outcome(outcome), [])
        if len(items) < RECENT:
            item = describe_item(entry, outcome)
            texts = {"headline": item.headline, "address": mask_address(item.address), "why": mask_addresses(item.reason)}
            items.append({name: plain_line(text, SHORT) for name, text in texts.items()} | {"at": now.isoformat()})
    for name, before in recent.items():
        items = merged.setdefault(name, [])
        shown = {(new["headline"], new["address"]) for new in items}
        items += [old for old in before if (old["headline"], old["address"]) not in shown][: RECENT - len(items)]
    return merged

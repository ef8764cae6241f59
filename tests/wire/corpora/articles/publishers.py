"""Publishers and their articles, as tests want them."""

import datetime as dt
from collections.abc import Sequence
from typing import Any, Final

from wire.corpora.articles import store as storing
from wire.corpora.articles.models import Publisher
from wire.corpora.articles.store import ArticleDraft
from wire.corpora.articles.url_keys import build_url_key

NOW: Final = dt.datetime(2026, 3, 15, 10, tzinfo=dt.UTC)
HOSTILE: Final = "<script>alert(1)</script> \"quoted\" & 'more' <b>bold</b>"


def publisher(slug: str = "quill", articles: int = 0, **values: Any) -> Publisher:
    """One with this many articles: the first is the oldest, an hour before the next."""
    facts = {
        "name": slug.capitalize(),
        "homepage": f"https://{slug}.example/",
        "domains": [f"{slug}.example"],
        "consent_note": "By letter.",
        "consented_on": NOW.date(),
    }
    made = Publisher.objects.create(slug=slug, **(facts | values))
    storing.store_drafts(made, [draft(made, number) for number in range(articles)], NOW)
    return made


def draft(publisher: Publisher, number: int, **values: Any) -> ArticleDraft:
    url = f"{publisher.homepage}article-{number}"
    facts: dict[str, Any] = {
        "title": f"Quince number {number}",
        "author": "Ada Quill",
        "published_at": NOW + dt.timedelta(hours=number),
        "description": f"A golden fruit, told {number} times.",
        "markdown": f"# Quince\n\nText {number} of the *quince*.",
    }
    return ArticleDraft(url=url, key=build_url_key(url), **(facts | values))


def store(publisher: Publisher, *drafts: ArticleDraft) -> None:
    storing.store_drafts(publisher, drafts, NOW)


def count(publisher: Publisher, day: dt.date, tool: str, number: int = -1, times: int = 1) -> None:
    publisher.counts.create(day=day, tool=tool, number=number, count=times)


def titles(listed: Sequence[dict[str, Any]]) -> list[str]:
    return [one["title"] for one in listed]

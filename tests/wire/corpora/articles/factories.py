"""A publisher with articles, stored as indexing stores them."""

import datetime as dt
from typing import Any

from wire.corpora.articles.models import Publisher
from wire.corpora.articles.store import ArticleDraft, store_drafts

NOW = dt.datetime(2026, 3, 20, 12, tzinfo=dt.UTC)
CAKE = "https://cake.example/"


def publisher(slug: str = "cake", **changes: Any) -> Publisher:
    given = {
        "name": slug.title(),
        "homepage": f"https://{slug}.example/",
        "domains": [f"{slug}.example"],
        "consent_note": "Letter of 1 March 2026.",
        "consented_on": NOW.date(),
    }
    return Publisher.objects.create(slug=slug, **(given | changes))


def draft(path: str, title: str, description: str = "", day: int | None = 1, **changes: Any) -> ArticleDraft:
    """`day`: of March 2026, at ten; None for no date."""
    given: dict[str, Any] = {
        "author": "Chef Name",
        "published_at": None if day is None else dt.datetime(2026, 3, day, 10, tzinfo=dt.UTC),
        "description": description,
        "language": "en",
        "markdown": f"The text of {title}.",
    }
    return ArticleDraft(f"{CAKE}{path}", f"{CAKE}{path}", title, **(given | changes))


def kept(*drafts: ArticleDraft, of: Publisher | None = None, now: dt.datetime = NOW) -> Publisher:
    """A publisher with these articles."""
    owner = of or publisher()
    store_drafts(owner, drafts, now)
    return owner

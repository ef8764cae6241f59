"""Publishers and articles for tests: of the factories' own making, as indexing would have stored them."""

import datetime as dt
from typing import Any, Final

from wire.corpora.articles import store as storing
from wire.corpora.articles.models import LicenceKind, Publisher
from wire.corpora.articles.store import ArticleDraft
from wire.corpora.articles.url_keys import build_url_key

NOW: Final = dt.datetime(2026, 3, 16, 12, tzinfo=dt.UTC)
CAKE: Final = "https://yoursite.com/best-chocolate-cake"


def publisher(slug: str = "chef", **fields: Any) -> Publisher:
    """One with terms, whose domain is yoursite.com unless `fields` say otherwise."""
    given: dict[str, Any] = {
        "name": "The Chef",
        "homepage": "https://yoursite.com/",
        "domains": ["yoursite.com"],
        "consent_note": "Written for tests.",
        "consented_on": NOW.date(),
        "licence_kind": LicenceKind.CC,
        "licence": "CC BY-NC 4.0",
    }
    made = Publisher.objects.create(slug=slug, **given | fields)
    storing.invalidate_caches()
    return made


def draft(title: str, url: str, **fields: Any) -> ArticleDraft:
    """An article that was read whole."""
    return ArticleDraft(url=url, key=build_url_key(url), title=title, **{"markdown": f"{title}, in many words.", **fields})


def cake(**fields: Any) -> ArticleDraft:
    """The article of the specification's examples."""
    given: dict[str, Any] = {
        "author": "Chef Name",
        "published_at": dt.datetime(2026, 3, 15, 10, tzinfo=dt.UTC),
        "description": "Rich, moist chocolate...",
        "markdown": "Rich, moist chocolate cake with a deep cocoa flavor...",
    }
    return draft("Best Chocolate Cake", CAKE, **given | fields)


def store(owner: Publisher, *drafts: ArticleDraft) -> None:
    storing.store_drafts(owner, drafts, NOW)
    storing.invalidate_caches()

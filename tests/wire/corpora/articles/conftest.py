"""A publisher's site on loopback, which may be asked without a pause."""

from dataclasses import replace

import pytest

from tests.feedserver import FeedServer
from tests.wire.corpora.articles.site import Site
from wire.corpora.articles import page_fetch
from wire.ingest import feed_entries


@pytest.fixture
def site(db: None, server: FeedServer, monkeypatch: pytest.MonkeyPatch) -> Site:  # noqa: ARG001
    quick = replace(feed_entries.get_fetch_policy(), gap=0.0, deadline=5.0, connect_timeout=1.0)
    monkeypatch.setattr(feed_entries, "get_fetch_policy", lambda: quick)
    page_fetch._lanes.clear()  # numbers of publishers come again
    return Site(server)

"""A publisher's site on loopback, which may be asked without a pause."""

from dataclasses import replace

import pytest

from tests.feedserver import FeedServer
from tests.wire.articles.site import Site
from wire.articles import pages, reading
from wire.intake import feeds


@pytest.fixture
def site(db: None, server: FeedServer, monkeypatch: pytest.MonkeyPatch) -> Site:  # noqa: ARG001
    monkeypatch.setattr(pages, "policy", lambda: replace(feeds.policy(), gap=0.0, deadline=5.0, connect_timeout=1.0))
    reading._lanes.clear()  # numbers of publishers come again
    return Site(server)

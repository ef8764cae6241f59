"""Two followers of a wire whose ingest is killed again and again, one by polling and one by stream, end with what it has."""

import os
import random
import signal
from pathlib import Path

import pytest

from tests.examples import KILLS
from tests.feedserver import FeedServer
from tests.wire.archives import own_environment
from tests.wire.changes.copies import Following, in_the_database
from tests.wire.ingest.test_ingest_killed import _served
from tests.wire.installation import install_sqlite
from tests.wire.newsroom import Newsroom, forks, point_at, run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(os.environ.get("TEST_DATABASE_URL")), reason="the killed processes have SQLite files"),
]


@pytest.mark.usefixtures("django_db_setup")
def test_followers_agree_with_a_wire_whose_ingest_is_killed_many_times(tmp_path: Path) -> None:
    newsroom = Newsroom(random.Random(51))
    with FeedServer() as server:
        server.route("/feed.xml", newsroom.answer)
        env = own_environment(tmp_path)
        install_sqlite(tmp_path)
        point_at(server, env)
        with forks(env) as forking:
            assert run(forking) == 0
            with _served(env) as readers, Following(readers.base) as following:
                killed = 0
                while killed < KILLS:
                    newsroom.go_on()
                    killed += run(forking, kill_after=newsroom.chance.uniform(0.0, 1.2)) == -signal.SIGKILL
                newsroom.honest = True
                assert run(forking) == 0
                changes, stories = in_the_database(env)
                following.wait_for(len(changes), 60)
    assert [number for number, _, _ in changes] == [*range(1, len(changes) + 1)]
    for copy in (following.polled, following.streamed):
        assert copy.changes == changes
        assert copy.stories == stories

"""Work on a wire in processes that may be killed: `python -m tests.wire.ingest_forks`. A line in, its number and status out.

`run` asks the feeds, `replay DIRECTORY FIRST LAST` takes in what was recorded from one day to another, `edit NUMBER` is an editor's
doing that the number decides. Forked from one that has Django loaded, so that a kill mostly hits the work and not its start.
"""

import datetime as dt
import ipaddress
import os
import random
import sys
from pathlib import Path

import django

django.setup()

from config.errors import Busy, InvalidArgument  # noqa: E402
from sources.fetch import Policy  # noqa: E402
from wire.ingest import corrections, draft_comparison  # noqa: E402
from wire.ingest.feed_entries import list_feeds  # noqa: E402
from wire.ingest.replay import list_recordings, replay_recordings  # noqa: E402
from wire.ingest.run import run_ingest  # noqa: E402
from wire.models import Snapshot, Story  # noqa: E402

HOW = Policy("killed/1", (ipaddress.ip_network("127.0.0.0/8"),), gap=0.0, deadline=2.0, read_timeout=1.0)
draft_comparison.REVISED_AGAIN_AFTER = dt.timedelta(0)  # type: ignore[misc]  # a round of these feeds stands for hours
RECENT = 40  # stories that the editor looks through


def main() -> None:
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            try:
                _do(*line.split())
            except Busy:
                os._exit(75)
            os._exit(0)
        print(pid, flush=True)  # noqa: T201
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)  # noqa: T201


def _do(what: str, *how: str) -> None:
    if what == "replay":
        directory, first, last = Path(how[0]), dt.date.fromisoformat(how[1]), dt.date.fromisoformat(how[2])
        replay_recordings([one for one in list_recordings(directory, list_feeds()) if first <= one.seen_at.date() <= last])
    elif what == "edit":
        _edit(random.Random(int(how[0])))
    else:
        run_ingest(list_feeds(), by_hand=True, how=HOW)


def _edit(chance: random.Random) -> None:
    """At the time of the newest snapshot: what is replayed has its own days."""
    newest = Snapshot.objects.values_list("generated_at", flat=True).first()
    stories = list(Story.objects.published().live().with_text().order_by("-published_at", "chatbotnews_id")[:RECENT])
    if newest is None or len(stories) < RECENT:
        return
    story, other = chance.sample(stories, 2)
    doing = chance.choice(("correct", "correct", "withdraw", "merge", "split"))
    try:
        if doing == "correct":
            assert story.current is not None
            headline = f"{story.current.headline} ({chance.randint(2, 99)} points)"
            corrections.correct_texts(story.chatbotnews_id, headline=headline, reason="A replay's editor.", now=newest)
        elif doing == "withdraw":
            corrections.withdraw_story(story.chatbotnews_id, reason="A replay's editor.", now=newest)
        elif doing == "merge":
            corrections.merge_events([str(story.event_id), str(other.event_id)], reason="A replay's editor.", now=newest)
        else:
            corrections.split_event([story.chatbotnews_id], reason="A replay's editor.", now=newest)
    except InvalidArgument:  # two of one event to be merged, one that stands alone to be split
        return


if __name__ == "__main__":
    main()

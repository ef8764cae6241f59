"""A run of ingest over 24 local feeds, new and unchanged: `python -m benchmarks.ingest [ITEMS] [ROUNDS]`.

Each feed has a loopback address of its own, so that politeness towards one host does not serialise them. Both runs are whole
commands, start of Python and Django included.
"""

import datetime as dt
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.sax.saxutils import escape

from benchmarks import report, words

ROOT = Path(__file__).resolve().parent.parent
POINT_AT = """
from sources.models import Feed, Publication
Feed.objects.all().delete()
for seat, publication in enumerate(Publication.objects.active().order_by("seat"), start=1):
    Feed.objects.create(publication=publication, feed_type="rss", url=f"{ADDRESS}".replace("HOST", f"127.0.0.{seat}"), ai_only=True)
"""


def main(items: int = 100, rounds: int = 5) -> None:
    from tests.feedserver import FeedServer

    with tempfile.TemporaryDirectory() as data, FeedServer() as server:
        for seat in range(1, 25):
            server.route("/feed.xml", host=f"127.0.0.{seat}", body=_feed(seat, items), etag=f'"{seat}"')
        env = os.environ | {"WIRE_DATA_DIR": data, "DATABASE_URL": "", "WIRE_FETCH_ALLOW": "127.0.0.0/8"}
        _manage(env, "migrate", "--verbosity", "0")
        _manage(env, "shell", "--no-imports", "-c", f"ADDRESS = {server.url('/feed.xml', host='HOST')!r}\n{POINT_AT}")
        cold = _time_command(env)
        again = [_time_command(env) for _ in range(rounds)]
        start = statistics.median(_time_command(env, "help", "ingest") for _ in range(rounds))
    rows = [
        ("24 feeds, all new", f"{24 * items:,}", f"{cold:.2f} s"),
        (f"24 feeds, nothing new (304; median of {rounds})", "0", f"{statistics.median(again):.2f} s"),
        ("of which starting Python and Django", "", f"{start:.2f} s"),
    ]
    report.publish("ingest", f"python -m benchmarks.ingest {items} {rounds}", report.table(("run", "items", "whole command"), rows))


def _feed(seat: int, items: int) -> bytes:
    now = dt.datetime.now(dt.UTC).replace(microsecond=0)
    rows = []
    for number in range(items):
        when = now - dt.timedelta(minutes=17 * number + seat)
        headline, more = (_sentence(random.Random(seat * 10_000 + number + salt)) for salt in (0, 7_000_000))
        rows.append(
            f"<item><title>{escape(headline)}</title><link>https://publisher-{seat}.example/{number}</link>"
            f"<guid>{seat}-{number}</guid><pubDate>{when:%a, %d %b %Y %H:%M:%S} GMT</pubDate>"
            f"<description>{escape(headline)}. {escape(more)}.</description></item>"
        )
    return f"<rss version='2.0'><channel><title>Feed {seat}</title>{''.join(rows)}</channel></rss>".encode()


def _sentence(pick: random.Random) -> str:
    parts = (words.ACTORS, words.VERBS, words.QUALITIES, words.OBJECTS)
    told, also = ([pick.choice(part) for part in parts] for _ in range(2))
    return f"{' '.join(told)} as {also[0]} {' '.join(also[1:])}"


def _time_command(env: dict[str, str], *command: str) -> float:
    started = time.perf_counter()
    _manage(env, *(command or ("ingest",)))
    return time.perf_counter() - started


def _manage(env: dict[str, str], *arguments: str) -> None:
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    subprocess.run(command, env=env, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))

"""The log over 3,650 days of 200 stories: how long it takes to build, and one proof from it. `python -m benchmarks.proofs`."""

import datetime as dt
import hashlib
import os
import statistics
import sys
import tempfile
import time
import zlib

import django

DAYS = int(sys.argv[1]) if len(sys.argv) > 1 else 3_650
STORIES = 200
FIRST = dt.date(2016, 1, 1)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def story_id(day: int, number: int) -> str:
    return "cbn-" + digest(f"{day} {number}")[:12].translate(str.maketrans("", "", "ilou")).ljust(12, "0")


def main() -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from sources.models import Publication
    from wire import queries
    from wire.models import Event, SigningKey, Snapshot, Story, StoryRevision
    from wire.snapshots import log, signing
    from wire.stories.provenance import canonical, manifest, manifest_story

    now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    key = SigningKey.objects.create(key_id="0" * 16, public_key="", created_at=now)
    previous, rows = None, []
    for day in range(DAYS):
        lines = [manifest_story(story_id(day, n), 1, digest(f"{n}"), story_id(day, n), 0.25, 1 + n % 4) for n in range(STORIES)]
        date = FIRST + dt.timedelta(days=day)
        data = canonical(manifest(date, 1, previous, digest("roster"), "A brief.", lines))
        hashed = hashlib.sha256(data).hexdigest()
        columns = {"wire_sha256": hashed, "previous_sha256": previous, "roster_sha256": digest("roster"), "generated_at": now}
        rows.append(
            Snapshot(
                sequence=day + 1,
                wire_date=date,
                revision=1,
                story_count=STORIES,
                packed=zlib.compress(data),
                signature="",
                key=key,
                **columns,
            )
        )
        previous = hashed
    Snapshot.objects.bulk_create(rows, batch_size=100)
    started = time.perf_counter()
    log.catch_up()
    print(f"log of {DAYS:,} days × {STORIES} stories: {time.perf_counter() - started:.1f} s")

    from wire.models import LogEntry

    SigningKey.objects.update(retired_at=now)
    signing.sign_checkpoint(LogEntry.objects.get(sequence=DAYS))
    publication, asked = Publication.objects.all()[0], []
    for day in range(0, DAYS, max(1, DAYS // 50)):
        chosen = story_id(day, day % STORIES)
        Event.objects.create(event_id=chosen)
        story = Story.objects.create(
            chatbotnews_id=chosen, original_url=f"https://a.example/{day}", publication=publication, category="industry", tier=2,
            wire_date=FIRST + dt.timedelta(days=day), first_seen_at=now, published_at=now, event_id=chosen,
        )  # fmt: skip
        story.current = StoryRevision.objects.create(
            story=story, revision=1, status="live", headline="A", category="industry", original_publisher="A",
            original_publisher_tier=2, published_at=now, recorded_at=now, story_sha256=digest("a"),
        )  # fmt: skip
        story.save()
        asked.append(chosen)
    times, sizes = [], []
    for chosen in asked * 4:
        started = time.perf_counter()
        found = queries.get_inclusion(chosen)
        times.append(1000 * (time.perf_counter() - started))
        sizes.append(len(found.model_dump_json()))
    print(f"one inclusion proof: median {statistics.median(times):.2f} ms, at most {max(sizes):,} bytes")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        os.environ["WIRE_DATA_DIR"] = directory
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        django.setup()
        main()

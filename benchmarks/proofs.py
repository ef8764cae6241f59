"""The log over DAYS (3,650) of 200 stories, and proofs from it: `python -m benchmarks.proofs [DAYS]`."""

import datetime as dt
import hashlib
import os
import statistics
import sys
import tempfile
import time
import zlib

import django

from benchmarks import report

STORIES = 200
FIRST = dt.date(2016, 1, 1)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def story_id(day: int, number: int) -> str:
    return "cbn-" + digest(f"{day} {number}")[:12].translate(str.maketrans("", "", "ilou")).ljust(12, "0")


def main(days: int) -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from sources.models import Publication
    from wire import queries
    from wire.models import Event, SigningKey, Snapshot, Story, StoryRevision
    from wire.publishing import signing
    from wire.publishing.transparency import log
    from wire.text.provenance_manifest import build_manifest, build_manifest_story, canonicalize_json

    now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    key = SigningKey.objects.create(key_id="0" * 16, public_key="", created_at=now)
    previous, rows = None, []
    for day in range(days):
        lines = [
            build_manifest_story(story_id(day, n), 1, digest(f"{n}"), story_id(day, n), 0.25, 1 + n % 4) for n in range(STORIES)
        ]
        date = FIRST + dt.timedelta(days=day)
        data = canonicalize_json(build_manifest(date, 1, previous, digest("roster"), "A brief.", lines))
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
    log.append_missing_snapshots()
    seconds = time.perf_counter() - started

    from wire.models import LogEntry

    SigningKey.objects.update(retired_at=now)
    signing.sign_checkpoint(LogEntry.objects.get(sequence=days))
    publication, asked = Publication.objects.all()[0], []
    for day in range(0, days, max(1, days // 50)):
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
        found = queries.prove_inclusion(chosen)
        times.append(1000 * (time.perf_counter() - started))
        sizes.append(len(found.model_dump_json()))
    figures = [
        (f"the log of {days:,} days of {STORIES} stories, built", f"{seconds:.1f} s"),
        ("a proof that a story is in it", f"median {statistics.median(times):.2f} ms, at most {max(sizes):,} bytes"),
    ]
    report.publish("proofs", f"python -m benchmarks.proofs {days}", report.table(("what", "figure"), figures))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        os.environ |= {"WIRE_DATA_DIR": directory, "DATABASE_URL": ""}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        django.setup()
        main(int(sys.argv[1]) if sys.argv[1:] else 3_650)

import argparse
import datetime as dt
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser
from django.db import Error, close_old_connections

from config import env
from config.command_base import WireCommand
from config.database import fault_explanations, routing
from config.errors import Busy, WireError
from config.plugins import run_plugin_commands
from sources import job_lock
from wire.ingest.feed_entries import list_feeds
from wire.ingest.replay import list_recordings, preview_source, replay_recordings
from wire.ingest.run import Run, run_ingest
from wire.queries import get_wire_version
from wire.search.vectors import fill

LOOK_AGAIN: Final = 2.0  # seconds between two looks for a database that is away
VECTORS_TIME: Final = 300.0  # seconds a run at most; what is left is for the next


class Command(WireCommand):
    help = (
        "Fetch the roster's feeds, store what is new and publish it. Exit status: 0 done (some feeds may have failed; "
        "their health says so), 1 not one feed answered or the run broke off, 75 another ingest is at work."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        source = parser.add_mutually_exclusive_group()
        source.add_argument("--every", type=_to_period, metavar="30m", help="Keep running; fetch once each period (30s, 30m, 6h).")
        source.add_argument("--from-files", type=Path, metavar="DIR", help="Replay recorded feeds, each at the date in its name.")
        source.add_argument(
            "--try", dest="tried", metavar="FILE|URL", help="Show what would become of each item of a feed, and store nothing."
        )
        parser.add_argument("--publication", metavar="SLUG", help="Only this publication, even if its feed is not due.")
        parser.add_argument("--end-with", type=int, metavar="PID", help=argparse.SUPPRESS)

    def handle(self, **options: Any) -> None:
        if options["every"]:
            self._run_forever(options["every"], options["publication"], options["end_with"])
            return
        with fault_explanations.explain_errors():
            if options["tried"]:
                self._preview_source(options["tried"], options["publication"])
                return
            if options["from_files"]:
                recorded = list_recordings(options["from_files"], list_feeds(options["publication"]))
                total = replay_recordings(recorded, lambda report: self.stderr.write(report.failure) if report.failure else None)
                self.stdout.write(f"Replayed {len(recorded)} files: {_join_counts(total)}.")
            elif self._run_once(options["publication"], by_hand=options["publication"] is not None).reached_nothing:
                raise CommandError("No feed answered. What was published stays; the next run tries again.")

    def _preview_source(self, source: str, publication: str | None) -> None:
        report, items = preview_source(source, publication)
        if report.failure:
            raise CommandError(f"{report.code}: {report.failure} Nothing was stored.")
        for item in items:
            texts = (item.outcome, item.date or "no date", item.headline, item.address, item.reason)
            self.stdout.write("\t".join(texts).rstrip())
        if report.doubt:
            self.stderr.write(report.doubt)
        counts = _join_counts(report.counts) or "none"
        self.stdout.write(f"{len(items):,} items of {report.feed.publication}: {counts}. Nothing was stored.")

    def _run_once(self, publication: str | None, *, by_hand: bool, stop: Callable[[], bool] = lambda: False) -> Run:
        run = run_ingest(list_feeds(publication), by_hand=by_hand, stop=stop)
        fill(VECTORS_TIME)
        counts: Counter[str] = sum((report.counts for report in run.reports), Counter())
        results = Counter(report.result for report in run.reports) + Counter({"not due": run.waiting})
        feeds, items = _join_counts(results) or "none", _join_counts(counts) or "none"
        if not run.is_offline:  # the log says that in a line
            self.stdout.write(f"Feeds: {feeds}. Items: {items}. Snapshots: {len(run.published)}.")
        self.stdout.flush()  # a journal or a file would else hear of it when the process ends
        if publication is None:
            run_plugin_commands("after_publish", self.stderr, stdout=self.stdout)
            run_plugin_commands("after_ingest", self.stderr, stdout=self.stdout, stop=stop)
        return run

    def _run_forever(self, every: dt.timedelta, publication: str | None, parent: int | None) -> None:
        """Run at whole periods from the start; report a failed run and try the next. SIGTERM ends it after a feed."""
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())

        def stop() -> bool:
            return stopped.is_set() or (parent is not None and os.getppid() != parent)

        failures = 0
        while not stop():
            self._wait_for_database(stop)
            pause = every.total_seconds()
            started = time.monotonic()
            try:
                self._run_once(publication, by_hand=False, stop=stop)
                failures = 0
            except Busy as busy:
                pause = min(pause, job_lock.TERM.total_seconds())
                self.stderr.write(f"{busy.message} {busy.hint}")
            except (WireError, Error, OSError) as error:
                if routing.is_outage(error):
                    pause, failures = min(pause, LOOK_AGAIN * 2**failures), failures + 1
                self.stderr.write(f"{fault_explanations.explain_fault(error) or error} Trying again in {pause:.0f} s.")
            close_old_connections()
            while not stop() and time.monotonic() < started + pause:
                stopped.wait(min(1.0, max(0.01, started + pause - time.monotonic())))

    def _wait_for_database(self, stop: Callable[[], bool]) -> None:
        """Wait without a request to any publisher, as nothing could be stored."""
        is_reported = False
        while not stop() and (why := routing.explain_outage(get_wire_version)):
            if not is_reported:
                self.stderr.write(f"The database cannot be read: {why}. Nothing is fetched until it is back.")
                is_reported = True
            time.sleep(LOOK_AGAIN)


def _join_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in sorted(counts.items()))


def _to_period(raw: str) -> dt.timedelta:
    with suppress(ValueError):
        if period := env.read_duration(raw):
            return period
    raise argparse.ArgumentTypeError("expected a period such as 30m")

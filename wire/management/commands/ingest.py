"""Fetch the feeds of the roster, take in what is new, publish; once or for ever."""

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

from django.apps import apps
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error, close_old_connections

from config import env
from config.database import faults, routing
from config.errors import Busy, WireError
from sources import lease
from wire.intake.feeds import feeds_of
from wire.intake.ingest import FeedReport, Run, collect
from wire.intake.replay import recordings, replay
from wire.queries import wire_version
from wire.vectors.stored import fill

LOOK_AGAIN: Final = 2.0  # seconds between two looks for a database that is away
VECTORS_TIME: Final = 300.0  # seconds a run at most; what is left is for the next
PUBLISHERS_TIME: Final = 300  # seconds a run at most for all publishers: the wire's own feeds are never kept waiting for long
EX_TEMPFAIL: Final = 75  # sysexits.h: try again later


class Command(BaseCommand):
    help = (
        "Fetch the roster's feeds, take in what is new and publish it. Exit status: 0 done (single feeds may have failed; "
        "their health says so), 1 not one feed answered or the run broke off, 75 another ingest is at work."
    )

    requires_system_checks: list[str] = []  # they import every surface, which doubles the time of a run that finds nothing new

    def add_arguments(self, parser: CommandParser) -> None:
        source = parser.add_mutually_exclusive_group()
        source.add_argument("--every", type=_period, metavar="30m", help="Go on for ever, a run each period (30s, 30m, 6h).")
        source.add_argument("--from-files", type=Path, metavar="DIR", help="Replay recorded feeds, each at the date in its name.")
        parser.add_argument("--publication", metavar="SLUG", help="Only this one, even if its feed is not due.")
        parser.add_argument("--end-with", type=int, metavar="PID", help=argparse.SUPPRESS)

    def handle(self, **options: Any) -> None:
        if options["every"]:
            self._for_ever(options["every"], options["publication"], options["end_with"])
            return
        with faults.explaining():
            try:
                self._once(options["from_files"], options["publication"])
            except Busy as busy:
                raise CommandError(f"{busy.message} {busy.hint}", returncode=EX_TEMPFAIL) from busy

    def _once(self, recorded: Path | None, publication: str | None) -> None:
        if recorded:
            self._replay(recorded, publication)
        elif self._run(publication, by_hand=publication is not None).reached_nothing:
            raise CommandError("Not one feed answered. What was published stays; the next run tries again.")

    def _run(self, publication: str | None, *, by_hand: bool, stop: Callable[[], bool] = lambda: False) -> Run:
        run = collect(feeds_of(publication), by_hand=by_hand, stop=stop)
        fill(VECTORS_TIME)
        counts: Counter[str] = sum((report.counts for report in run.reports), Counter())
        results = Counter(report.result for report in run.reports) + Counter({"not due": run.waiting})
        self.stdout.write(
            f"Feeds: {_listed(results) or 'none'}. Items: {_listed(counts) or 'none'}. Snapshots: {len(run.published)}. "
            f"Seconds: {', '.join(f'{stage} {seconds:.2f}' for stage, seconds in run.seconds.items())}."
        )
        self.stdout.flush()  # a journal or a file would else hear of it when the process ends
        if publication is None:
            self._afterwards("wire.articles", "publishers", "index", f"--seconds={PUBLISHERS_TIME}", stop=stop)
            self._afterwards("wire.factchecks", "linkfactchecks", f"--seconds={VECTORS_TIME}")
            self._afterwards("wire.timeline", "timeline", "sync")
        return run

    def _afterwards(self, app: str, *command: str, **options: Any) -> None:
        """A command of an app that stands above this room, by its name: a wire without that app ingests all the same. What fails
        there is told, and fails no ingest.
        """
        if not apps.is_installed(app):
            return
        try:
            call_command(*command, stdout=self.stdout, stderr=self.stderr, **options)
        except CommandError as error:
            self.stderr.write(str(error))

    def _for_ever(self, every: dt.timedelta, publication: str | None, parent: int | None) -> None:
        """Runs at whole periods from the start; one that fails is reported and the next is tried. SIGTERM ends it after a feed."""
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
                self._run(publication, by_hand=False, stop=stop)
                failures = 0
            except Busy as busy:
                pause = min(pause, lease.TERM.total_seconds())
                self.stderr.write(f"{busy.message} {busy.hint}")
            except (WireError, Error, OSError) as error:
                if routing.is_away(error):
                    pause, failures = min(pause, LOOK_AGAIN * 2**failures), failures + 1
                self.stderr.write(f"{faults.explained(error) or error} Trying again in {pause:.0f} s.")
            close_old_connections()
            while not stop() and time.monotonic() < started + pause:
                stopped.wait(min(1.0, max(0.01, started + pause - time.monotonic())))

    def _wait_for_database(self, stop: Callable[[], bool]) -> None:
        """Without asking any publisher for what could not be stored."""
        is_reported = False
        while not stop() and (why := routing.away(wire_version)):
            if not is_reported:
                self.stderr.write(f"The database cannot be read: {why}. Nothing is fetched until it is back.")
                is_reported = True
            time.sleep(LOOK_AGAIN)

    def _replay(self, directory: Path, publication: str | None) -> None:
        def reported(report: FeedReport) -> None:
            if report.failure:
                self.stderr.write(report.failure)

        recorded = recordings(directory, feeds_of(publication))
        total = replay(recorded, reported)
        self.stdout.write(f"Replayed {len(recorded)} files: {_listed(total)}.")


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in sorted(counts.items()))


def _period(raw: str) -> dt.timedelta:
    with suppress(ValueError):
        if period := env.read_duration(raw):
            return period
    raise argparse.ArgumentTypeError("expected a period such as 30m")

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

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error, close_old_connections
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from config import env, reading, trouble
from config.errors import Busy, WireError
from sources import lease
from wire.collect import FeedReport, Run, collect
from wire.feeds import feeds_of
from wire.replay import recordings, replay

LOOK_AGAIN: Final = 2.0  # seconds between two looks for a database that is away
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
        with trouble.told():
            try:
                self._once(options["from_files"], options["publication"])
            except Busy as busy:
                raise CommandError(f"{busy.message} {busy.hint}", returncode=EX_TEMPFAIL) from busy

    def _once(self, recorded: Path | None, publication: str | None) -> None:
        if recorded:
            self._replay(recorded, publication)
        elif self._run(publication).reached_nothing:
            raise CommandError("Not one feed answered. What was published stays; the next run tries again.")

    def _run(self, publication: str | None, *, by_hand: bool = True, stop: Callable[[], bool] = lambda: False) -> Run:
        feeds = feeds_of(publication)
        with _progress() as progress:
            task = progress.add_task("feeds", total=len(feeds))
            by_hand = by_hand and publication is not None
            run = collect(feeds, by_hand=by_hand, on_report=lambda _report: progress.advance(task), stop=stop)
        self._say(run)
        return run

    def _for_ever(self, every: dt.timedelta, publication: str | None, parent: int | None) -> None:
        """Runs at whole periods from the start; one that fails is told and the next is tried. SIGTERM ends it after a feed."""
        told_to_stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: told_to_stop.set())

        def stop() -> bool:
            return told_to_stop.is_set() or (parent is not None and os.getppid() != parent)

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
                if reading.is_away(error):
                    pause, failures = min(pause, LOOK_AGAIN * 2**failures), failures + 1
                self.stderr.write(f"{trouble.explained(error) or error} Trying again in {pause:.0f} s.")
            close_old_connections()
            while not stop() and time.monotonic() < started + pause:
                told_to_stop.wait(min(1.0, max(0.01, started + pause - time.monotonic())))

    def _wait_for_database(self, stop: Callable[[], bool]) -> None:
        """Without asking any publisher for what could not be stored."""
        told = False
        while not stop() and (why := reading.away()):
            if not told:
                self.stderr.write(f"The database cannot be read: {why}. Nothing is fetched until it is back.")
                told = True
            time.sleep(LOOK_AGAIN)

    def _replay(self, directory: Path, publication: str | None) -> None:
        recorded = recordings(directory, feeds_of(publication))
        with _progress() as progress:
            task = progress.add_task("recorded feeds", total=len(recorded))

            def advance(report: FeedReport) -> None:
                progress.advance(task)
                if report.failure:
                    self.stderr.write(report.failure)

            total = replay(recorded, advance)
        self.stdout.write(f"Replayed {len(recorded)} files: {_listed(total)}.")

    def _say(self, run: Run) -> None:
        counts: Counter[str] = sum((report.counts for report in run.reports), Counter())
        results = Counter(report.result for report in run.reports) + Counter({"not due": run.waiting})
        self.stdout.write(
            f"Feeds: {_listed(results) or 'none'}. Items: {_listed(counts) or 'none'}. Snapshots: {len(run.published)}. "
            f"Seconds: {', '.join(f'{stage} {seconds:.2f}' for stage, seconds in run.seconds.items())}."
        )
        self.stdout.flush()  # a journal or a file would else hear of it when the process ends


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in sorted(counts.items()))


def _period(raw: str) -> dt.timedelta:
    with suppress(ValueError):
        if period := env.read_duration(raw):
            return period
    raise argparse.ArgumentTypeError("expected a period such as 30m")


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    return Progress(*columns, console=console, disable=not console.is_terminal, transient=True)

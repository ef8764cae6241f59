import gc
import json
import resource
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final

import orjson
from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.utils import timezone
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from config import command_runner
from config.command_base import WireCommand
from config.database import fault_explanations
from config.plugins import run_plugin_commands
from config.url_secrets import CREDENTIALS_REFUSED, has_credentials, mask_address
from wire.ingest import classifier_terms
from wire.ingest.feed_entries import refuse_sample
from wire.ingest.normalise import Context, Rejected
from wire.models import Load, Story, WireState
from wire.ops.archive import reader
from wire.ops.archive.dump import Broken
from wire.ops.archive.reader import load_items
from wire.ops.archive.restore import restore_dump
from wire.ops.archive.verify import read_dump
from wire.publishing.publish import publish_pending
from wire.search.vectors import count_unembedded, fill

SHOWN_PER_REASON: Final = 20


class Command(WireCommand):
    help = (
        "Load archives: NDJSON items, RSS/Atom files, dumps of `dumpwire`, directories and .gz of these. Makes the vectors by "
        "which stories are grouped and found, some 20 a second (WIRE_VECTORS=0: by words alone). Resumable after a kill; loading "
        "twice changes nothing."
    )

    def run_from_argv(self, argv: list[str]) -> None:
        command_runner.lower_priority()
        # Nearly all objects of a load hold no cycle, and at Python's 700 a tenth of its time goes into looking for some.
        gc.set_threshold(50_000)
        super().run_from_argv(argv)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
        parser.add_argument("--map", type=Path, metavar="FILE", help='JSON object {"publisher in the archive": "roster name"}')
        parser.add_argument("--dry-run", action="store_true", help="Report what would happen; write nothing.")
        parser.add_argument("--rejects", type=Path, metavar="FILE", help="Write every rejection to it, one JSON object per line.")

    def handle(self, **options: Any) -> None:
        names = _read_publisher_map(options["map"]) if options["map"] else {}
        dumps, archives, others = _sort_files(options["paths"])
        if others:
            named = ", ".join(file.name for file in others[:SHOWN_PER_REASON])
            self.stderr.write(
                f"Left out {len(others):,} files not named as archives ({named}{' …' * (len(others) > SHOWN_PER_REASON)})."
            )
        started = time.monotonic()
        with _Rejections(options["rejects"], self.stderr.write) as rejections:
            try:
                with fault_explanations.explain_errors():
                    before = _read_wire_version()
                    # A load of one of these that broke off goes on from there.
                    digests = [reader.compute_digest(file, names) for file in archives]
                    rejections.open(again=Load.objects.filter(digest__in=digests, line__gt=0).exists())
                    with transaction.atomic() if options["dry_run"] else nullcontext():
                        total = self._load_files([*dumps, *archives], names, rejections)
                        if options["dry_run"]:
                            transaction.set_rollback(True)
                    if not options["dry_run"]:
                        self._make_vectors()
                    # A dump is restored as it was, with what was not public yet.
                    days = self._publish_days() if archives and not options["dry_run"] else []
                    if _read_wire_version() != before:
                        run_plugin_commands("after_publish", self.stderr, stdout=self.stdout)
            except (Broken, OSError) as error:
                raise CommandError(str(error)) from error
        self._print_report(total, len(days), time.monotonic() - started, dry_run=options["dry_run"])

    def _load_files(self, files: list[Path], names: dict[str, str], rejections: "_Rejections") -> Counter[str]:
        total: Counter[str] = Counter()
        context = None  # read once for all files
        with _build_progress() as progress:
            task = progress.add_task("")  # one bar for all files: a bar each would be drawn again for each line of any
            advance = partial(progress.update, task)
            for file in files:
                progress.reset(task, description=file.name, total=sum(1 for _ in reader.read_lines(file)))
                if reader.is_dump(file):
                    total += restore_dump(read_dump(file), lambda number: advance(completed=number))
                    continue
                refuse_sample()
                context = context or Context.load(classifier_terms.load_lexicon(), timezone.now())
                refuse = partial(rejections.add, file)
                report = load_items(file, names, context=context, on_rejected=refuse, on_progress=lambda n: advance(completed=n))
                total += report.counts
                if report.resumed_at:
                    self.stdout.write(
                        f"{file.name}: continued after line {report.resumed_at}; earlier refusals are counted here, but "
                        "were listed by the interrupted run."
                    )
        return total

    def _make_vectors(self) -> None:
        if without := count_unembedded():
            with _build_progress() as progress:
                task = progress.add_task("making vectors", total=without)
                fill(progress=lambda made: progress.update(task, completed=made))

    def _publish_days(self) -> list[Any]:
        waiting = Story.objects.pending().values("wire_date").distinct().count()
        with _build_progress() as progress:
            task = progress.add_task("publishing days", total=waiting)
            return publish_pending(progress=lambda _day: progress.advance(task))

    def _print_report(self, total: Counter[str], days: int, seconds: float, *, dry_run: bool) -> None:
        self.stdout.write("Dry run, nothing was written:" if dry_run else "Loaded:")
        for name, number in sorted(total.items()):
            self.stdout.write(f"  {name:<40} {number:>9,}")
        self.stdout.write(f"  {'snapshots published':<40} {days:>9,}")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        self.stdout.write(f"{seconds:.1f} s, {sum(total.values()) / max(seconds, 0.001):,.0f} records/s, peak memory {peak} MB.")


class _Rejections(AbstractContextManager["_Rejections"]):
    """Refusals, all to a file if one is wanted; the first of each reason by `write` at the end, also if the load breaks off."""

    def __init__(self, file: Path | None, write: Callable[[str], Any]) -> None:
        self._file = file
        self._write = write
        self._handle: BinaryIO | None = None
        self._shown: dict[str, list[str]] = {}
        self._counts: Counter[str] = Counter()
        self._strangers: Counter[str] = Counter()

    def __exit__(self, *_error: object) -> None:
        for code, shown in self._shown.items():
            for line in shown:
                self._write(line)
            if self._counts[code] > len(shown):
                self._write(f"… and {self._counts[code] - len(shown):,} more of {code}; --rejects FILE writes them all.")
        if self._strangers:
            named = "; ".join(f"{name} ({number:,})" for name, number in self._strangers.most_common(SHOWN_PER_REASON))
            more = len(self._strangers) - SHOWN_PER_REASON
            self._write(f"Outside the roster: {named}{f'; and {more:,} more' if more > 0 else ''}.")
            self._write("If a publication of the roster has one of these names in your archive, name it with --map.")
        if self._handle:
            self._handle.close()

    def open(self, *, again: bool) -> None:
        """Open the file; `again` appends to that of a run that broke off. Raises: CommandError."""
        try:
            self._handle = self._file.open("ab" if again else "wb") if self._file else None
        except OSError as error:
            raise CommandError(f"The rejections cannot be written: {error}. Nothing was loaded.") from error

    def add(self, file: Path, number: int, why: Rejected) -> None:
        self._counts[why.code] += 1
        if why.subject:
            self._strangers[why.subject] += 1
        if self._handle:
            row = {"file": str(file), "line": number, "reason": why.code, "message": why.message}
            self._handle.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
            self._handle.flush()  # before its batch is committed: a run that goes on reads no line of it again
        shown = self._shown.setdefault(why.code, [])
        if len(shown) < SHOWN_PER_REASON:
            shown.append(f"{file.name}:{number}: {why.code}: {why.message}")


def _sort_files(paths: list[Path]) -> tuple[list[Path], list[Path], list[Path]]:
    """Return dumps, which need a wire that is still empty, other archives, and other files."""
    try:
        archives, others = reader.expand_paths(paths)
        files = [(file, reader.is_dump(file)) for file in archives]
    except FileNotFoundError as error:
        raise CommandError(f"There is no {error}. Nothing was loaded.") from error
    except OSError as error:
        raise CommandError(f"{error}. Nothing was loaded.") from error
    if not files:
        raise CommandError(f"There is no archive: names end in {', '.join(reader.SUFFIXES)}, also with .gz. Nothing was loaded.")
    return [file for file, is_dump in files if is_dump], [file for file, is_dump in files if not is_dump], others


def _read_wire_version() -> int | None:
    """Return the wire version, which every public change raises."""
    return WireState.objects.values_list("version", flat=True).first()


def _read_publisher_map(file: Path) -> dict[str, str]:
    try:
        names = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CommandError(f"The map {file} cannot be read: {error}. Nothing was loaded.") from error
    if not isinstance(names, dict) or not all(isinstance(value, str) for value in names.values()):
        raise CommandError(f'The map {file} must be a JSON object {{"name in the archive": "roster name"}}. Nothing was loaded.')
    if addresses := [mask_address(name) for pair in names.items() for name in pair if has_credentials(name)]:
        raise CommandError(f"The map {file} names {addresses[0]}. {CREDENTIALS_REFUSED} Nothing was loaded.")
    return names


def _build_progress() -> Progress:
    texts = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    times = (TimeElapsedColumn(), TextColumn("ETA"), TimeRemainingColumn())
    return Progress(*texts, *times, console=Console(stderr=True))

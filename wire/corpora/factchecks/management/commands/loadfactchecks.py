"""Load files of fact-checks."""

import resource
import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.database import faults
from config.errors import WireError
from wire.corpora.factchecks import embedding, file_formats, load_jobs
from wire.corpora.factchecks.file_formats import Unreadable
from wire.corpora.factchecks.languages import CODES
from wire.corpora.factchecks.models import LoadJob


class Command(BaseCommand):
    help = (
        "Load claims: dumps of Faktenforum (JSON), schema.org ClaimReview (JSON-LD, the Data Commons feed, web pages), tables "
        "(CSV, TSV), feeds of reviews, directories and .gz of these. Resumable after a kill; loading twice changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
        parser.add_argument(
            "--language", choices=CODES, default="", help="Of claims that do not name one; else it is told from their words."
        )
        parser.add_argument("--no-vectors", action="store_true", help="Leave vectors to `embedfactchecks` or the next ingest.")

    def handle(self, **options: Any) -> None:
        started, jobs, failures = time.monotonic(), list[LoadJob](), list[str]()
        try:
            files = file_formats.expand(options["paths"])
        except FileNotFoundError as error:
            raise CommandError(f"There is no file {error}. Nothing was loaded.") from error
        if not files:
            raise CommandError(
                f"No file there has a name that ends in one of {', '.join(file_formats.SUFFIXES)}. Nothing was loaded."
            )
        with faults.explaining():
            for file in files:
                try:
                    jobs.append(self._load(file, options["language"]))
                except (Unreadable, OSError) as error:
                    failures.append(f"{error}.")
            loaded = time.monotonic() - started
            if not options["no_vectors"]:
                self._embed()
        done = sum(job.processed for job in jobs)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        self.stdout.write(f"{loaded:.1f} s, {done / max(loaded, 0.001):,.0f} claims/s, peak memory {peak} MB.")
        if failures:
            raise CommandError(f"{' '.join(failures)} What was loaded stays; run it again to go on.")

    def _load(self, file: Path, language: str) -> LoadJob:
        job = load_jobs.job_for(file, language)
        if job.processed:
            self.stdout.write(f"{file.name}: goes on behind entry {job.processed:,}.")
        load_jobs.load(job, file, lambda job: self._show(f"{file.name}: {job.processed:,}"))
        for message in job.messages:
            self.stderr.write(f"{file.name}: {message}")
        self.stdout.write(
            f"{file.name}: {job.status}. {job.created:,} new, {job.updated:,} changed, {job.skipped:,} unchanged, "
            f"{job.errors:,} refused."
        )
        return job

    def _embed(self) -> None:
        model = embedding.get_model()
        if model is None:
            self.stdout.write("No model makes vectors here: claims are found by words alone.")
            return
        try:
            made = embedding.fill(progress=lambda made: self._show(f"vectors: {made:,}"))
        except WireError as error:
            self.stderr.write(f"{error.message} {error.hint} `embedfactchecks` makes them later.")
            return
        self.stdout.write(f"Vectors of {made:,} claims made by {model.name}.")

    def _show(self, progress: str) -> None:
        if self.stderr.isatty():
            self.stderr.write(progress, ending="\r")

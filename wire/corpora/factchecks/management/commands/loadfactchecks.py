"""Load fact-checks from files and from publishers' own sites."""

import argparse
import resource
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from config.command_base import WireCommand
from config.database import fault_explanations
from config.errors import WireError
from wire.corpora.factchecks import api_keys, embedding, file_formats, load_jobs, site_reviews
from wire.corpora.factchecks.file_formats import Unreadable
from wire.corpora.factchecks.languages import CODES
from wire.corpora.factchecks.models import LoadJob
from wire.corpora.factchecks.site_reviews import SiteReport


class Command(WireCommand):
    help = (
        "Load claims: dumps of Faktenforum (JSON), schema.org ClaimReview (JSON-LD, the Data Commons feed, web pages), answers of "
        "Google's Fact Check Tools API, tables (CSV, TSV), feeds of reviews, directories and .gz of these; or the reviews of a "
        "publisher's site, by its domain or an address. Resumable after a kill; loading twice changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paths", nargs="+", metavar="PATH|URL|DOMAIN")
        parser.add_argument(
            "--language", choices=CODES, default="", help="For claims that do not name one; default: detected from their words."
        )
        pages = f"Read at most N pages of a site ({site_reviews.MAX_PAGES:,}); the next run continues after them."
        parser.add_argument("--pages", type=int, default=site_reviews.MAX_PAGES, metavar="N", help=pages)
        parser.add_argument("--most-bytes", type=int, help=argparse.SUPPRESS)  # of what a packed file holds; uploads are bounded
        parser.add_argument("--no-vectors", action="store_true", help="Leave vectors to `embedfactchecks` or the next ingest.")

    def handle(self, **options: Any) -> None:
        started, jobs, failures = time.monotonic(), list[LoadJob](), list[str]()
        addresses = {given: site_reviews.parse_address(given) for given in options["paths"] if not Path(given).exists()}
        try:
            files = file_formats.expand_paths([Path(given) for given in options["paths"] if not addresses.get(given)])
        except FileNotFoundError as error:
            raise CommandError(f"There is no file {error}. Nothing was loaded.") from error
        with fault_explanations.explain_errors():
            for address in filter(None, addresses.values()):
                try:
                    files.append(self._collect_reviews(address, options["pages"]))
                except (Unreadable, OSError) as error:
                    failures.append(str(error))
            if not files and not failures:
                raise CommandError(
                    f"None of the files has a name that ends in {', '.join(file_formats.SUFFIXES)}. Nothing was loaded."
                )
            for file in files:
                try:
                    jobs.append(self._load_file(file, options["language"], options["most_bytes"]))
                except (Unreadable, OSError) as error:
                    failures.append(str(error) if file.name in str(error) else f"{file.name}: {error}")
            loaded = time.monotonic() - started
            if not options["no_vectors"]:
                self._embed_claims()
        done = sum(job.processed for job in jobs)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        self.stdout.write(f"{loaded:.1f} s, {done / max(loaded, 0.001):,.0f} claims/s, peak memory {peak} MB.")
        if done and not api_keys.read_key_rule("api").is_required:
            site = settings.WIRE_SITE_URL
            self.stdout.write(f"People search them at {site}/factchecks, agents at {settings.WIRE_MCP_URL}/factchecks.")
            self.stdout.write(
                "Try this while the server runs (if it still serves the sample wire, it switches to the real one within seconds):"
            )
            self.stdout.write(f"  curl --get '{site}/api/factchecks/search.json' --data-urlencode 'query=A CLAIM IN WORDS'")
        if failures:
            sentences = " ".join(f"{failure.rstrip('.')}." for failure in failures)
            raise CommandError(f"{sentences} What was loaded stays; run it again to continue.")

    def _collect_reviews(self, address: str, most_pages: int) -> Path:
        def show(done: SiteReport) -> None:
            self._show_progress(f"{address}: {done.read:,} pages read, {done.with_reviews:,} with reviews, {done.left:,} left")

        report = site_reviews.collect_reviews(address, show, most_pages)
        for why, count in report.failures.most_common():
            self.stderr.write(f"{address}: {count:,} pages were not read: {why}")
        if report.read or report.left:
            self.stdout.write(f"{address}: {report.read:,} pages read, {report.with_reviews:,} with reviews, {report.left:,} left.")
        if report.read and not report.with_reviews:
            self.stdout.write("None of them has a ClaimReview, as JSON-LD, microdata or RDFa: https://schema.org/ClaimReview.")
        if report.left:
            self.stdout.write("Run the same command again to read those that are left.")
        return report.file

    def _load_file(self, file: Path, language: str, most_bytes: int | None) -> LoadJob:
        job = load_jobs.get_or_create_job(file, language)
        if job.processed:
            self.stdout.write(f"{file.name}: continues after entry {job.processed:,}.")
        load_jobs.run_job(job, file, lambda job: self._show_progress(f"{file.name}: {job.processed:,}"), most_bytes=most_bytes)
        for message in job.messages:
            self.stderr.write(f"{file.name}: {message}")
        self.stdout.write(
            f"{file.name}: {job.status}. {job.created:,} new, {job.updated:,} changed, {job.skipped:,} unchanged, "
            f"{job.errors:,} refused, {load_jobs.format_remark_count(job)} incomplete."
        )
        return job

    def _embed_claims(self) -> None:
        model = embedding.get_model()
        if model is None:
            self.stdout.write("No model makes vectors here: claims are found by words alone.")
            return
        many, started = embedding.select_unembedded(model.name).count(), time.monotonic()
        if many > embedding.BATCH:
            self.stdout.write(f"Vectors of {many:,} claims are being made. Until then, searches use words alone.")

        def show(made: int) -> None:
            left = (time.monotonic() - started) / made * (many - made)
            told = f"vectors: {made:,} of {many:,}, {left / 60:,.0f} minutes left"
            is_shown = self.stderr.isatty() or made > embedding.BATCH or many == made  # else one estimate is enough
            self._show_progress(told) if is_shown else self.stdout.write(f"{told}.")

        try:
            made = embedding.embed_missing(progress=show)
        except WireError as error:
            self.stderr.write(f"{error.message} {error.hint} `embedfactchecks` makes the vectors later.")
            return
        self.stdout.write(f"Vectors of {made:,} claims made by {model.name}.")

    def _show_progress(self, progress: str) -> None:
        if self.stderr.isatty():
            self.stderr.write(progress, ending="\r")

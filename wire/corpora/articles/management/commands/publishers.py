"""Add publishers whose articles agents may read, index them, list and remove them."""

import datetime as dt
import logging
from collections.abc import Callable, Sequence
from typing import Any, Final

import orjson
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.db import Error, transaction
from django.db.models import Count, F, Min
from django.utils import timezone

from config.command_base import WireCommand
from config.database import fault_explanations
from config.errors import Busy, InvalidArgument, WireError
from config.url_secrets import mask_address
from sources import job_lock
from sources.fetch.url import WebAddress
from wire.corpora.articles import sample, store
from wire.corpora.articles.discovery import explore_site
from wire.corpora.articles.indexer import MAX_PAGES, MAX_SECONDS, NAMES, RunReport, describe_refusals, index_publisher
from wire.corpora.articles.models import OWN, Article, IndexLease, LicenceKind, Publisher, Source
from wire.ingest.feed_entries import refuse_sample

log = logging.getLogger(__name__)

NOTHING: Final = "Nothing was changed."
MAX_REASONS: Final = 20  # that are listed of a publisher's pages that could not be read
ASK: Final = """Try this while the server runs (if it still serves the sample wire, it switches to the real one within seconds):
curl {} -H 'content-type: application/json' -H 'accept: application/json' \\
  -d '{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"list-recent","arguments":{{"limit":3}}}}}}'"""


class Command(WireCommand):
    help = (
        "Manage publishers whose articles agents may search and read here: add one with its feeds and sitemaps; index, list "
        "or remove publishers; make and index those of the sample wire. Exit status: 0 done (some pages may have failed), 1 "
        "refused, no source answered, 75 another process is indexing."
    )

    stealth_options = ("stop",)  # of `index`, for who calls it within a run of its own: whether to end after the batch at hand

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="add|index|list|remove|sample")
        about = "Add a publisher, with its consent. Given only its address, find its feeds and index the first articles."
        add = actions.add_parser("add", help=about).add_argument
        add(
            "slug",
            metavar="URL|SLUG",
            help="Address of its site; or a SLUG for good, as in /mcp/articles/SLUG, with NAME and options.",
        )
        add("name", nargs="?", metavar="NAME", help="Default: as its site says.")
        add("--slug", dest="place", metavar="SLUG", help="Its slug, if it is added from an address.")
        add("--homepage", metavar="URL")
        add("--domain", action="append", default=[], metavar="HOST", help="A host of its own, subdomains included; repeatable.")
        add("--feed", action="append", default=[], metavar="URL", help="RSS, Atom or JSON Feed; repeatable.")
        add("--sitemap", action="append", default=[], metavar="URL", help="Sitemap or index of sitemaps; repeatable.")
        note = "Who agreed to what, and where that is written down."
        add("--consent", "--consent-note", dest="consent_note", default="", metavar="NOTE", help=note)
        add("--i-am-the-publisher", action="store_true", help="Instead of a note, if the site is your own.")
        add("--consented-on", type=_day, metavar="YYYY-MM-DD", help="Default: today.")
        add("--leave-out", action="append", default=[], metavar="/PATH", help="Path prefix to leave out; repeatable.")
        add("--excerpt", type=int, metavar="CHARACTERS", help="Give excerpts of that length instead of whole articles.")
        add("--per-minute", type=int, metavar="N", help="At most N requests a minute for one client.")
        add("--price", type=_json, default={}, metavar="JSON", help="What an article costs, as x402 payment requirements.")
        add("--licence", default="", metavar="TEXT", help="The licence's name or address, or the terms.")
        add("--licence-kind", choices=LicenceKind.values, help="Kind of --licence; default: text.")
        add("--may-train", action="store_true", help="Models may be trained on the text.")
        add("--may-not-answer", action="store_true", help="Models may not use the text to answer a question.")
        run = actions.add_parser("index", help="Fetch sources and read waiting pages, of these publishers or of all.").add_argument
        run("slugs", nargs="*", metavar="SLUG", help="These only, even before their sources are due.")
        run("--pages", type=_number, default=MAX_PAGES, metavar="N", help=f"At most N pages of each publisher ({MAX_PAGES:,}).")
        run("--seconds", type=_number, metavar="N", help=f"At most N seconds; default: {MAX_SECONDS:.0f} for each publisher.")
        actions.add_parser("list", help="List publishers and the health of their sources.")
        ending = "Remove a publisher: its server stops, its articles are deleted, its record stays."
        actions.add_parser("remove", help=ending).add_argument("slug", metavar="SLUG")
        actions.add_parser("sample", help="Fill the sample wire's publishers: the wire's own, and a fictional almanac.")

    def handle(self, **options: Any) -> None:
        with fault_explanations.explain_errors():
            getattr(self, f"_handle_{options['action']}")(options)

    def _handle_add(self, options: dict[str, Any]) -> None:
        options["consented_on"] = options["consented_on"] or timezone.now().date()
        if options["i_am_the_publisher"]:
            options["consent_note"] = options["consent_note"] or "The publisher runs this installation."
        if not options["consent_note"]:
            raise CommandError(f"Who agreed? Give --consent-note NOTE, or --i-am-the-publisher. {NOTHING}")
        if is_found := options["slug"].startswith(("http://", "https://")):
            self._fill_options_from_site(options)
        elif missing := [name for name in ("name", "homepage", "domain") if not options[name]]:
            raise CommandError(f"{' and '.join(missing)} must be given, unless a URL is given instead of a slug. {NOTHING}")
        names = ("name", "homepage", "consent_note", "consented_on", "licence", "may_train", "per_minute", "price")
        excerpt = {} if options["excerpt"] is None else {"full_text": False, "excerpt_length": options["excerpt"]}
        publisher = Publisher(
            slug=options["slug"].lower(),
            domains=[domain.lower() for domain in options["domain"]],
            left_out=options["leave_out"],
            licence_kind=options["licence_kind"] or (LicenceKind.TEXT if options["licence"] else LicenceKind.NONE),
            may_answer=not options["may_not_answer"],
            **{name: options[name] for name in names},
            **excerpt,
        )
        sources = [(Source.Type.FEED, url) for url in options["feed"]] + [(Source.Type.SITEMAP, url) for url in options["sitemap"]]
        if not sources:
            raise CommandError(f"Name at least one --feed or --sitemap. {NOTHING}")
        if known := Publisher.objects.with_slug(publisher.slug).first():
            what = "was removed, and its slug stays reserved" if known.removed_at else "already exists"
            raise CommandError(f"{known.name} ({known.slug}) {what}. {NOTHING} Change it at the desk, or use another slug.")
        try:
            publisher.full_clean()
        except ValidationError as error:
            faulty = " ".join(f"{name}: {' '.join(messages)}" for name, messages in error.message_dict.items())
            raise CommandError(f"{faulty} {NOTHING}") from error
        for url in [publisher.homepage, *(url for _, url in sources)]:
            try:
                host = WebAddress.parse(url).authority
            except ValueError as error:
                raise CommandError(f"{mask_address(url)} cannot be fetched: {error}. {NOTHING}") from error
            if not publisher.has_address(url):
                raise CommandError(
                    f"{mask_address(url)} is not on {', '.join(publisher.domains)}, or is below a --leave-out path. {NOTHING} "
                    f"No other hosts are fetched: if {host} is the publisher's own, add --domain {host}."
                )
        with transaction.atomic():
            publisher.save()
            Source.objects.bulk_create([Source(publisher=publisher, kind=kind, url=url) for kind, url in dict.fromkeys(sources)])
            store.invalidate_caches()
        slug = publisher.slug
        if not is_found:
            self.stdout.write(f"{publisher.name} is served at /mcp/articles/{slug}. Index it: publishers index {slug}")
            return
        try:
            self._handle_index({"slugs": [slug], "pages": 20, "seconds": None})  # a page a second, and somebody waits
        finally:
            goes_on = f"The server reads the remaining pages later, or `publishers index {slug}` does so at once."
            self.stdout.write(f"People read {publisher.name} at {publisher.page}, agents at {publisher.mcp}; {goes_on}")
        self.stdout.write(ASK.format(publisher.mcp))

    def _fill_options_from_site(self, options: dict[str, Any]) -> None:
        """Fill in what the site says of itself and what was not told."""
        try:
            refuse_sample()
            site = explore_site(options["slug"])
        except InvalidArgument as error:
            raise CommandError(f"{error.message} {NOTHING} {error.hint}") from error
        if not options["feed"] and not options["sitemap"]:
            if not site.sources:
                words = "has no feed and no sitemap that could be found"
                raise CommandError(f"{site.homepage} {words}. {NOTHING} Name one with --feed or --sitemap.")
            options["feed"] = [url for kind, url in site.sources if kind == Source.Type.FEED]
            options["sitemap"] = [url for kind, url in site.sources if kind == Source.Type.SITEMAP]
        options["slug"] = options["place"] or site.slug
        options["name"] = options["name"] or site.name
        options["homepage"] = options["homepage"] or site.homepage
        options["domain"] = options["domain"] or [site.domain]
        language, found = f", in {site.language}" if site.language else "", ", ".join(options["feed"] + options["sitemap"])
        self.stdout.write(f"{options['homepage']} is {options['name']}{language}. Found: {found}")

    def _handle_index(self, options: dict[str, Any]) -> None:
        """Index one after the other, the one that waited longest first. A fault of one keeps no other from its turn."""
        waiting = Publisher.objects.live().order_by(F("indexed_at").asc(nulls_first=True), "slug")
        publishers = _find_publishers(options["slugs"]) if options["slugs"] else waiting
        stop: Callable[[], bool] = options.get("stop") or (lambda: False)
        ends = None if options["seconds"] is None else dt.timedelta(seconds=options["seconds"]) + timezone.now()
        failures, busy = [], None
        for publisher in publishers:
            left = MAX_SECONDS if ends is None else (ends - timezone.now()).total_seconds()
            if stop() or left <= 0:
                break
            try:
                by_hand = bool(options["slugs"])
                report = index_publisher(publisher, stop=stop, by_hand=by_hand, most_pages=options["pages"], seconds=left)
            except Busy as error:
                busy = error
                self.stderr.write(f"{error.message} {error.hint}")
                continue
            except WireError as error:
                failures.append(f"{publisher.slug}: {error.message} {error.hint}")
                continue
            except (Error, OSError):
                raise
            except Exception:
                log.exception("%s could not be indexed.", publisher.slug)
                failures.append(f"{publisher.slug}: an internal error; the log says why.")
                continue
            self._print_report(report)
            if report.has_reached_nothing:
                failures.append(f"No source of {publisher.slug} answered: {report.errors[0]}")
        if failures:
            raise CommandError(f"{' '.join(failures)} What was indexed stays; the next run tries again.")
        if busy and options["slugs"]:
            raise busy

    def _print_report(self, report: RunReport) -> None:
        named = sorted((NAMES.get(name, name), number) for name, number in report.counts.items() if number)
        counts = ", ".join(f"{number:,} {name}" for name, number in named) or "nothing new"
        rest = f"{report.left:,} pages are left for the next run" if report.left else "all pages are read"
        self.stdout.write(f"Articles of {report.publisher.slug}: {counts}; {rest} ({report.seconds:.1f} s).")
        for line in report.refused:
            self.stdout.write(f"  {line}")
        for error in report.errors:
            self.stderr.write(error)
        self.stdout.flush()  # a journal or a file would else hear of it when the process ends

    def _handle_sample(self, _options: dict[str, Any]) -> None:
        try:
            almanac = sample.create_almanac()
        except InvalidArgument as error:
            raise CommandError(f"{error.message} {NOTHING} {error.hint}") from error
        if almanac.removed_at:
            self.stdout.write(f"{almanac.name} was removed here, and stays removed.")
        self._handle_index({"slugs": [OWN] if almanac.removed_at else [OWN, sample.SLUG], "pages": MAX_PAGES, "seconds": None})

    def _handle_list(self, _options: dict[str, Any]) -> None:
        for publisher in Publisher.objects.all():
            if publisher.removed_at:
                self.stdout.write(f"{publisher.slug}: {publisher.name}, removed on {publisher.removed_at:%Y-%m-%d}")
                continue
            rows = Article.objects.filter(publisher=publisher)
            states = {state: rows.filter(state=state).count() for state in Article.State.values}
            counts = ", ".join(f"{number:,} {state}" for state, number in states.items() if number) or "no article yet"
            when = f"indexed {publisher.indexed_at:%Y-%m-%d %H:%M} UTC" if publisher.indexed_at else "never indexed"
            self.stdout.write(f"{publisher.slug}: {publisher.name}, {counts}; {when}")
            for source in publisher.sources.all():
                health = source.error or (f"named {source.found:,}" if source.worked_at else "never fetched")
                self.stdout.write(f"  {source.kind} {source}: {health}")
                if refusals := source.refusals:
                    self.stdout.write(f"    refused: {describe_refusals(refusals)}")
            unread = rows.exclude(error="").values("error").annotate(pages=Count("pk"), example=Min("url"))
            for reason in unread.order_by("-pages", "error")[:MAX_REASONS]:
                self.stdout.write(f"  {reason['pages']:,} not read, such as {reason['example']}: {reason['error']}")

    def _handle_remove(self, options: dict[str, Any]) -> None:
        (publisher,) = _find_publishers([options["slug"]])
        if publisher.slug == OWN:
            raise CommandError(f"The wire's own content cannot be removed. {NOTHING}")
        IndexLease.objects.get_or_create(publisher=publisher)
        with job_lock.acquire(IndexLease.objects.filter(publisher=publisher), f"indexing of {publisher.slug}"):
            number = store.remove_publisher(publisher, timezone.now())
        self.stdout.write(f"{publisher.name} is removed, with {number:,} articles. Its addresses now answer that.")


def _find_publishers(slugs: Sequence[str]) -> list[Publisher]:
    found = {publisher.slug: publisher for publisher in Publisher.objects.live().filter(slug__in=slugs)}
    if strange := [slug for slug in slugs if slug not in found]:
        raise CommandError(f"There is no publisher {', '.join(strange)}. {NOTHING} `publishers list` names them all.")
    return [found[slug] for slug in dict.fromkeys(slugs)]


def _day(raw: str) -> dt.date:
    day = dt.date.fromisoformat(raw)
    if day > timezone.now().date():
        raise ValueError(raw)
    return day


def _json(raw: str) -> Any:
    return orjson.loads(raw)


def _number(raw: str) -> int:
    number = int(raw)
    if number < 0:
        raise ValueError(raw)
    return number

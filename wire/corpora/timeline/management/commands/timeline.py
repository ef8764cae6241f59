"""Check corpora, load and dump them, prove that releases are unchanged, and keep the wire's own up to date."""

from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from config.command_base import WireCommand
from config.database.fault_explanations import explain_errors
from wire.corpora.timeline import corpus_files, dump, load, omitted_names, store, verify, wire_sync
from wire.corpora.timeline.corpus_config import KINDS
from wire.corpora.timeline.corpus_files import RefusedCorpus
from wire.corpora.timeline.models import Corpus
from wire.corpora.timeline.queries.scope import get_scope
from wire.corpora.timeline.validation import build_row_key

NOTHING: Final = "Nothing was changed."


class Command(WireCommand):
    help = (
        "Timeline corpora: begin a directory, check it, load it as a release, dump a release, verify releases, compare two, update "
        "the wire's own. Exit status: 0 done, 1 refused or not as it was signed, 75 the desk has unreleased changes."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="new|check|load|dump|verify|compare|sync|list|name")
        new = actions.add_parser("new", help="Write a small valid corpus to fill in; nothing is stored.")
        new.add_argument("directory", type=Path, metavar="DIR")
        new.add_argument("--kind", choices=sorted(KINDS), default="news", help="Vocabulary to start with.")
        check = actions.add_parser("check", help="List every rule that a directory breaks, by file and line; nothing is stored.")
        check.add_argument("directory", type=Path, metavar="DIR")
        load = actions.add_parser("load", help="Load a directory as the corpus's next release, whole or not at all.")
        load.add_argument("directory", type=Path, metavar="DIR")
        load.add_argument("--note", default="", metavar="TEXT", help="What this release is; public.")
        load.add_argument("--discard", action="store_true", help="Discard unreleased changes of the desk.")
        for one in (check, load):
            one.add_argument("--slug", default="", metavar="SLUG", help="Slug if DIR has no corpus.json; default: the name of DIR.")
        dump = actions.add_parser("dump", help="Write a release to a directory that can be loaded again, byte for byte.")
        dump.add_argument("slug", metavar="SLUG")
        dump.add_argument("directory", type=Path, metavar="DIR")
        dump.add_argument("--as-of", type=int, metavar="N", help="Number of a release; default: the newest.")
        verify = actions.add_parser("verify", help="Recompute every release: rows, hashes, chain, signatures, statistics.")
        verify.add_argument("slugs", nargs="*", metavar="SLUG", help="Default: all.")
        verify.add_argument("--from-files", type=Path, metavar="DIR", help="A dumped directory instead of the database.")
        verify.add_argument("--key", metavar="BASE64", help="The public key to trust, with --from-files.")
        compare = actions.add_parser("compare", help="Show what differs between two releases, row by row.")
        compare.add_argument("slug", metavar="SLUG")
        compare.add_argument("old", type=int, metavar="N")
        compare.add_argument("new", metavar="M|DIR|draft", help="Another release, a directory, or `draft`: what the next would be.")
        sync = actions.add_parser("sync", help="Update the wire's own corpus from what is published.")
        sync.add_argument("--sample", action="store_true", help="Also load the small invented corpus that ships with the wire.")
        actions.add_parser("list", help="List all corpora.")
        actions.add_parser("name", help="Read a name that is to be left out; print its entry for corpus.json.")

    def handle(self, **options: Any) -> None:
        needs_no_database = options["action"] in {"new", "check"} or options.get("from_files")
        with nullcontext() if needs_no_database else explain_errors():
            try:
                getattr(self, f"_handle_{options['action']}")(options)
            except RefusedCorpus as refused:
                for problem in refused.problems:
                    self.stderr.write(str(problem))
                number = len(refused.problems)
                raise CommandError(f"{number} {'problem' if number == 1 else 'problems'}. {NOTHING}") from refused

    def _handle_new(self, options: dict[str, Any]) -> None:
        directory = options["directory"]
        try:
            corpus = load.write_example(directory, options["kind"])
        except OSError as error:
            why = "has files already" if isinstance(error, FileExistsError) else f"cannot be written: {error.strerror}"
            raise CommandError(f"{directory} {why}. Nothing was written; name another directory.") from error
        self.stdout.write(f"{corpus.slug} is in {directory}. Fill it in, then run manage.py timeline check {directory}")

    def _handle_check(self, options: dict[str, Any]) -> None:
        written, corpus = load.check_directory(options["directory"], options["slug"])
        rows = ", ".join(f"{len(rows):,} {table}" for table, rows in written.rows.items())
        self.stdout.write(f"{corpus.slug} keeps every rule: {rows}.")

    def _handle_load(self, options: dict[str, Any]) -> None:
        self._print_result(load.load_directory(options["directory"], options["slug"], options["note"], discard=options["discard"]))

    def _print_result(self, loaded: load.LoadResult) -> None:
        slug = loaded.corpus.slug
        if loaded.release is None:
            self.stdout.write(f"Timeline corpus {slug}: nothing new; its newest release is {loaded.corpus.release or 'none'}.")
            return
        parts = [f"{table} {', '.join(f'{n:,} {what}' for what, n in counted.items())}" for table, counted in loaded.counts.items()]
        counts = "; ".join(parts) or "corpus.json changed"
        self.stdout.write(f"{slug} release {loaded.release.number}: {counts}. SHA-256 {loaded.release.sha256}")

    def _handle_dump(self, options: dict[str, Any]) -> None:
        scope = get_scope(options["slug"], options["as_of"])
        paths = dump.dump_release(scope.corpus, scope.release, options["directory"])
        self.stdout.write(f"{scope.corpus.slug} release {scope.number}: {len(paths)} files in {options['directory']}.")

    def _handle_verify(self, options: dict[str, Any]) -> None:
        if directory := options["from_files"]:
            faults = list(verify.list_file_faults(corpus_files.read_directory(directory), options["key"]))
            results = [(f"{directory} is as it was released.", faults)]
        else:
            results = []
            for corpus in [get_scope(slug).corpus for slug in options["slugs"]] or Corpus.objects.all():
                faults = [f"{corpus.slug}: {fault}" for fault in verify.list_corpus_faults(corpus)]
                results.append((f"{corpus.slug}: releases checked: {corpus.releases.count()}, each as it was signed.", faults))
        for sound, faults in results:
            for fault in faults:
                self.stderr.write(fault)
            if not faults:
                self.stdout.write(sound)
        if number := sum(len(faults) for _, faults in results):
            raise CommandError(f"{number} {'fault' if number == 1 else 'faults'}.")

    def _handle_compare(self, options: dict[str, Any]) -> None:
        scope, new = get_scope(options["slug"], options["old"]), options["new"]
        corpus = scope.corpus
        old = store.read_rows(corpus, scope.number)
        if new == "draft" or new.isdigit():
            rows = store.read_rows(corpus, get_scope(corpus.slug, int(new)).number if new.isdigit() else None)
        else:
            written = load.check_directory(Path(new), corpus.slug)[0].rows
            rows = {table: {build_row_key(table, row): row for row in some} for table, some in written.items()}
        counted = Counter[str]()
        for one in store.list_differences(old, rows):
            counted[one.what] += 1
            self.stdout.write(str(one))
        self.stdout.write(f"{corpus.slug}: {', '.join(f'{n} {what}' for what, n in sorted(counted.items())) or 'no difference'}.")

    def _handle_sync(self, options: dict[str, Any]) -> None:
        if options["sample"]:
            self._print_result(load.load_directory(Path(settings.BASE_DIR) / "fixtures" / "timeline"))
        loaded = wire_sync.synchronise_corpus()
        if loaded is None:
            why = "The desk has unreleased changes to the wire's corpus; it stays as it is until they are released."
            raise load.Unreleased(why)
        self._print_result(loaded)

    def _handle_list(self, _options: dict[str, Any]) -> None:
        for corpus in Corpus.objects.all():
            self.stdout.write(f"{corpus.slug}\trelease {corpus.release}\t{corpus.name}")

    def _handle_name(self, _options: dict[str, Any]) -> None:
        try:
            found = omitted_names.hash_name(input())
        except (ValueError, EOFError) as error:
            raise CommandError(str(error) or "Write the name on standard input.") from error
        self.stdout.write(found.model_dump_json())

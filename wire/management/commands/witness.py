from argparse import ArgumentParser
from functools import partial
from typing import Any

from django.core.management.base import CommandError

from config.command_base import WireCommand
from config.database import fault_explanations
from sources.fetch.fetch_all import fetch_once
from wire.ingest.feed_entries import get_fetch_policy
from wire.publishing.transparency.witness import witness_log


class Command(WireCommand):
    help = (
        "Check the log of each wire given; sign its checkpoint if it still holds all that was seen before. The signature is served "
        "at /api/log/witnessed.json. Run it as often as the other wire publishes."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("urls", nargs="+", metavar="URL", help="the other wire's site, such as https://wire.example")

    def handle(self, *, urls: list[str], **_options: Any) -> None:
        wrong = []
        for url in urls:
            try:
                with fault_explanations.explain_errors():
                    seen = witness_log(url, partial(fetch_once, policy=get_fetch_policy()))
                self.stdout.write(f"{seen.origin}: {seen.size} snapshots, including all seen before. Signed.")
            except CommandError as error:
                wrong.append(str(error))
        if wrong:
            raise CommandError("\n".join(wrong))

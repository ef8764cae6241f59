from dataclasses import asdict
from typing import Any

import orjson
from django.core.management.base import CommandParser

from config.command_base import WireCommand
from wire.ops.doctor import Level, run_checks


class Command(WireCommand):
    help = "Check settings, database, roster, keys, clock, feeds, disk and the chain's last link. Exit 0, or 1 if a check FAILs."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="Print one JSON object instead of lines.")

    def handle(self, **options: Any) -> None:
        findings = []
        for finding in run_checks():
            findings.append(finding)
            if not options["json"]:
                self.stdout.write(str(finding))
        is_well = all(finding.level != Level.FAIL for finding in findings)
        if options["json"]:
            self.stdout.write(orjson.dumps({"ok": is_well, "checks": [asdict(finding) for finding in findings]}).decode())
        if not is_well:
            raise SystemExit(1)

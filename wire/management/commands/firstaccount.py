import sys
from typing import Any

from django.core.management.base import BaseCommand

from wire import permissions


class Command(BaseCommand):
    help = "Open the account `editor`, with the password on standard input, unless the wire has a user. Says so if it did."

    def handle(self, **_options: Any) -> None:
        if permissions.open_first_account(sys.stdin.read()):
            self.stdout.write("opened")

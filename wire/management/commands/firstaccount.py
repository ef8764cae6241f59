import sys
from typing import Any

from django.core.management.base import CommandError

from config.command_base import WireCommand
from config.errors import WireError
from wire import permissions


class Command(WireCommand):
    help = "Open the account `editor` unless the wire has a user; the password is the first line of standard input. Says if it did."

    def handle(self, **_options: Any) -> None:
        try:
            is_opened = permissions.open_first_account(sys.stdin.readline().strip())
        except WireError as error:
            raise CommandError(f"{error} {error.hint} No account was made.") from error
        self.stdout.write(
            permissions.FIRST_ACCOUNT_READY
            if is_opened
            else "Nothing was changed: there is an account already. manage.py changepassword NAME sets a password."
        )

import getpass
import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser

from config.command_base import WireCommand
from config.errors import WireError
from wire import permissions


class Command(WireCommand):
    help = (
        "Create a desk account. Asks for the password twice; without a terminal, reads it from the first line of standard input. "
        "Refuses an empty, short or common one, and a name that is taken (manage.py changepassword NAME gives a new password)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--publisher", action="store_true", help="Also change feeds and replace publications.")

    def handle(self, *, name: str, publisher: bool, **_options: Any) -> None:
        try:
            permissions.expect_new_name(name.strip())
            permissions.create_editor(name.strip(), self._ask(), publisher=publisher)
        except WireError as error:
            raise CommandError(f"{error} {error.hint} No account was made.") from error
        groups = "editor and publisher" if publisher else "editor"
        self.stdout.write(f"{name.strip()} may log in at /admin/, in the group {groups}.")

    def _ask(self) -> str:
        if not sys.stdin.isatty():
            return sys.stdin.readline().strip()
        password = getpass.getpass()
        if getpass.getpass("Password again: ") != password:
            raise CommandError("The passwords differ. No account was made.")
        return password

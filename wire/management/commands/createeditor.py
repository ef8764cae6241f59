import getpass
import subprocess
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from config.command_base import WireCommand
from config.errors import WireError
from wire import permissions, sample_switch


class Command(WireCommand):
    help = (
        "Create a desk account, also in the sample wire if there is one. Asks for the password twice; without a terminal, reads it "
        "from the first line of standard input. Refuses an empty, short or common password and a name that is taken (manage.py "
        "changepassword NAME gives a new password)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--publisher", action="store_true", help="May also change feeds and replace publications.")

    def handle(self, *, name: str, publisher: bool, **_options: Any) -> None:
        try:
            permissions.validate_new_username(name.strip())
            password = self._ask_password()
            permissions.create_editor(name.strip(), password, publisher=publisher)
        except WireError as error:
            raise CommandError(f"{error} {error.hint} No account was made.") from error
        groups = "editor and publisher" if publisher else "editor"
        self.stdout.write(f"In the live wire: {name.strip()} may log in at /admin/, in the group{'s' * publisher} {groups}.")
        if (sample_switch.get_sample_dir() / "wire.sqlite3").exists():  # the desk may be showing that wire
            arguments = [sys.executable, str(settings.BASE_DIR / "manage.py"), "createeditor", name, *["--publisher"] * publisher]
            env = sample_switch.build_sample_environment()
            ran = subprocess.run(arguments, env=env, check=False, input=password, capture_output=True, text=True)  # noqa: S603
            self.stdout.write(f"In the sample wire: {ran.stderr.strip() if ran.returncode else 'the same account.'}")
        elif sample_switch.is_sample_wanted():
            self.stdout.write(
                "`serve` shows the sample wire first, which has its own accounts. For the live wire: manage.py sample off"
            )

    def _ask_password(self) -> str:
        if not sys.stdin.isatty():
            return sys.stdin.readline().strip()
        password = getpass.getpass()
        if getpass.getpass("Password again: ") != password:
            raise CommandError("The passwords differ. No account was made.")
        return password

"""Files that were shown and wait to be confirmed: the import library's storage, which would read any file of the machine."""

import os
import re
import secrets
import time
from pathlib import Path
from typing import Any, Final

from django.conf import settings

KEPT_SECONDS: Final = 86_400
NAME: Final = re.compile(r"[0-9a-f]{32}")


class ImportStorage:
    """One uploaded file, in a folder of its own that all workers share, under a name that nobody can guess.

    The methods are those that `import_export` asks of `IMPORT_EXPORT_TMP_STORAGE_CLASS`.
    """

    def __init__(self, *, name: str | None = None, read_mode: str = "r", encoding: str | None = None, **_options: Any) -> None:
        self.name, self.read_mode, self.encoding = name, read_mode, encoding

    def save(self, data: bytes) -> None:
        """Keep `data` under a new name, readable by its owner alone; what nobody confirmed within a day goes."""
        folder = _folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _forget(folder, before=time.time() - KEPT_SECONDS)
        self.name = secrets.token_hex(16)
        with os.fdopen(os.open(folder / self.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)

    def read(self) -> Any:
        """What was saved: bytes or text, as the file's format asks. Raises: FileNotFoundError for any other name."""
        with self._path().open(self.read_mode, encoding=self.encoding) as file:
            return file.read()

    def remove(self) -> None:
        self._path().unlink(missing_ok=True)

    def _path(self) -> Path:
        if not NAME.fullmatch(self.name or ""):
            raise FileNotFoundError("Not a name that an import is kept under.")
        return _folder() / str(self.name)


def _folder() -> Path:
    return Path(settings.WIRE_DATA_DIR) / "imports"


def _forget(folder: Path, *, before: float) -> None:
    for file in folder.iterdir():
        try:
            if file.stat().st_mtime < before:
                file.unlink()
        except FileNotFoundError:
            continue  # another worker was first

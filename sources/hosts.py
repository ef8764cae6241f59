"""What is known of the hosts that are asked, kept between runs: robots.txt, and until when one asked to be left alone."""

from dataclasses import fields, replace

from sources.fetch import HostNote
from sources.models import FetchHost

_COLUMNS = [field.name for field in fields(HostNote)]


class HostNotes(dict[str, HostNote]):
    """By host. `save` writes what changed since it was loaded or saved last."""

    def __init__(self) -> None:
        super().__init__(
            (row.host, HostNote(**{column: getattr(row, column) for column in _COLUMNS})) for row in FetchHost.objects.all()
        )
        self._saved = self._copy()

    def save(self) -> None:
        now = self._copy()
        changed = [
            FetchHost(host=host, **{column: getattr(note, column) for column in _COLUMNS})
            for host, note in now.items()
            if note != self._saved.get(host)
        ]
        if changed:
            FetchHost.objects.bulk_create(changed, update_conflicts=True, unique_fields=["host"], update_fields=_COLUMNS)
        self._saved = now

    def _copy(self) -> dict[str, HostNote]:
        return {host: replace(note) for host, note in list(self.items())}  # the fetching thread goes on meanwhile

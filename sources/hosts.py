"""State of hosts, stored between runs: robots.txt, and until when one asked to be left alone."""

from dataclasses import asdict, fields

from sources.fetch import HostNote
from sources.models import FetchHost

_COLUMNS = [field.name for field in fields(HostNote)]


class HostNotes(dict[str, HostNote]):
    """Notes by host. `save` writes those that changed since they were loaded or saved last."""

    def __init__(self) -> None:
        self._saved = {row.pop("host"): row for row in FetchHost.objects.values("host", *_COLUMNS)}
        super().__init__((host, HostNote(**row)) for host, row in self._saved.items())

    def save(self) -> None:
        now = {host: asdict(note) for host, note in list(self.items())}  # the fetching thread goes on meanwhile
        changed = [FetchHost(host=host, **row) for host, row in now.items() if row != self._saved.get(host)]
        if changed:
            FetchHost.objects.bulk_create(changed, update_conflicts=True, unique_fields=["host"], update_fields=_COLUMNS)
        self._saved = now

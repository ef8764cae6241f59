"""Houses that publications belong to. Two reports of one house are one voice."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from sources.models import Publication


@dataclass(frozen=True, slots=True)
class Houses:
    """Owners by publication, each with the UTC date from which it holds (None: as long as the wire has known the publication)."""

    owners: Mapping[str, tuple[str, dt.date | None]]

    @classmethod
    def load(cls) -> "Houses":
        rows = Publication.objects.exclude(owner="").order_by().values_list("name", "owner", "owner_since")
        return cls({name: (owner, since) for name, owner, since in rows})

    def of(self, publication: str, moment: dt.datetime) -> str:
        """Return the house that a publication, perhaps retired, belonged to at that moment; "" for none that is known."""
        owner, since = self.owners.get(publication, ("", None))
        return owner if since is None or moment.astimezone(dt.UTC).date() >= since else ""

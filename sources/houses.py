"""Which house publications belong to. What one house prints twice is said by one voice."""

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
        """As the roster has them now, retired publications included."""
        rows = Publication.objects.exclude(owner="").order_by().values_list("name", "owner", "owner_since")
        return cls({name: (owner, since) for name, owner, since in rows})

    def of(self, publication: str, moment: dt.datetime) -> str:
        """The house that a publication belonged to at that moment; "" for none that is known."""
        owner, since = self.owners.get(publication, ("", None))
        return owner if since is None or moment.astimezone(dt.UTC).date() >= since else ""

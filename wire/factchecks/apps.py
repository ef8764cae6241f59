import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from wire import beside


def found(**_kwargs: Any) -> None:
    from wire.factchecks import storing

    storing.found()


def of_story(story_id: str) -> Sequence[Any]:
    from wire.factchecks import queries

    return queries.beside(story_id)


def examine(now: dt.datetime) -> Iterable[Any]:
    from wire.factchecks import health

    return health.examine(now)


class FactchecksConfig(AppConfig):
    name = "wire.factchecks"
    label = "factchecks"
    verbose_name = "Fact-checks"

    def ready(self) -> None:
        # Django's own hook for reference data: a migrated database has the table of rating labels, also after a flush.
        beside.OF_STORY["factchecks"] = of_story
        beside.CHECKS["fact-checks"] = examine
        post_migrate.connect(found, sender=self, dispatch_uid="factchecks.found")

    def has_content(self) -> bool:
        """Whether any claim was loaded."""
        from wire.factchecks.models import Claim

        return Claim.objects.exists()

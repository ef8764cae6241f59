from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


def found_own(**_kwargs: Any) -> None:
    from wire.articles import own

    own.found()


class ArticlesConfig(AppConfig):
    name = "wire.articles"
    label = "articles"
    verbose_name = "Publisher content"

    def ready(self) -> None:
        # Django's own hook for reference data: a migrated database has the wire's own publisher, also after a flush.
        post_migrate.connect(found_own, sender=self, dispatch_uid="articles.found_own")

    def has_content(self) -> bool:
        """Whether there is a publisher beside the wire's own."""
        from wire.articles.models import OWN, Publisher

        return Publisher.objects.live().exclude(slug=OWN).exists()

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from config import plugins


def create_own_publisher(**_kwargs: Any) -> None:
    from wire.corpora.articles import house_publisher

    house_publisher.create_publisher()


class ArticlesConfig(AppConfig):
    name = "wire.corpora.articles"
    label = "articles"
    verbose_name = "Publisher content"

    def ready(self) -> None:
        plugins.register(self.name)
        # Django's own hook for reference data: a migrated database has the wire's own publisher, also after a flush.
        post_migrate.connect(create_own_publisher, sender=self, dispatch_uid="articles.found_own")

    def has_content(self) -> bool:
        """Return whether there is a publisher beside the wire's own."""
        from wire.corpora.articles.models import OWN, Publisher

        return Publisher.objects.live().exclude(slug=OWN).exists()

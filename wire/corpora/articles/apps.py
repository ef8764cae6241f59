from config import plugins


class ArticlesConfig(plugins.PluginConfig):
    name = "wire.corpora.articles"
    label = "articles"
    verbose_name = "Publisher content"
    create_rows = "wire.corpora.articles.house_publisher.create_publisher"

    def has_content(self) -> bool:
        """Return whether there is a publisher beside the wire's own."""
        from wire.corpora.articles.models import OWN, Publisher

        return Publisher.objects.live().exclude(slug=OWN).exists()

from config import plugins


class TimelineConfig(plugins.PluginConfig):
    name = "wire.corpora.timeline"
    label = "timeline"
    verbose_name = "Timeline corpora"

    def has_content(self) -> bool:
        """Tell whether there is a corpus beside the wire's own."""
        from wire.corpora.timeline.models import Corpus

        return Corpus.objects.exclude(slug="wire").exists()

from django.apps import AppConfig


class TimelineConfig(AppConfig):
    name = "wire.timeline"
    label = "timeline"
    verbose_name = "Timeline corpora"

    def has_content(self) -> bool:
        """Whether there is a corpus beside the wire's own."""
        from wire.timeline.models import Corpus

        return Corpus.objects.exclude(slug="wire").exists()

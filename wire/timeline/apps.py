from django.apps import AppConfig


class TimelineConfig(AppConfig):
    name = "wire.timeline"
    label = "timeline"
    verbose_name = "Timeline corpora"

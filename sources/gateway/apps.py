from django.apps import AppConfig


class GatewayConfig(AppConfig):
    name = "sources.gateway"
    label = "gateway"
    verbose_name = "Resource gateway"

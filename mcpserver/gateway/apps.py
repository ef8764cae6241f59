from django.apps import AppConfig

from config import plugins


class GatewayConfig(AppConfig):
    name = "mcpserver.gateway"
    label = "gateway"
    verbose_name = "Resource gateway"

    def ready(self) -> None:
        plugins.register(self.name)

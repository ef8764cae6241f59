from config import plugins


class GatewayConfig(plugins.PluginConfig):
    name = "mcpserver.gateway"
    label = "gateway"
    verbose_name = "Resource gateway"

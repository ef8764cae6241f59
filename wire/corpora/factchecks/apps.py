from config import plugins


class FactchecksConfig(plugins.PluginConfig):
    name = "wire.corpora.factchecks"
    label = "factchecks"
    verbose_name = "Fact-checks"
    create_rows = "wire.corpora.factchecks.store.create_defaults"

    def has_content(self) -> bool:
        """Tell whether any claim was loaded."""
        from wire.corpora.factchecks.models import Claim

        return Claim.objects.exists()

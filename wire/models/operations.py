"""Counts of calls, with nothing about callers; loads under way and what a hub was told, so that both go on where they stopped."""

from django.db import models

from sources.models import Leased


class Load(models.Model):
    """Progress of `loadwire` in one input, written in the transaction of the batch it counts; gone once it is through."""

    name = models.CharField(max_length=500)
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the input's bytes and of the map.")
    line = models.PositiveBigIntegerField(default=0, help_text="Lines (or items) processed.")
    counts = models.JSONField(default=dict, help_text="Outcomes so far, by name.")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.name}: line {self.line}"


class UsageCount(models.Model):
    server = models.CharField(max_length=20, default="wire", help_text="The MCP server, by its name in mcpserver.servers.SERVERS.")
    kind = models.CharField(max_length=20, help_text="tools/call, resources/read or prompts/get.")
    name = models.CharField(max_length=60)
    minute = models.DateTimeField()
    outcome = models.CharField(max_length=10, help_text="success or error.")
    count = models.PositiveIntegerField()

    class Meta:
        ordering = ["-minute", "server", "kind", "name"]
        constraints = [models.UniqueConstraint(fields=["server", "kind", "name", "minute", "outcome"], name="usage_once")]
        indexes = [models.Index(fields=["minute"], name="usage_minute")]

    def __str__(self) -> str:
        return f"{self.name} {self.minute:%Y-%m-%d %H:%M} {self.outcome}: {self.count}"


class HubState(Leased):
    """The only row: how far the WebSub hub knows the log of changes. `error`: what it said last to what it did not take."""

    url = models.CharField(
        max_length=500, blank=True, help_text="The hub that was notified; a new one starts at the end of the log."
    )
    epoch = models.CharField(max_length=16, blank=True, help_text="The log of changes that `number` counts in.")
    number = models.PositiveBigIntegerField(default=0, help_text="The last change that the hub was notified of.")
    failures = models.PositiveIntegerField(default=0, help_text="Passes in a row without an answer.")
    next_try_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="hub_state_is_one_row")]

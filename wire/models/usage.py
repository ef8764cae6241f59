"""Counts of calls of each tool, resource and prompt; nothing about callers."""

from django.db import models


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

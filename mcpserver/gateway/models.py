"""The gateway's tables: agents, cached answers, limits, states of upstreams, and the log of requests."""

from functools import cached_property
from typing import Any, Final

import orjson
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models

from mcpserver.gateway.process_context import AHEAD, ProcessContext, measure_clock_step
from mcpserver.upstreams.config import FOREVER

_NAME: Final = RegexValidator(r"^[a-z][a-z0-9-]{0,39}$", "Small letters, digits and hyphens.")

_LONGEST: Final = 200  # characters of a grant, or of an attribute


def _is_short_printable(value: Any) -> bool:
    """Return whether this is a short text of characters that can be printed: every database stores it."""
    return isinstance(value, str) and len(value) <= _LONGEST and (value == "" or value.isprintable())


def _check_grants(value: Any) -> None:
    if not isinstance(value, list) or not all(_is_short_printable(one) and "://" in one and one.endswith("/") for one in value):
        raise ValidationError('A list of address prefixes, each ending in a slash: ["twitter://", "market://crypto/"].')


def _check_attributes(value: Any) -> None:
    if not isinstance(value, dict) or not all(_is_short_printable(one) for one in (*value.keys(), *value.values())):
        raise ValidationError(f'Texts by name, at most {_LONGEST} printable characters each: {{"twitter_id": "12345"}}.')


class Agent(models.Model):
    """A reader of more than the public resources, known by a key, of which only the hash is stored."""

    name = models.CharField(
        max_length=40, unique=True, validators=[_NAME], help_text="Shown in logs and charts. It cannot be changed later."
    )
    token_sha256 = models.CharField(max_length=64, unique=True, editable=False)
    grants = models.JSONField(
        default=list, validators=[_check_grants], help_text='Prefixes of addresses that it may read: ["twitter://", "market://"].'
    )
    share = models.PositiveSmallIntegerField(
        default=100,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
        help_text="The most that this agent may use of each upstream's limit, in percent.",
    )
    attributes = models.JSONField(
        default=dict,
        blank=True,
        validators=[_check_attributes],
        help_text='Values for its own requests: {"twitter_id": "12345"}.',
    )
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True, help_text="Its key stopped working then.")

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Override(models.Model):
    """A number of the policy that the desk set otherwise. Commands, addresses and chains stay the file's."""

    resource = models.CharField(max_length=60)
    number = models.CharField(
        "setting",
        max_length=20,
        choices=[(name, name) for name in ("limit", "min_interval", "ttl", "stale", "timeout", "attempts", "cost")],
    )
    value = models.FloatField(help_text="Times in seconds.")
    note = models.CharField(max_length=200, blank=True, help_text="The reason; only the desk sees it.")

    class Meta:
        ordering = ["resource", "number"]
        constraints = [models.UniqueConstraint(fields=["resource", "number"], name="gateway_override_once")]

    def __str__(self) -> str:
        return f"{self.resource}: {self.number} {self.value:g}"


class Entry(models.Model):
    """An answer of an upstream, for as long as it may be given again. Times are seconds since 1970."""

    key = models.CharField(max_length=64, primary_key=True)
    resource = models.CharField(max_length=60)
    agent = models.CharField(max_length=40, blank=True, help_text="The agent it is for; no other is given it. Empty: anybody.")
    attributes_sha256 = models.CharField(
        max_length=64, blank=True, default="", help_text="Hash of its agent's attributes; if they change, the answer is not reused."
    )
    uri = models.CharField(max_length=2_000)
    body = models.BinaryField(help_text="The data as JSON.")
    sha256 = models.CharField(max_length=64)
    size = models.PositiveIntegerField()
    count = models.PositiveIntegerField()
    upstream = models.CharField(max_length=60)
    untrusted = models.BooleanField(default=False)
    marker = models.CharField(max_length=100, blank=True)
    note = models.CharField(max_length=500, blank=True)
    fetched_at = models.FloatField()
    steady_at = models.FloatField(null=True, help_text="The same moment in seconds since the machine booted.")
    boot = models.CharField(max_length=36, blank=True, default="", help_text="Boot id that steady_at belongs to.")
    fresh_until = models.FloatField()
    gone_after = models.FloatField(db_index=True)
    used_at = models.FloatField(db_index=True)
    touched_at = 0.0  # when this process last noted that it is in use

    class Meta:
        verbose_name_plural = "entries"
        ordering = ["-fetched_at"]
        indexes = [models.Index(fields=["resource", "agent"], name="gateway_entry_of")]

    def __str__(self) -> str:
        return self.uri

    @cached_property
    def data(self) -> Any:
        """The body as JSON values, which nobody changes."""
        return orjson.loads(bytes(self.body))

    def follow_clock(self, context: ProcessContext) -> None:
        """Move its times by what the wall clock stepped since it was fetched: its age stays what it is."""
        if step := measure_clock_step(self.fetched_at, self.steady_at, self.boot, context.now(), context.steady()):
            self.fetched_at += step
            self.fresh_until += step
            self.gone_after += step

    def has_unknown_age(self, now: float) -> bool:
        return self.fetched_at > now + AHEAD

    def is_fresh(self, now: float, marker: str) -> bool:
        """Return whether it is within its TTL, and made of what would be used now; an unknown marker counts as the same."""
        return now < self.fresh_until and not self.has_unknown_age(now) and marker in ("", self.marker or marker)

    def is_usable(self, now: float) -> bool:
        """Return whether it is in its stale window. Without a known age only an entry without an end is."""
        return now < self.gone_after and (not self.has_unknown_age(now) or self.gone_after - self.fetched_at >= FOREVER)


class Bucket(models.Model):
    """The sliding log of one limit: when an upstream was asked, in microseconds since 1970 as packed 64-bit numbers."""

    name = models.CharField(max_length=200, primary_key=True)
    log = models.BinaryField(default=b"")
    used_at = models.FloatField(default=0.0)
    steady_at = models.FloatField(null=True, help_text="`used_at` in seconds since the machine booted.")
    boot = models.CharField(max_length=36, blank=True, default="", help_text="Boot id that steady_at belongs to.")

    def __str__(self) -> str:
        return self.name


class UpstreamState(models.Model):
    """The state of an upstream, as the process that asked it last saw it."""

    name = models.CharField(max_length=60, primary_key=True)
    circuit = models.CharField(max_length=10, default="closed")
    failures = models.PositiveIntegerField(default=0)
    resets = models.PositiveIntegerField(default=0, help_text="Every process closes its circuit when this rises.")
    opened_until = models.DateTimeField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    failed_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=40, blank=True)
    detail = models.CharField(max_length=300, blank=True)

    class Meta:
        verbose_name = "upstream"
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class RequestLog(models.Model):
    """A request and how it was answered. The oldest go when there are too many."""

    request_id = models.CharField("request ID", max_length=32, unique=True)
    timestamp = models.DateTimeField(db_index=True)
    resource = models.CharField(max_length=60, db_index=True)
    agent_id = models.CharField("agent ID", max_length=40, blank=True)
    asked = models.CharField(max_length=2_000)
    answered = models.CharField(max_length=2_000, blank=True)
    outcome = models.CharField(max_length=10)
    upstream = models.CharField(max_length=60, blank=True)
    duration_ms = models.FloatField()
    cache_hit = models.BooleanField()
    result_count = models.IntegerField(null=True)
    error_code = models.CharField(max_length=40, null=True)  # noqa: DJ001  the log's field is null without an error
    retry_attempt = models.PositiveSmallIntegerField()
    rate_limit_remaining = models.IntegerField(null=True)
    cost_units = models.FloatField()
    stale_s = models.FloatField()
    sha256 = models.CharField("SHA-256", max_length=64, blank=True)
    attempts = models.JSONField(default=list)

    class Meta:
        ordering = ["-timestamp"]
        verbose_name = "request"

    def __str__(self) -> str:
        return self.request_id


class CallCount(models.Model):
    """Calls of one agent for one resource in one hour, by outcome. Kept for ever."""

    hour = models.DateTimeField()
    agent_id = models.CharField("agent ID", max_length=40, blank=True)
    resource = models.CharField(max_length=60)
    outcome = models.CharField(max_length=10)
    calls = models.PositiveIntegerField()
    upstream_calls = models.PositiveIntegerField(default=0)
    cost_units = models.FloatField(default=0.0)

    class Meta:
        verbose_name = "hourly call count"
        ordering = ["-hour"]
        constraints = [models.UniqueConstraint(fields=["hour", "agent_id", "resource", "outcome"], name="gateway_count_once")]

    def __str__(self) -> str:
        return f"{self.resource} {self.hour:%Y-%m-%d %H}h {self.outcome}: {self.calls}"


class Heartbeat(models.Model):
    """A heartbeat that was fetched. Its instructions are data: nothing here executes any."""

    class Verdict(models.TextChoices):
        SIGNED = "signature", "signed by the pinned key"
        INTACT = "integrity_only", "checksums match, no key is pinned"
        REJECTED = "rejected", "rejected"

    agent_id = models.CharField("agent ID", max_length=40, help_text="The agent's id in the network.")
    key = models.CharField(max_length=64, blank=True, default="", help_text="Hash of the request answered and of who asked.")
    heartbeat_id = models.CharField("heartbeat ID", max_length=40)
    timestamp = models.DateTimeField()
    received_at = models.DateTimeField()
    verdict = models.CharField(max_length=20, choices=Verdict.choices)
    reason = models.CharField(max_length=300, blank=True)
    status_required = models.CharField(max_length=20, blank=True)
    body = models.JSONField()
    data = models.BinaryField(default=b"", help_text="What was handed out, byte for byte.")
    untrusted = models.BooleanField(default=False)

    class Meta:
        ordering = ["-received_at"]
        indexes = [
            models.Index(fields=["agent_id", "-timestamp"], name="gateway_heartbeat_of"),
            models.Index(fields=["key", "-received_at"], name="gateway_heartbeat_by_key"),
        ]

    def __str__(self) -> str:
        return f"{self.heartbeat_id} {self.verdict}"

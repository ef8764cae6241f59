"""The resource gateway at the desk: agents, states of upstreams, requests, and overrides of the policy's numbers."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from unfold.widgets import UnfoldAdminTextareaWidget

from mcpserver.gateway import auth, request_log, runtime
from mcpserver.gateway.models import Agent, CallCount, Heartbeat, Override, RequestLog, UpstreamState
from mcpserver.gateway.resource_policy import PolicyError, load
from wire.admin.base import FreshAdmin, FreshForm, ModelAdmin, ReadOnly, action, count, marks, never, remember


class Lines(forms.Field):
    """A text of lines, for what the table holds as JSON."""

    def __init__(self, help_text: str) -> None:
        super().__init__(required=False, help_text=help_text, widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}))

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, dict):
            value = [f"{name}={text}" for name, text in value.items()]
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:
        return [line.strip() for line in (value or "").splitlines() if line.strip()]


class AgentForm(FreshForm[Agent]):
    grants = Lines("Beginnings of addresses that it may read, one a line, each ending in a slash: twitter:// or mcp://files/.")
    attributes = Lines("What questions of its own need, one a line: twitter_id=12345.")

    class Meta:
        model = Agent
        fields = ("name", "grants", "share", "attributes")

    def clean_attributes(self) -> dict[str, str]:
        lines: list[str] = self.cleaned_data["attributes"]
        if wrong := next((line for line in lines if "=" not in line), None):
            raise forms.ValidationError(f"{wrong}: NAME=VALUE is needed.")
        return {name.strip(): text.strip() for name, text in (line.split("=", 1) for line in lines)}


@admin.register(Agent)
class AgentAdmin(FreshAdmin[Agent]):
    """A key is shown once, when it is made. Running servers notice a change within five seconds."""

    form = AgentForm
    list_display = ("name", "its_grants", "share", "created_at", "status")
    fields = ("name", "grants", "share", "attributes", "created_at", "revoked_at", "seen")
    actions = ("rotate", "revoke")
    has_delete_permission = never

    def get_readonly_fields(self, _request: HttpRequest, obj: Agent | None = None) -> tuple[str, ...]:
        return ("created_at", "revoked_at", *(("name",) if obj else ()))

    def save_model(self, request: HttpRequest, obj: Agent, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
        else:
            self._show_key(request, obj)

    @admin.action(description="Make a new key; the one before opens nothing any more", permissions=["change"])
    def rotate(self, request: HttpRequest, queryset: QuerySet[Agent]) -> None:
        for agent in queryset:
            self._show_key(request, agent)
        remember(request, queryset, "A new key was made.")

    @admin.action(description="Revoke the keys of selected agents", permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Agent]) -> None:
        chosen = list(queryset.filter(revoked_at=None))
        auth.revoke(queryset)
        remember(request, chosen, "Revoked.")
        self.message_user(request, f"Revoked: {count(len(chosen), 'key', 'keys')}.")

    def _show_key(self, request: HttpRequest, agent: Agent) -> None:
        self.message_user(request, f"The key of {agent.name}, shown this once: {auth.issue_key(agent)}", messages.WARNING)

    @admin.display(description="May read")
    def its_grants(self, agent: Agent) -> str:
        return ", ".join(["news://", *agent.grants])

    @admin.display(description="Status")
    def status(self, agent: Agent) -> str:
        return marks("revoked") if agent.revoked_at else ""


class OverrideForm(forms.ModelForm[Override]):
    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        resource, number, value = (data.get(name) for name in ("resource", "number", "value"))
        policy = load(settings.WIRE_GATEWAY_POLICY)
        if resource and resource not in policy.resources:
            raise forms.ValidationError(f"There is no resource {resource}: {', '.join(policy.resources)}.")
        if resource and number and value is not None:
            try:
                policy.overridden({resource: {number: value}})
            except PolicyError as error:
                raise forms.ValidationError(str(error)) from error
        return data


@admin.register(Override)
class OverrideAdmin(ModelAdmin[Override]):
    form = OverrideForm
    list_display = ("resource", "number", "value", "note")


@admin.register(UpstreamState)
class UpstreamAdmin(ReadOnly):
    list_display = ("name", "circuit", "failures", "opened_until", "answered_at", "failed_at", "error", "detail")
    actions_list = ("reload_policy",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[UpstreamState]:
        return super().get_queryset(request).exclude(name=request_log.POLICY_ROW)

    @action(description="Read the policy again", icon="refresh", permissions=["reload"])
    def reload_policy(self, request: HttpRequest) -> HttpResponseRedirect:
        try:
            runtime.policy()
        except PolicyError as error:
            self.message_user(request, f"The policy cannot be used, so the one before stays: {error}", messages.ERROR)
        else:
            request_log.announce_policy()
            self.message_user(request, "Running servers read the policy and its secrets again within five seconds of use.")
        return HttpResponseRedirect(reverse("admin:gateway_upstreamstate_changelist"))

    def has_reload_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("gateway.change_agent")


@admin.register(RequestLog)
class RequestAdmin(ReadOnly):
    list_display = ("timestamp", "agent_id", "asked", "outcome", "error_code", "duration_ms", "result_count")
    list_filter = ("outcome", "resource", "agent_id", "error_code")
    search_fields = ("request_id", "asked")
    show_full_result_count = False


@admin.register(CallCount)
class CallAdmin(ReadOnly):
    list_display = ("hour", "agent_id", "resource", "outcome", "calls", "upstream_calls", "cost_units")
    list_filter = ("outcome", "resource", "agent_id")
    date_hierarchy = "hour"


@admin.register(Heartbeat)
class HeartbeatAdmin(ReadOnly):
    list_display = ("received_at", "agent_id", "heartbeat_id", "verdict", "status_required", "reason")
    list_filter = ("verdict", "agent_id")

"""The resource gateway at the desk: agents, states of upstreams, requests, and overrides of the policy's numbers."""

from typing import Any

from django import forms
from django.contrib import admin

from mcpserver.gateway.models import Agent, CallCount, Heartbeat, Override, RequestLog, UpstreamState
from mcpserver.gateway.resource_policy import PolicyError, load
from wire.admin.base import FreshAdmin, FreshForm, ModelAdmin, ReadOnly, marks, never


class AgentForm(FreshForm[Agent]):
    """Grants and share. The key is made by a command, which shows it once."""

    class Meta:
        model = Agent
        fields = ("grants", "share", "attributes", "revoked_at")


@admin.register(Agent)
class AgentAdmin(FreshAdmin[Agent]):
    form = AgentForm
    list_display = ("name", "its_grants", "share", "created_at", "status")
    fields = ("name", "grants", "share", "attributes", "created_at", "revoked_at", "seen")
    readonly_fields = ("name", "created_at")
    has_add_permission = has_delete_permission = never

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
        policy = load()
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

"""The resource gateway at the desk: agents, states of upstreams, requests, and overrides of the policy's numbers."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminSelectWidget

from mcpserver.gateway import auth, request_log, runtime
from mcpserver.gateway.models import Agent, CallCount, Heartbeat, Override, RequestLog, UpstreamState
from mcpserver.gateway.resource_policy import Policy, PolicyError, load_policy
from wire.admin import base
from wire.corpora.common.forms import to_label


def _read_policy() -> Policy:
    """Return the policy; the one that ships while the operator's cannot be used, which "Reload the policy" explains."""
    try:
        return load_policy(settings.WIRE_GATEWAY_POLICY)
    except PolicyError:
        return load_policy()


def list_grantable_prefixes(policy: Policy) -> Iterator[tuple[str, str]]:
    """Yield beginnings of addresses that an agent may be granted, with what they open: each scheme, then parts of it."""
    titles: dict[str, list[str]] = {}
    works = set[str]()
    for resource in policy.resources.values():
        plain = resource.uri.partition("{")[0]
        scheme, part = plain.partition("://")[0] + "://", plain[: plain.rindex("/") + 1]
        for beginning in {scheme, part} - set(auth.PUBLIC):
            if not plain.startswith(auth.PUBLIC):
                titles.setdefault(beginning, []).append(resource.title)
                works |= {beginning} if policy.upstreams[resource.upstream].kind != "off" else set()
    for beginning, opened in sorted(titles.items()):
        scheme = beginning.partition("://")[0] + "://"
        if beginning == scheme or opened != titles[scheme]:
            off = "" if beginning in works else ": off until its upstream is configured"
            yield beginning, f"{beginning} ({', '.join(opened)}){off}"


ATTRIBUTE: Final = "attribute_"  # begins the names of these fields


class AgentForm(base.FreshForm[Agent]):
    grants = forms.MultipleChoiceField(
        label="May read",
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="The agent can always read news://, which needs no key.",
    )

    class Meta:
        model = Agent
        fields = ("name", "grants", "share")
        help_texts: ClassVar = {"share": "1 to 100: the most that this agent may use of each upstream's limit, in percent."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        policy = _read_policy()
        if "grants" in self.fields:  # not for whoever only looks
            offered = dict(list_grantable_prefixes(policy))
            gone = {one: f"{one} (granted before)" for one in self.instance.grants if one not in offered}
            self.fields["grants"].choices = [*offered.items(), *gone.items()]  # type: ignore[attr-defined]
            for name in list_attribute_names(self.instance, policy):
                if ATTRIBUTE + name in self.fields:
                    self.initial[ATTRIBUTE + name] = self.instance.attributes.get(name, "")

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        given = {name.removeprefix(ATTRIBUTE): text for name, text in data.items() if name.startswith(ATTRIBUTE)}
        for name in (name for name, text in given.items() if not text.isprintable()):
            self.add_error(ATTRIBUTE + name, "Use visible characters.")
        self.instance.attributes = {name: text for name, text in given.items() if text}
        return data


def list_attribute_names(agent: Agent | None, policy: Policy) -> list[str]:
    return list(dict.fromkeys((*policy.list_attributes(), *(agent.attributes if agent else ()))))


@admin.register(Agent)
class AgentAdmin(base.KeyedAdmin[Agent], base.FreshAdmin[Agent]):
    """A key is shown once, when it is made. Running servers notice a change within five seconds."""

    form = AgentForm
    server = "gateway"
    list_display = ("name", "its_grants", "share", "created_at", "status")
    actions = ("rotate", "revoke")
    change_form_template = "admin/agent.html"
    has_delete_permission = base.deny
    empty = "No agent has a key yet, so only news:// can be read. Add an agent to open more resources."
    its_grants = base.column("May read", lambda agent: ", ".join(["news://", *agent.grants]))
    its_attributes = base.column("Attributes", lambda agent: base.join_lines("{}: {}", agent.attributes.items()) or "none")
    status = base.column("Status", lambda agent: base.marks("revoked") if agent.revoked_at else "")

    def get_form(self, request: HttpRequest, obj: Agent | None = None, change: bool = False, **kwargs: Any) -> Any:
        if obj and not self.has_change_permission(request, obj):
            return super().get_form(request, obj, change, **kwargs)
        labels = {ATTRIBUTE + name: name for name in list_attribute_names(obj, _read_policy())}
        why = "Replaces {{agent.{0}}} in addresses of fallback resources; if empty, those that need it are skipped."
        fields = {
            field: base.text_field(label=to_label(name), required=False, max_length=200, help_text=why.format(name))
            for field, name in labels.items()
        }
        kwargs["form"], kwargs["fields"] = type("AgentForm", (AgentForm,), fields), ("name", "grants", "share")
        return super().get_form(request, obj, change, **kwargs)

    def get_fields(self, request: HttpRequest, obj: Agent | None = None) -> Any:
        if obj and not self.has_change_permission(request, obj):
            return ("name", "its_grants", "share", "its_attributes", "created_at", "revoked_at")
        attributes = [ATTRIBUTE + name for name in list_attribute_names(obj, _read_policy())]
        return ["name", "grants", "share", *attributes, *(("created_at", "revoked_at") if obj else ()), "seen"]

    def get_readonly_fields(self, _request: HttpRequest, obj: Agent | None = None) -> tuple[str, ...]:
        return ("its_grants", "its_attributes", "created_at", "revoked_at", *(("name",) if obj else ()))

    def get_urls(self) -> list[URLPattern]:
        rotate, revoke = (self.admin_site.admin_view(view) for view in (self.confirm_rotation, self.confirm_revocation))
        return [
            path("<int:pk>/rotate/", rotate, name="gateway_agent_rotate"),
            path("<int:pk>/revoke/", revoke, name="gateway_agent_revoke"),
            *super().get_urls(),
        ]

    def save_model(self, request: HttpRequest, obj: Agent, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
            auth.clear_caller_cache()
        else:
            obj.issued = auth.issue_key(obj)  # type: ignore[attr-defined]

    def confirm_rotation(self, request: HttpRequest, pk: int) -> HttpResponse:
        agent = self.get_changeable_row(request, pk)
        if request.method == "POST":
            return self._issue_new_keys(request, [agent])
        points = ("Its current key stops working.", "The new key is shown once, on the next page.")
        return self.show_confirmation(request, agent, f"New key for {agent.name}", points, "Make a new key")

    def confirm_revocation(self, request: HttpRequest, pk: int) -> HttpResponse:
        agent = self.get_changeable_row(request, pk)
        if request.method == "POST":
            self.revoke(request, Agent.objects.filter(pk=pk))
            return HttpResponseRedirect(reverse("admin:gateway_agent_change", args=[pk]))
        points = ("Its key stops working. The agent can still read news://, like everybody else.", "A new key restores access.")
        return self.show_confirmation(request, agent, f"Revoke the key of {agent.name}", points, "Revoke its key")

    @admin.action(description="Make a new key; the old one stops working", permissions=["change"])
    def rotate(self, request: HttpRequest, queryset: QuerySet[Agent]) -> HttpResponse:
        return self._issue_new_keys(request, list(queryset))

    @admin.action(description="Revoke the keys of selected agents", permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Agent]) -> None:
        chosen = list(queryset.filter(revoked_at=None))
        auth.revoke_keys(queryset)
        base.log_change(request, chosen, "Revoked.")
        self.message_user(
            request, f"Revoked: {base.plural(len(chosen), 'key', 'keys')}. Running servers notice within five seconds."
        )

    def _issue_new_keys(self, request: HttpRequest, agents: Sequence[Agent]) -> HttpResponse:
        with transaction.atomic():
            keys = [(agent.name, auth.issue_key(agent)) for agent in agents]
            base.log_change(request, agents, "A new key was made.")
        return self.show_keys(request, keys)


class OverrideForm(base.ModelForm[Override]):
    resource = forms.ChoiceField(widget=UnfoldAdminSelectWidget)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = dict.fromkeys((*_read_policy().resources, *filter(None, [self.instance.resource])))
        self.fields["resource"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        resource, number, value = (data.get(name) for name in ("resource", "number", "value"))
        policy = _read_policy()
        if resource and resource not in policy.resources:
            raise forms.ValidationError(f"The policy no longer has the resource {resource}. Delete this override.")
        if resource and number and value is not None:
            try:
                policy.with_overrides({resource: {number: value}})
            except PolicyError as error:
                raise forms.ValidationError(str(error)) from error
        return data


@admin.register(Override)
class OverrideAdmin(base.ModelAdmin[Override]):
    form = OverrideForm
    list_display = ("resource", "number", "value", "policy_value", "note")
    empty = "All numbers come from the policy file. Add an override to change one without editing it."
    policy_value = base.column(
        "In the policy", lambda row: getattr(_read_policy().resources.get(row.resource), row.number, "no such resource")
    )


@admin.register(UpstreamState)
class UpstreamAdmin(base.ReadOnly):
    list_display = ("name", "circuit", "failures", "opened_until", "answered_at", "failed_at", "error", "detail")
    actions_list = ("reload_policy",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[UpstreamState]:
        return super().get_queryset(request).exclude(name=request_log.POLICY_ROW)

    @base.action(description="Reload the policy", icon="refresh", permissions=["reload"])
    def reload_policy(self, request: HttpRequest) -> HttpResponseRedirect:
        try:
            runtime.load_current_policy()
        except PolicyError as error:
            self.message_user(request, f"The policy cannot be used, so the previous one stays in force: {error}", messages.ERROR)
        else:
            request_log.announce_policy_change()
            self.message_user(request, "Running servers use the reloaded policy and secrets within five seconds.")
        return HttpResponseRedirect(reverse("admin:gateway_upstreamstate_changelist"))

    def has_reload_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("gateway.change_agent")


@admin.register(RequestLog)
class RequestAdmin(base.ReadOnly):
    list_display = ("timestamp", "agent_id", "asked", "outcome", "error_code", "duration_ms", "result_count")
    list_filter = ("outcome", "resource", "agent_id", "error_code")
    search_fields = ("request_id", "asked")
    show_full_result_count = False


@admin.register(CallCount)
class CallAdmin(base.ReadOnly):
    list_display = ("hour", "agent_id", "resource", "outcome", "calls", "upstream_calls", "cost_units")
    list_filter = ("outcome", "resource", "agent_id")
    date_hierarchy = "hour"


@admin.register(Heartbeat)
class HeartbeatAdmin(base.ReadOnly):
    list_display = ("received_at", "agent_id", "heartbeat_id", "verdict", "status_required", "reason")
    list_filter = ("verdict", "agent_id")

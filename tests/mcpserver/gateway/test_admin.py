"""The resource gateway at the desk: lists, grants, and numbers that are set otherwise; never a command."""

import datetime as dt
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from pytest_django import Settings

from config.errors import Unauthorized
from mcpserver.gateway import auth
from mcpserver.gateway.models import Agent, CallCount, Heartbeat, Override, RequestLog, UpstreamState
from mcpserver.gateway.request_log import POLICY_ROW
from tests.wire.desk import person, save, words

pytestmark = pytest.mark.django_db
WHEN = dt.datetime(2026, 11, 24, tzinfo=dt.UTC)


@pytest.fixture
def admin(admin_client: Client) -> Client:
    return admin_client


@pytest.mark.slow
def test_every_list_shows_its_rows(admin: Client) -> None:
    auth.create_agent("scout", ["twitter://"])
    UpstreamState.objects.create(name="mcp-server-market", circuit="open", failures=3, error="timeout")
    CallCount.objects.create(hour=WHEN, agent_id="scout", resource="news_global_trends", outcome="cached", calls=1_234_567)
    RequestLog.objects.create(
        request_id="r1", timestamp=WHEN, resource="news_global_trends", agent_id="scout", asked="news://global/trends",
        outcome="stale", duration_ms=1.0, cache_hit=False, retry_attempt=0, cost_units=0, stale_s=1, error_code="timeout",
    )  # fmt: skip
    Heartbeat.objects.create(
        agent_id="a1",
        heartbeat_id="h1",
        timestamp=WHEN,
        received_at=WHEN,
        verdict="rejected",
        reason="it was received before",
        body={},
    )
    said = {
        "agent": "twitter://",
        "upstreamstate": "mcp-server-market",
        "callcount": "1234567",
        "requestlog": "stale",
        "heartbeat": "it was received before",
    }
    for model, text in said.items():
        assert text in words(admin.get(f"/admin/gateway/{model}/")), model


@pytest.mark.slow
def test_a_number_is_overridden_and_a_wrong_one_is_explained(admin: Client) -> None:
    page = "/admin/gateway/override/add/"
    good = {"resource": "openclaw_arp_discover", "number": "ttl", "value": "60", "note": "quiet day"}
    assert admin.post(page, good).status_code == 302
    assert Override.objects.get().value == 60
    for wrong, says in (
        ({"resource": "nowhere"}, "not one of the available choices"),
        ({"resource": "news_global_trends", "number": "limit", "value": "1.5"}, "a whole number"),
        ({"resource": "news_global_trends", "number": "timeout", "value": "0"}, "longer than 0"),
        ({"resource": "news_global_trends", "number": "command", "value": "1"}, "not one of the available choices"),
    ):
        assert says in words(admin.post(page, good | wrong)).replace("&#x27;", "'"), wrong
    assert Override.objects.count() == 1


AGENTS = "/admin/gateway/agent/"


def _read_key(answer: Any) -> str:
    found = re.search(r"gwa_[\w-]+", words(answer))
    assert found is not None, words(answer)
    return found[0]


@pytest.mark.slow
def test_an_agent_is_made_of_choices_and_its_key_is_shown_once(admin: Client) -> None:
    page = f"{AGENTS}add/"
    shown = words(admin.get(page))
    assert "twitter:// (Recent mentions, A user&#x27;s timeline)" in shown
    assert "twitter://feed/ (A user&#x27;s timeline)" in shown
    assert "news:// (" not in shown, "everybody reads that"
    assert "A user&#x27;s timeline): off until its upstream is configured" in shown
    assert "Twitter ID" in shown
    form = {"name": "scout", "grants": ["twitter://", "openclaw://arp/"], "share": "50", "attribute_twitter_id": " 7 ", "seen": ""}
    answer = admin.post(page, form)
    token = _read_key(answer)
    assert "/mcp/gateway or to" in words(answer)
    assert "no-store" in answer["Cache-Control"]
    caller = auth.find_caller(token)
    assert (caller.grants, caller.share, caller.attributes) == (("twitter://", "openclaw://arp/"), 50, {"twitter_id": "7"})
    assert token not in admin.get(f"{AGENTS}{Agent.objects.get().pk}/change/").content.decode()
    for wrong, says in (
        ({"name": "Scout!"}, "Small letters"),
        ({"name": "other", "grants": "market"}, "not one of the available choices"),
        ({"name": "other", "attribute_twitter_id": "a\u202eb"}, "Use visible characters."),
        ({"name": "other", "share": "0"}, "greater than or equal to 1"),
        ({}, "already exists"),
    ):
        refused = admin.post(page, form | wrong)
        assert says in words(refused), wrong
        assert " autofocus" in refused.content.decode(), wrong
    assert Agent.objects.count() == 1


@pytest.mark.slow
def test_an_agent_is_changed_gets_another_key_and_loses_it(admin: Client) -> None:
    token = auth.create_agent("scout", ["twitter://", "mcp://gone/"], attributes={"twitter_id": "7", "other": "8"})
    agent = Agent.objects.get()
    page = f"{AGENTS}{agent.pk}/"
    assert "mcp://gone/ (granted before)" in words(admin.get(f"{page}change/"))
    assert save(admin, f"{page}change/", {"grants": "market://", "share": "50", "attribute_other": "8"}).status_code == 302
    caller = auth.find_caller(token)
    assert (caller.name, caller.grants, caller.share, caller.attributes) == ("scout", ("market://",), 50, {"other": "8"})
    assert "stops working" in words(admin.get(f"{page}rotate/"))
    assert auth.find_caller(token).name == "scout", "looking changes nothing"
    other = _read_key(admin.post(f"{page}rotate/"))
    assert auth.find_caller(other).grants == ("market://",)
    third = _read_key(admin.post(AGENTS, {"_selected_action": [agent.pk], "action": "rotate"}))
    assert auth.find_caller(third).grants == ("market://",)
    assert "Revoked: 1 key" in words(admin.post(f"{page}revoke/", follow=True))
    assert "Its key was revoked on" in words(admin.get(f"{page}change/"))
    for gone in (token, other, third):
        with pytest.raises(Unauthorized):
            auth.find_caller(gone)


@pytest.mark.slow
def test_who_only_looks_at_an_agent_sees_no_form_and_makes_no_key() -> None:
    token = auth.create_agent("scout", ["twitter://"], attributes={"twitter_id": "7"})
    looker, client = person("looker"), Client()
    looker.user_permissions.set(Permission.objects.filter(codename="view_agent"))
    client.force_login(looker)
    page = f"{AGENTS}{Agent.objects.get().pk}/"
    shown = words(client.get(f"{page}change/"))
    assert "news://, twitter://" in shown
    assert "twitter_id: 7" in shown
    assert [client.post(f"{page}{do}/").status_code for do in ("rotate", "revoke")] == [403, 403]
    assert auth.find_caller(token).name == "scout"


@pytest.mark.slow
def test_the_policy_is_read_again_by_a_button_that_refuses_a_wrong_one(admin: Client, settings: Settings, tmp_path: Path) -> None:
    page = admin.get("/admin/gateway/upstreamstate/")
    assert "Reload the policy" in words(page)
    button = "/admin/gateway/upstreamstate/reload_policy"
    assert "use the reloaded policy and secrets within five seconds" in words(admin.get(button, follow=True))
    assert UpstreamState.objects.get(name=POLICY_ROW).resets == 1
    settings.WIRE_GATEWAY_POLICY = tmp_path / "policy.toml"
    settings.WIRE_GATEWAY_POLICY.write_text("version = 2")
    assert "version: 2 is unknown" in words(admin.get(button, follow=True))
    assert UpstreamState.objects.get(name=POLICY_ROW).resets == 1
    assert "reload" not in words(admin.get("/admin/gateway/upstreamstate/"))

"""The resource gateway at the desk: lists, grants, and numbers that are set otherwise; never a command."""

import datetime as dt
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from config.errors import Unauthorized
from mcpserver.gateway import auth
from mcpserver.gateway.models import Agent, CallCount, Heartbeat, Override, RequestLog, UpstreamState
from mcpserver.gateway.request_log import POLICY_ROW
from tests.wire.desk import save, words

pytestmark = pytest.mark.django_db
WHEN = dt.datetime(2026, 11, 24, tzinfo=dt.UTC)


@pytest.fixture
def admin(admin_client: Client) -> Client:
    return admin_client


@pytest.mark.slow
def test_every_list_shows_its_rows(admin: Client) -> None:
    auth.make("scout", ["twitter://"])
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
        ({"resource": "nowhere"}, "There is no resource nowhere"),
        ({"resource": "news_global_trends", "number": "limit", "value": "1.5"}, "a whole number"),
        ({"resource": "news_global_trends", "number": "timeout", "value": "0"}, "longer than nothing"),
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
def test_an_agent_is_made_and_its_key_is_shown_once(admin: Client) -> None:
    form = {"name": "scout", "grants": "twitter://\n mcp://files/ \n", "share": "50", "attributes": "twitter_id = 7", "seen": ""}
    token = _read_key(admin.post(f"{AGENTS}add/", form, follow=True))
    caller = auth.find_caller(token)
    assert (caller.grants, caller.share, caller.attributes) == (("twitter://", "mcp://files/"), 50, {"twitter_id": "7"})
    page = f"{AGENTS}{Agent.objects.get().pk}/change/"
    assert token not in admin.get(page).content.decode()
    assert "twitter://\nmcp://files/" in admin.get(page).content.decode().replace("\r", "")
    for wrong, says in (
        ({"name": "Scout!"}, "Small letters"),
        ({"name": "other", "grants": "market"}, "ending in a slash"),
        ({"name": "other", "attributes": "twitter_id"}, "NAME=VALUE"),
        ({"name": "other", "share": "0"}, "greater than or equal to 1"),
        ({}, "already exists"),
    ):
        assert says in words(admin.post(f"{AGENTS}add/", form | wrong)), wrong
    assert Agent.objects.count() == 1


@pytest.mark.slow
def test_an_agent_is_changed_gets_another_key_and_loses_it(admin: Client) -> None:
    token = auth.make("scout", ["twitter://"], attributes={"twitter_id": "7"})
    agent = Agent.objects.get()
    page = f"{AGENTS}{agent.pk}/change/"
    assert save(admin, page, {"grants": "market://", "share": "50", "attributes": ""}).status_code == 302
    auth.forget()
    caller = auth.find_caller(token)
    assert (caller.name, caller.grants, caller.share, caller.attributes) == ("scout", ("market://",), 50, {})
    chosen = {"_selected_action": [agent.pk]}
    other = _read_key(admin.post(AGENTS, chosen | {"action": "rotate"}, follow=True))
    assert auth.find_caller(other).grants == ("market://",)
    assert "Revoked: 1 key" in words(admin.post(AGENTS, chosen | {"action": "revoke"}, follow=True))
    for gone in (token, other):
        with pytest.raises(Unauthorized):
            auth.find_caller(gone)


@pytest.mark.slow
def test_the_policy_is_read_again_by_a_button_that_refuses_a_wrong_one(admin: Client, settings: Settings, tmp_path: Path) -> None:
    page = admin.get("/admin/gateway/upstreamstate/")
    assert "Read the policy again" in words(page)
    button = "/admin/gateway/upstreamstate/reload_policy"
    assert "read the policy and its secrets again" in words(admin.get(button, follow=True))
    assert UpstreamState.objects.get(name=POLICY_ROW).resets == 1
    settings.WIRE_GATEWAY_POLICY = tmp_path / "policy.toml"
    settings.WIRE_GATEWAY_POLICY.write_text("version = 2")
    assert "version: 2 is unknown" in words(admin.get(button, follow=True))
    assert UpstreamState.objects.get(name=POLICY_ROW).resets == 1
    assert "reload" not in words(admin.get("/admin/gateway/upstreamstate/"))

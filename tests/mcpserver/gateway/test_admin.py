"""The resource gateway at the desk: lists, grants, and numbers that are set otherwise; never a command."""

import datetime as dt

import pytest
from django.test import Client

from config.errors import Unauthorized
from mcpserver.gateway import auth
from mcpserver.gateway.models import Agent, CallCount, Heartbeat, Override, RequestLog, UpstreamState
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


@pytest.mark.slow
def test_grants_are_changed_and_a_revoked_key_opens_nothing(admin: Client) -> None:
    token = auth.make("scout", ["twitter://"])
    agent = Agent.objects.get()
    page = f"/admin/gateway/agent/{agent.pk}/change/"
    form = {"grants": '["market://"]', "share": "50", "attributes": "{}", "revoked_at_0": "", "revoked_at_1": ""}
    assert save(admin, page, form).status_code == 302
    auth.forget()
    assert (auth.find_caller(token).grants, auth.find_caller(token).share) == (("market://",), 50)
    assert "ending in a slash" in words(save(admin, page, form | {"grants": '["market"]'}))
    save(admin, page, form | {"revoked_at_0": "2026-11-24", "revoked_at_1": "00:00:00"})
    auth.forget()
    with pytest.raises(Unauthorized):
        auth.find_caller(token)
    assert token not in admin.get(page).content.decode()
    assert admin.get("/admin/gateway/agent/add/").status_code == 403

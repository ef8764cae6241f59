"""`manage.py gateway`, with real tables and with the misbehaving server as an upstream."""

import json
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from pytest_django import Settings

from config.errors import Unauthorized
from mcpserver.gateway import auth, fault_injection, runtime
from mcpserver.gateway.models import Agent, Bucket, Entry, Heartbeat, RequestLog, UpstreamState
from mcpserver.gateway.resource_policy import load_policy
from tests.mcpserver.gateway.beats import AGENT, KEY, PUBLIC, beat
from tests.mcpserver.gateway.stage import coin
from tests.mcpserver.upstreams import fault_server
from tests.threads import close_query_threads

pytestmark = pytest.mark.django_db(transaction=True)
GLOBAL = "news://global/trends"
COIN = "market://crypto/base/trending"


@pytest.fixture(scope="session", autouse=True)
def close_writer(django_db_setup: None) -> Iterator[None]:  # noqa: ARG001
    yield
    runtime._writer.submit(connections.close_all).result()
    close_query_threads()


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    runtime.replace_resolver(None)
    auth.clear_caller_cache()
    yield
    runtime.replace_resolver(None)


def gateway(*words: str) -> str:
    out = StringIO()
    call_command("gateway", *words, stdout=out)
    return out.getvalue()


class Server:
    def __init__(self, folder: Path) -> None:
        self.control = folder / "control"
        command = json.dumps([sys.executable, "-S", str(fault_server.__file__), str(self.control)])
        self.policy = folder / "policy.toml"
        self.policy.write_text(
            f'version = 1\n[upstreams.mcp-server-market]\nkind = "stdio"\ncommand = {command}\n'
            'env = { API_KEY = "env:GATEWAY_TEST_KEY" }\n'
            f'[upstreams.mcp-server-openclaw]\nkind = "stdio"\ncommand = {command}\npublic_key = "{PUBLIC}"\n'
        )

    def order(self, mode: str, **more: Any) -> None:
        self.control.write_text(json.dumps({"mode": mode, **more}))


@pytest.fixture
def server(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Server:
    made = Server(tmp_path)
    settings.WIRE_GATEWAY_POLICY = made.policy
    monkeypatch.setenv("GATEWAY_TEST_KEY", "x")
    return made


@pytest.mark.usefixtures("server")
def test_check_tells_upstreams_secrets_and_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "GATEWAY_TEST_KEY is set" in gateway("check")
    monkeypatch.delenv("GATEWAY_TEST_KEY")
    said = gateway("check")
    assert "GATEWAY_TEST_KEY is NOT SET" in said
    assert f"{GLOBAL}: wire; chain: news://category/general/trends" in said
    assert "10 resources" in said


@pytest.mark.slow
def test_check_compares_the_policy_with_what_upstreams_list(server: Server) -> None:
    server.order(
        "ok", lists={"resources": [], "resourceTemplates": [{"uriTemplate": "market://crypto/{name}/trending", "name": "m"}]}
    )
    with pytest.raises(CommandError, match="lacks what the policy asks for, or does not answer: mcp-server-openclaw"):
        gateway("check", "--live")
    offered = [{"uri": uri, "name": "x"} for uri in ("openclaw://heartbeat", "openclaw://arp/discover")]
    server.order("ok", lists={"resources": [*offered, {"uri": "market://crypto/x/trending", "name": "m"}]})
    said = gateway("check", "--live")
    assert "mcp-server-market: offers everything" in said
    assert "mcp-server-openclaw: offers everything" in said


@pytest.mark.slow
def test_explain_shows_the_upstreams_own_words(server: Server) -> None:
    gateway("agent", "scout", "--grant", "market://")
    server.order("ok", error=[-32603, "The coin 503 is broken."])
    answer = json.loads(gateway("read", COIN, "--agent", "scout", "--wait", "0"))
    assert "is broken" not in str(answer)
    request = RequestLog.objects.get(agent_id="scout").request_id
    assert request == answer["provenance"]["request_id"]
    assert "Its words: The coin 503 is broken." in gateway("explain", request) or "timeout" in gateway("explain", request)
    with pytest.raises(CommandError, match="no request"):
        gateway("explain", "nothing")


def test_reload_refuses_a_policy_that_cannot_be_used(server: Server) -> None:
    assert "within 5 seconds" in gateway("reload")
    server.policy.write_text("version = 2")
    with pytest.raises(CommandError, match="version: 2"):
        gateway("reload")
    assert UpstreamState.objects.get(name="").resets == 1


def test_check_names_what_is_wrong_with_a_policy(server: Server) -> None:
    server.policy.write_text("version = 1\n[resources.news_global_trends]\nchain = ['nowhere://at/all']\n")
    with pytest.raises(CommandError, match=r"news_global_trends\.chain"):
        gateway("check")


def test_list_tells_limits_circuits_and_ages() -> None:
    gateway("read", GLOBAL)
    said = gateway("list")
    assert f"{GLOBAL}: no limit; newest" in said
    assert "twitter://mentions/recent: 100 of 100 left in 3600 s; nothing stored; mcp-server-twitter is not configured" in said


def test_read_prints_the_answer_and_refuses_what_an_agent_may_not_read(server: Server) -> None:
    assert json.loads(gateway("read", GLOBAL))["provenance"]["outcome"] == "fresh"
    assert json.loads(gateway("read", GLOBAL))["provenance"]["outcome"] == "cached"
    with pytest.raises(CommandError, match="only with a key"):
        gateway("read", COIN)
    with pytest.raises(CommandError, match="no agent nobody"):
        gateway("read", COIN, "--agent", "nobody")
    gateway("agent", "scout", "--grant", "market://")
    server.order("ok", data=[coin()])
    assert json.loads(gateway("read", COIN, "--agent", "scout"))["data"][0]["price_change"] == 1.5
    with pytest.raises(CommandError, match=r"no such resource|unknown|no resource"):
        gateway("read", "news://nowhere")


def test_status_tells_the_last_failure_and_heartbeats(server: Server) -> None:
    gateway("agent", "scout", "--grant", "market://")
    server.order("unauthorized")
    gateway("read", COIN, "--agent", "scout")
    assert UpstreamState.objects.get(pk="mcp-server-market").error == "unauthorized"
    said = gateway("status")
    assert "mcp-server-market: stdio; last failure" in said
    assert "unauthorized" in said


def test_heartbeat_fetches_verifies_records_and_executes_nothing(server: Server) -> None:
    server.order("ok", data=beat(key=KEY))
    found = json.loads(gateway("heartbeat", AGENT))
    assert (found["state"], found["heartbeat"]["verified"]) == ("online", "signature")
    assert json.loads(gateway("heartbeat", AGENT)) == found  # again, without another call
    assert json.loads(gateway("heartbeat", AGENT, "--last"))["state"] == "online"
    assert Heartbeat.objects.count() == 1
    assert f"heartbeat of {AGENT}: online" in gateway("status")


def test_agent_makes_lists_changes_and_revokes_keys() -> None:
    assert gateway("agent") == ""
    token = gateway("agent", "scout", "--grant", "twitter://", "--share", "50", "--set", "twitter_id=7").split()[-1]
    assert auth.find_caller(token).grants == ("twitter://",)
    assert "scout: 50 %; twitter://" in gateway("agent")
    assert token not in str(Agent.objects.values().get())
    another = gateway("agent", "scout", "--grant", "market://").split()[-1]
    assert auth.find_caller(another).attributes == {"twitter_id": "7"}
    assert "Revoked" in gateway("agent", "scout", "--revoke")
    assert "scout: revoked" in gateway("agent")
    for attribute in ("twitter_id", "twitter_id=a\0b", "x=\udcff", "x=" + "9" * 201):
        with pytest.raises(CommandError):
            gateway("agent", "scout", "--set", attribute)
    for words in (("scout", "--revoke"), ("Wrong Name",), ("scout", "--grant", "twitter"), ("scout", "--share", "0")):
        with pytest.raises(CommandError):
            gateway("agent", *words)


@pytest.mark.slow
def test_try_runs_every_fault_and_leaves_no_trace() -> None:
    said = dict(line.split(": ", 1) for line in gateway("try", "market_crypto_trending").splitlines())
    assert said["ok"] == "fresh (no error)"
    assert "rate_limited" in said["limited_with_reset"]
    assert "unauthorized" in said["unauthorized"]
    assert "server_error" in said["down"]
    assert all("upstream_invalid" in said[mode] for mode in ("garbage", "huge", "wrong_shape"))
    assert "flagged as untrusted" in said["injection"]
    assert "timeout" in said["hang"]
    assert (Entry.objects.count(), RequestLog.objects.count(), UpstreamState.objects.count()) == (0, 0, 0)
    with pytest.raises(CommandError, match="no resource 'nothing'"):
        gateway("try", "nothing")


@pytest.mark.parametrize(
    "resource", [pytest.param(name, marks=pytest.mark.slow) for name in load_policy().resources if name != "openclaw_heartbeat"]
)
def test_every_resource_can_be_tried(resource: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault_injection, "FAULTS", ("ok", "injection"))  # the others need no sample of the resource's own
    said = dict(line.split(": ", 1) for line in gateway("try", resource).splitlines())
    assert said["ok"] == "fresh (no error)"
    assert "flagged as untrusted" in said["injection"]


def test_a_heartbeat_is_not_tried() -> None:
    with pytest.raises(CommandError, match="records it, so it cannot be tried here"):
        gateway("try", "openclaw_heartbeat")


def add_resource(server: Server, answers: str, more: str = "") -> None:
    server.policy.write_text(
        'version = 1\n[upstreams.clock]\nkind = "stdio"\ncommand = ["false"]\npass_through = true\n'
        f'[resources.time_now]\nuri = "time://now"\nupstream = "clock"\nanswers = "{answers}"\n{more}\n'
        'limit = 60\nperiod = "1h"\nttl = "1m"\ntimeout = "5s"\n'
    )


SCHEMA = (
    'schema = { type = "object", required = ["zone"], properties = { zone = { examples = ["UTC"] }, now = { type = "string" }, '
    'days = { type = "array", items = { type = "integer", minimum = 3 } }, dst = { type = ["boolean", "null"] } } }'
)


@pytest.mark.parametrize(
    ("answers", "resource", "invalid", "is_flagged"),
    [
        ("json", "time_now", {"garbage", "huge", "wrong_shape"}, True),
        pytest.param("text", "time_now", {"huge"}, True, marks=pytest.mark.slow),
        pytest.param("blob", "time_now", {"garbage", "huge", "wrong_shape"}, False, marks=pytest.mark.slow),
        pytest.param("contents", "clock", {"huge"}, True, marks=pytest.mark.slow),
        pytest.param("contents", "mcp://clock/demo://a?b=c", {"huge"}, True, marks=pytest.mark.slow),
        pytest.param("listing", "clock_list", {"garbage", "huge", "wrong_shape"}, True, marks=pytest.mark.slow),
    ],
)
def test_every_kind_of_answer_can_be_tried(
    server: Server, answers: str, resource: str, invalid: set[str], is_flagged: bool
) -> None:
    add_resource(server, answers, SCHEMA if answers == "json" else "")
    said = dict(line.split(": ", 1) for line in gateway("try", resource).splitlines())
    assert said["ok"] == "fresh (no error)"
    assert {mode for mode, line in said.items() if "upstream_invalid" in line} == invalid
    assert ("flagged as untrusted" in said.get("injection", "")) is is_flagged
    assert "unauthorized" in said["unauthorized"]
    assert "timeout" in said["hang"]


def test_try_asks_for_an_example_that_a_schema_needs(server: Server) -> None:
    add_resource(server, "json", 'schema = { type = "string", pattern = "[0-9]{5}" }')
    with pytest.raises(CommandError, match=r"No sample fits the schema of time_now\. Add examples"):
        gateway("try", "time_now")


def test_log_tells_the_newest_first_and_failures_alone(server: Server) -> None:
    gateway("agent", "scout", "--grant", "market://")
    server.order("unauthorized")
    gateway("read", GLOBAL)
    gateway("read", COIN, "--agent", "scout")
    lines = gateway("log").splitlines()
    assert [COIN in line for line in lines] == [True, False]
    assert "unauthorized" in lines[0]
    assert " anybody " in lines[1]
    assert len(gateway("log", "--failed").splitlines()) == 1
    assert len(gateway("log", "--agent", "scout", "--number", "5").splitlines()) == 1


def test_forget_deletes_what_it_is_told_to() -> None:
    gateway("read", GLOBAL)
    gateway("read", "news://category/finance/trends")
    with pytest.raises(CommandError, match="Name what to forget"):
        gateway("forget")
    assert gateway("forget", "--resource", "news_global_trends").startswith("1 stored")
    assert gateway("forget", "--agent", "scout").startswith("0 stored")
    assert gateway("forget", "--all").startswith("1 stored")
    assert not Entry.objects.exists()
    with pytest.raises(CommandError, match="No resource 'news_globe'"):
        gateway("forget", "--resource", "news_globe")


@pytest.mark.slow
def test_forget_begins_limits_anew_and_closes_circuits_of_what_it_is_told(server: Server) -> None:
    gateway("agent", "scout", "--grant", "market://", "--share", "50")
    gateway("agent", "other", "--grant", "market://", "--share", "50")
    server.order("unauthorized")
    gateway("read", COIN, "--agent", "scout")
    gateway("read", COIN, "--agent", "other")
    market, news = "market_crypto_trending", "news_global_trends share @scout"
    names = {market, f"{market} share @scout", f"{market} share @other", news}
    assert set(Bucket.objects.values_list("name", flat=True)) == names
    said = gateway("forget", "--agent", "scout")
    assert f"2 limits start again: {market} share @scout, {news}" in said
    assert "circuits" not in said
    assert "stored" not in gateway("forget", "--resource", "openclaw_heartbeat", "--only", "limits")
    assert Bucket.objects.count() == 2
    said = gateway("forget", "--resource", market)
    assert "2 limits start again" in said
    assert "Paused or failing until now: mcp-server-market." in said
    assert (UpstreamState.objects.get(pk="mcp-server-market").failures, Bucket.objects.count()) == (0, 0)


def test_without_a_key_the_hint_grants_what_was_asked_for() -> None:
    with pytest.raises(Unauthorized, match="time:// can be read only with a key") as refused:
        auth.ANYBODY.expect_grant("time://now")
    assert refused.value.hint.endswith("`manage.py gateway agent NAME --grant time://`.")

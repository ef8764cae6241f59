"""Heartbeats: genuine and new ones are handed out as data; all others are recorded and rejected."""

import base64
import datetime as dt
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mcpserver.gateway import heartbeat_verification
from mcpserver.gateway.auth import Caller
from mcpserver.gateway.models import Bucket, Heartbeat
from mcpserver.gateway.resource_policy import Policy
from tests.mcpserver.gateway.beats import AGENT, KEY, PUBLIC, beat
from tests.mcpserver.gateway.stage import ALL, Stage, failure

OTHER = "6f1c2a44-0000-4000-8000-000000000002"
NOW = dt.datetime(2026, 11, 24, 12, 0, tzinfo=dt.UTC)
URI = f"openclaw://heartbeat?agent_id={AGENT}"


def test_a_checksum_is_of_canonical_json() -> None:
    instruction = {"instruction_id": "i", "command": "c", "payload": {"b": 1.0, "a": "ü", "n": 1e21}}
    canonical = '{"command":"c","instruction_id":"i","payload":{"a":"ü","b":1,"n":1e+21}}'
    assert heartbeat_verification.hash_instruction(instruction) == hashlib.sha256(canonical.encode()).hexdigest()


@pytest.mark.django_db
def test_an_unsigned_one_is_intact_where_no_key_is_pinned() -> None:
    found, reason = heartbeat_verification.record_beat(AGENT, beat(), "", NOW)
    assert (found["verified"], reason) == ("integrity_only", "")
    assert Heartbeat.objects.get().verdict == "integrity_only"


@pytest.mark.django_db
def test_one_that_the_pinned_key_signed_is_verified() -> None:
    found, reason = heartbeat_verification.record_beat(AGENT, beat(key=KEY), PUBLIC, NOW)
    assert (found["verified"], reason) == ("signature", "")


def _of_another_key() -> dict[str, Any]:
    return beat(key=Ed25519PrivateKey.from_private_bytes(bytes(32)))


def _changed_after_signing() -> dict[str, Any]:
    found = beat(key=KEY)
    one = found["instructions"][0]
    one["command"] = "execute_campaign"
    one["checksum"] = heartbeat_verification.hash_instruction(one)
    return found


def _of_version_1() -> dict[str, Any]:
    """Signed as networks did before: over id and instructions alone."""
    found = beat()
    said = rfc8785.dumps({"heartbeat_id": found["heartbeat_id"], "instructions": found["instructions"]})
    return found | {"signature": base64.b64encode(KEY.sign(said)).decode()}


def _with_a_wrong_checksum() -> dict[str, Any]:
    found = beat(key=KEY)
    found["instructions"][0]["payload"] = {"changed": True}
    return found


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("made", "says"),
    [
        (_of_another_key, "pinned key did not sign"),
        (_changed_after_signing, "pinned key did not sign"),
        (_with_a_wrong_checksum, "checksums of 1 of 1"),
        (beat, "not signed"),
        (lambda: beat() | {"signature": "no base64!", "signature_version": 2}, "pinned key did not sign"),
        (lambda: beat(timestamp="2026-11-25T00:00:00Z", key=KEY), "in the future"),
        (lambda: beat(key=KEY) | {"agent_status_required": "update_required"}, "pinned key did not sign"),
        (lambda: beat(key=KEY) | {"timestamp": "2026-11-24T01:00:00Z"}, "pinned key did not sign"),
        (lambda: beat(key=KEY) | {"next_heartbeat_due": "2027-11-24T01:00:00Z"}, "pinned key did not sign"),
        (lambda: beat(key=KEY, agent=OTHER), "pinned key did not sign"),
        (lambda: beat(key=KEY) | {"agent_id": OTHER}, "for another agent"),
        (lambda: beat(key=KEY) | {"signature_version": 3}, "has version 3"),
        (_of_version_1, "has version 1"),
    ],
)
def test_what_is_not_genuine_is_recorded_as_rejected(made: Any, says: str) -> None:
    found, reason = heartbeat_verification.record_beat(AGENT, made(), PUBLIC, NOW)
    assert says in reason
    assert found["verified"] is None
    assert (Heartbeat.objects.get().verdict, Heartbeat.objects.get().reason) == ("rejected", reason)
    assert heartbeat_verification.describe_agent_state(AGENT, NOW)["state"] == "unknown"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("wanted", "later", "mode"),
    [("online", 0, "active"), ("maintenance", 0, "paused"), ("update_required", 0, "paused"), ("online", 25, "paused")],
)
def test_a_network_that_is_silent_or_wants_something_pauses_its_agent(wanted: str, later: int, mode: str) -> None:
    assert heartbeat_verification.describe_agent_state(AGENT, NOW)["mode"] == "active"  # nothing was heard yet
    heartbeat_verification.record_beat(AGENT, beat() | {"agent_status_required": wanted}, "", NOW)
    assert heartbeat_verification.describe_agent_state(AGENT, NOW + dt.timedelta(hours=later))["mode"] == mode


@pytest.mark.django_db
def test_a_replayed_and_an_older_one_are_rejected_and_the_last_good_one_stands() -> None:
    heartbeat_verification.record_beat(AGENT, beat(1, "2026-11-24T06:00:00Z"), "", NOW)
    assert "received before" in heartbeat_verification.record_beat(AGENT, beat(1, "2026-11-24T07:00:00Z"), "", NOW)[1]
    assert "not newer" in heartbeat_verification.record_beat(AGENT, beat(2, "2026-11-24T05:59:59Z"), "", NOW)[1]
    assert "not newer" in heartbeat_verification.record_beat(AGENT, beat(3, "2026-11-24T06:00:00Z"), "", NOW)[1]
    state = heartbeat_verification.describe_agent_state(AGENT, NOW)
    assert (state["state"], state["heartbeat"]["heartbeat_id"]) == ("online", beat(1)["heartbeat_id"])
    assert heartbeat_verification.record_beat("another", beat(1, "2026-11-24T06:00:00Z"), "", NOW)[1] == ""


@pytest.mark.django_db
def test_after_24_hours_of_silence_an_agent_is_offline() -> None:
    heartbeat_verification.record_beat(AGENT, beat(), "", NOW)
    day = dt.timedelta(hours=24)
    assert heartbeat_verification.describe_agent_state(AGENT, NOW + day)["state"] == "online"
    assert heartbeat_verification.describe_agent_state(AGENT, NOW + day + dt.timedelta(seconds=1))["state"] == "offline"
    heartbeat_verification.record_beat(
        AGENT, beat(2, "2026-11-24T01:00:00Z") | {"signature": "x"}, PUBLIC, NOW + day
    )  # a rejected one is silence
    assert heartbeat_verification.describe_agent_state(AGENT, NOW + day + dt.timedelta(seconds=1))["state"] == "offline"


def _pinned(policy: Policy) -> Policy:
    one = replace(policy.upstreams["mcp-server-openclaw"], public_key=PUBLIC)
    return replace(policy, upstreams={**policy.upstreams, one.name: one})


@pytest.fixture
def pinned(transactional_db: None) -> Iterator[Stage]:  # noqa: ARG001
    made = Stage(_pinned)
    yield made
    made.close()


def test_it_is_read_four_times_a_day_six_hours_apart(pinned: Stage) -> None:
    beats = [beat(n, f"2026-11-24T0{n}:00:00Z", key=KEY) for n in range(1, 6)]
    pinned.upstream.script["openclaw_heartbeat"] = list(beats)
    first = pinned.ask(URI)
    assert (first.outcome, json.loads(first.data_json)["verified"]) == ("fresh", "signature")
    for _ in range(3):
        pinned.wait(6 * 3_600)
        assert pinned.ask(URI).outcome == "fresh"
    assert len(pinned.upstream.calls) == 4


def test_a_rejected_one_is_an_error_that_says_why_and_is_not_asked_again(pinned: Stage) -> None:
    pinned.upstream.script["openclaw_heartbeat"] = [_of_another_key()]
    answer = pinned.ask(URI)
    assert (answer.outcome, answer.is_error, answer.data_json) == ("exhausted", True, b"null")
    assert "pinned key" in answer.note
    assert len(pinned.upstream.calls) == 1


def test_its_retries_have_a_budget_of_their_own(pinned: Stage) -> None:
    pinned.upstream.script["openclaw_heartbeat"] = [failure("server_error")] * 2 + [beat(key=KEY)]
    pinned.ask(URI, wait=65)
    pinned.wait(60)
    assert pinned.upstream.times() == [0, 5, 35]
    pinned.upstream.script["openclaw_heartbeat"] = [failure("server_error")]
    pinned.wait(6 * 3_600)
    answer = pinned.ask(URI, wait=65)
    assert len(pinned.upstream.calls) == 4  # both retries of the day are used up
    assert answer.is_error


def test_a_signed_one_is_of_no_use_for_another_agent(pinned: Stage) -> None:
    pinned.upstream.script["openclaw_heartbeat"] = [beat(key=KEY)]
    assert pinned.ask(URI).outcome == "fresh"
    replayed = pinned.ask(f"openclaw://heartbeat?agent_id={OTHER}", Caller("beta", ALL.grants))
    assert (replayed.outcome, replayed.is_error, replayed.data_json) == ("exhausted", True, b"null")


def test_the_signed_bytes_are_those_that_the_documentation_shows() -> None:
    text = (Path(__file__).parents[3] / "docs" / "gateway.md").read_text(encoding="utf-8")
    example = re.search(r"```json\n(\{\"agent_id\".*?)\n```", text, re.S)
    assert example is not None
    found = json.loads(example[1])
    assert heartbeat_verification.build_signed_bytes(found["agent_id"], found) == example[1].replace("\n", "").encode()


def test_an_answer_that_was_lost_is_given_again_until_the_next_is_due(pinned: Stage) -> None:
    pinned.upstream.script["openclaw_heartbeat"] = [beat(1, key=KEY), beat(2, "2026-11-24T06:00:00Z", key=KEY)]
    first = pinned.ask(URI)
    for gateway in (pinned.gateway, pinned.another()):  # another process is one that was started after a crash
        pinned.wait(60)
        again = pinned.ask(URI, gateway=gateway)
        assert (again.outcome, again.data_json, again.sha256) == ("cached", first.data_json, first.sha256)
        assert "handed out" in again.note
    assert (len(pinned.upstream.calls), Heartbeat.objects.count()) == (1, 1)
    log = Bucket.objects.get(name="openclaw_heartbeat @alpha").log
    assert len(bytes(log)) == 8  # counted once
    pinned.wait(6 * 3_600)
    assert json.loads(pinned.ask(URI).data_json)["heartbeat_id"] == beat(2)["heartbeat_id"]


def test_nobody_else_is_given_it_again(pinned: Stage) -> None:
    pinned.upstream.script["openclaw_heartbeat"] = [beat(key=KEY), failure("refused")]
    pinned.ask(URI)
    for other in (Caller("beta", ALL.grants, attributes=ALL.attributes), replace(ALL, attributes={"twitter_id": "8"})):
        assert pinned.ask(URI, other).outcome == "exhausted"


def test_an_answer_that_never_came_is_asked_for_again_as_a_retry(pinned: Stage) -> None:
    pinned.upstream.script["openclaw_heartbeat"] = [failure("refused"), beat(key=KEY)]
    assert pinned.ask(URI).is_error
    assert pinned.ask(URI).outcome == "fresh"
    assert {row.name for row in Bucket.objects.exclude(log=b"")} == {
        "openclaw_heartbeat @alpha", "openclaw_heartbeat @alpha retries",
    }  # fmt: skip


@pytest.mark.django_db
def test_one_that_the_network_sends_again_is_accepted_for_a_day_if_nothing_changed() -> None:
    first = heartbeat_verification.record_beat(AGENT, beat(key=KEY), PUBLIC, NOW)
    day = dt.timedelta(hours=24)
    assert heartbeat_verification.record_beat(AGENT, beat(key=KEY), PUBLIC, NOW + day) == first
    assert Heartbeat.objects.count() == 1
    assert (
        "received before"
        in heartbeat_verification.record_beat(AGENT, beat(key=KEY), PUBLIC, NOW + day + dt.timedelta(seconds=1))[1]
    )
    other_status = beat() | {"agent_status_required": "maintenance"}
    heartbeat_verification.record_beat(OTHER, beat(), "", NOW)
    assert "received before" in heartbeat_verification.record_beat(OTHER, other_status, "", NOW)[1]


@pytest.mark.django_db
def test_an_older_one_that_is_sent_again_is_rejected() -> None:
    heartbeat_verification.record_beat(AGENT, beat(1, "2026-11-24T06:00:00Z"), "", NOW)
    heartbeat_verification.record_beat(AGENT, beat(2, "2026-11-24T07:00:00Z"), "", NOW)
    assert "received before" in heartbeat_verification.record_beat(AGENT, beat(1, "2026-11-24T06:00:00Z"), "", NOW)[1]


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_one_with_a_text_that_no_table_takes_is_refused_by_name(pinned: Stage, text: str) -> None:
    found = beat()
    found["instructions"][0]["payload"] = {text: 1}
    pinned.upstream.script["openclaw_heartbeat"] = [found]
    answer = pinned.ask(URI)
    assert (answer.outcome, answer.error) == ("exhausted", "upstream_invalid")
    assert "UTF-16" in answer.note


@pytest.mark.django_db
def test_a_clock_that_was_two_days_ahead_holds_up_no_heartbeat() -> None:
    ahead = NOW + dt.timedelta(days=2)
    heartbeat_verification.record_beat(AGENT, beat(1, "2026-11-26T06:00:00Z"), "", ahead)
    assert heartbeat_verification.record_beat(AGENT, beat(2, "2026-11-24T11:00:00Z"), "", NOW)[1] == ""
    assert heartbeat_verification.describe_agent_state(AGENT, NOW)["heartbeat"]["heartbeat_id"] == beat(2)["heartbeat_id"]

"""Heartbeats: genuine and new ones are handed out as data; all others are recorded and rejected."""

import datetime as dt
import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sources.gateway import heartbeat
from sources.gateway.models import Heartbeat
from sources.gateway.policy import Policy
from tests.sources.gateway.beats import AGENT, KEY, PUBLIC, beat
from tests.sources.gateway.stage import Stage, failure

NOW = dt.datetime(2026, 11, 24, 12, 0, tzinfo=dt.UTC)
URI = f"openclaw://heartbeat?agent_id={AGENT}"


def test_a_checksum_is_of_canonical_json() -> None:
    instruction = {"instruction_id": "i", "command": "c", "payload": {"b": 1.0, "a": "ü", "n": 1e21}}
    canonical = '{"command":"c","instruction_id":"i","payload":{"a":"ü","b":1,"n":1e+21}}'
    assert heartbeat.checksum(instruction) == hashlib.sha256(canonical.encode()).hexdigest()


@pytest.mark.django_db
def test_an_unsigned_one_is_intact_where_no_key_is_pinned() -> None:
    found, reason = heartbeat.record(AGENT, beat(), "", NOW)
    assert (found["verified"], reason) == ("integrity_only", "")
    assert Heartbeat.objects.get().verdict == "integrity_only"


@pytest.mark.django_db
def test_one_that_the_pinned_key_signed_is_verified() -> None:
    found, reason = heartbeat.record(AGENT, beat(key=KEY), PUBLIC, NOW)
    assert (found["verified"], reason) == ("signature", "")


def _of_another_key() -> dict[str, Any]:
    return beat(key=Ed25519PrivateKey.from_private_bytes(bytes(32)))


def _changed_after_signing() -> dict[str, Any]:
    found = beat(key=KEY)
    one = found["instructions"][0]
    one["command"] = "execute_campaign"
    one["checksum"] = heartbeat.checksum(one)
    return found


def _with_a_wrong_checksum() -> dict[str, Any]:
    found = beat(key=KEY)
    found["instructions"][0]["payload"] = {"changed": True}
    return found


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("made", "says"),
    [
        (_of_another_key, "not of the pinned key"),
        (_changed_after_signing, "not of the pinned key"),
        (_with_a_wrong_checksum, "checksum of 1 of 1"),
        (beat, "not signed"),
        (lambda: beat() | {"signature": "no base64!"}, "not of the pinned key"),
        (lambda: beat(timestamp="2026-11-25T00:00:00Z", key=KEY), "in the future"),
    ],
)
def test_what_is_not_genuine_is_recorded_as_rejected(made: Any, says: str) -> None:
    found, reason = heartbeat.record(AGENT, made(), PUBLIC, NOW)
    assert says in reason
    assert found["verified"] is None
    assert (Heartbeat.objects.get().verdict, Heartbeat.objects.get().reason) == ("rejected", reason)
    assert heartbeat.state(AGENT, NOW)["state"] == "unknown"


@pytest.mark.django_db
def test_a_replayed_and_an_older_one_are_rejected_and_the_last_good_one_stands() -> None:
    heartbeat.record(AGENT, beat(1, "2026-11-24T06:00:00Z"), "", NOW)
    assert "received before" in heartbeat.record(AGENT, beat(1, "2026-11-24T07:00:00Z"), "", NOW)[1]
    assert "not newer" in heartbeat.record(AGENT, beat(2, "2026-11-24T05:59:59Z"), "", NOW)[1]
    assert "not newer" in heartbeat.record(AGENT, beat(3, "2026-11-24T06:00:00Z"), "", NOW)[1]
    state = heartbeat.state(AGENT, NOW)
    assert (state["state"], state["heartbeat"]["heartbeat_id"]) == ("online", beat(1)["heartbeat_id"])
    assert heartbeat.record("another", beat(1, "2026-11-24T06:00:00Z"), "", NOW)[1] == ""


@pytest.mark.django_db
def test_after_24_hours_of_silence_an_agent_is_offline() -> None:
    heartbeat.record(AGENT, beat(), "", NOW)
    day = dt.timedelta(hours=24)
    assert heartbeat.state(AGENT, NOW + day)["state"] == "online"
    assert heartbeat.state(AGENT, NOW + day + dt.timedelta(seconds=1))["state"] == "offline"
    heartbeat.record(AGENT, beat(2, "2026-11-24T01:00:00Z") | {"signature": "x"}, PUBLIC, NOW + day)  # a rejected one is silence
    assert heartbeat.state(AGENT, NOW + day + dt.timedelta(seconds=1))["state"] == "offline"


def _pinned(policy: Policy) -> Policy:
    one = replace(policy.upstreams["mcp-server-openclaw"], public_key=PUBLIC)
    return replace(policy, upstreams={**policy.upstreams, one.name: one})


@pytest.fixture
def pinned(transactional_db: None) -> Iterator[Stage]:  # noqa: ARG001
    made = Stage(_pinned)
    yield made
    made.close()


def test_it_is_read_four_times_a_day_six_hours_apart_and_never_from_the_cache(pinned: Stage) -> None:
    beats = [beat(n, f"2026-11-24T0{n}:00:00Z", key=KEY) for n in range(1, 6)]
    pinned.upstream.script["openclaw_heartbeat"] = list(beats)
    first = pinned.ask(URI)
    assert (first.outcome, json.loads(first.data_json)["verified"]) == ("fresh", "signature")
    early = pinned.ask(URI)
    assert (early.outcome, early.is_error, early.error) == ("exhausted", True, "limited_here")
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

"""Heartbeats: their verification and their record. Instructions are data: recorded, handed out, and executed by nothing.

A response may be lost on its way. So the heartbeat that was handed out last is handed out again, byte for byte, until the next is
due; and one that the network sends again is accepted again for a day, if nothing in it changed.
"""

import base64
import datetime as dt
import hashlib
from collections.abc import Mapping
from typing import Any, Final

import orjson
import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.db import models, transaction

from mcpserver.gateway.models import Bucket, Heartbeat

DAY: Final = dt.timedelta(hours=24)  # of silence is offline; in which the network may send the newest one again
SIGNATURE_VERSION: Final = 2
SIGNED_FIELDS: Final = ("heartbeat_id", "timestamp", "agent_status_required", "next_heartbeat_due", "instructions")
SKEW: Final = dt.timedelta(minutes=10)  # by so much two clocks may differ
Verdict = Heartbeat.Verdict


def hash_instruction(instruction: Mapping[str, Any]) -> str:
    """Return the SHA-256 hex of the RFC 8785 JSON of instruction_id, command and payload."""
    content = {name: instruction[name] for name in ("instruction_id", "command", "payload")}
    return hashlib.sha256(rfc8785.dumps(content)).hexdigest()


def build_signed_bytes(agent_id: str, beat: Mapping[str, Any]) -> bytes:
    """Return what the network's key signs: the RFC 8785 JSON of the version, the agent that it is for, and all that it says."""
    content = {"signature_version": SIGNATURE_VERSION, "agent_id": agent_id, **{name: beat.get(name) for name in SIGNED_FIELDS}}
    return bytes(rfc8785.dumps(content))


def _find_heartbeat_fault(agent_id: str, beat: Mapping[str, Any], public_key: str) -> str:
    if beat.get("agent_id") not in (None, agent_id):
        return "it is for another agent"
    instructions = beat["instructions"]
    try:
        wrong = sum(hash_instruction(instruction) != instruction["checksum"].lower() for instruction in instructions)
    except rfc8785.CanonicalizationError:
        return "an instruction contains something that is not JSON"
    if wrong:
        return f"the checksums of {wrong} of {len(instructions)} instructions do not match"
    if not public_key:
        return ""
    if not beat.get("signature"):
        return "it is not signed, although a key is pinned"
    version = beat.get("signature_version") or 1
    if version != SIGNATURE_VERSION:
        return f"its signature has version {version}; version {SIGNATURE_VERSION}, which covers agent, time and status, is needed"
    try:
        signature = base64.b64decode(beat["signature"], validate=True)
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key)).verify(signature, build_signed_bytes(agent_id, beat))
    except (InvalidSignature, ValueError):
        return "the pinned key did not sign this agent, time, status and instructions"
    return ""


@transaction.atomic
def record_beat(
    agent_id: str, beat: dict[str, Any], public_key: str, now: dt.datetime, key: str = "", *, untrusted: bool = False
) -> tuple[dict[str, Any], str]:
    """Record a heartbeat, genuine or not; not again the newest one, sent again without a change.

    `key` is that of the request which it answers. Return it with `verified`, and why it is rejected, "" if it is not.
    """
    # Processes that receive heartbeats of one agent take turns until the end of the transaction.
    lock = f"heartbeat {agent_id}"
    Bucket.objects.bulk_create([Bucket(name=lock)], ignore_conflicts=True)
    Bucket.objects.select_for_update().get(name=lock)

    moment = dt.datetime.fromisoformat(beat["timestamp"].replace("Z", "+00:00"))
    genuine = _select_genuine(agent_id)
    # A time that lies ahead is of a clock that was wrong: it holds up none that follow.
    last = genuine.filter(timestamp__lte=now + SKEW).first()
    reason = _find_heartbeat_fault(agent_id, beat, public_key)
    verdict = Verdict.SIGNED if public_key else Verdict.INTACT
    answer = {**beat, "agent_id": agent_id, "verified": str(verdict.value)}
    if not reason and genuine.filter(heartbeat_id=beat["heartbeat_id"]).exists():
        is_recent = last is not None and abs(now - last.received_at) <= DAY
        if last is not None and is_recent and orjson.loads(bytes(last.data) or b"null") == answer:
            return answer, ""
        reason = "it was received before"
    elif not reason and last is not None and moment <= last.timestamp:
        reason = f"it is dated {beat['timestamp']}, not newer than the last one"
    elif not reason and moment > now + SKEW:
        reason = f"it is dated {beat['timestamp']}, which is in the future"
    if reason:
        verdict, answer["verified"] = Verdict.REJECTED, None
    Heartbeat.objects.create(
        agent_id=agent_id,
        key=key,
        heartbeat_id=beat["heartbeat_id"],
        timestamp=moment,
        received_at=now,
        verdict=verdict,
        reason=reason,
        status_required=beat["agent_status_required"],
        body=answer,
        data=b"" if reason else orjson.dumps(answer),
        untrusted=untrusted,
    )
    return answer, reason


def _select_genuine(agent_id: str) -> models.QuerySet[Heartbeat]:
    return Heartbeat.objects.filter(agent_id=agent_id).exclude(verdict=Verdict.REJECTED).order_by("-timestamp")


def find_answered_heartbeat(key: str, since: dt.datetime, now: dt.datetime) -> Heartbeat | None:
    """Return the newest heartbeat that answered this request after `since`; its `data` is what was handed out."""
    rows = Heartbeat.objects.filter(key=key, received_at__gt=since, received_at__lte=now + SKEW)
    return rows.exclude(verdict=Verdict.REJECTED).order_by("-received_at").first()


def describe_agent_state(agent_id: str, now: dt.datetime) -> dict[str, Any]:
    """Return the state of an agent, `offline` after 24 hours of silence; `mode`: `paused` unless the network wants it `online`."""
    genuine = _select_genuine(agent_id)
    last = genuine.filter(timestamp__lte=now + SKEW).first() or genuine.first()
    if last is None:
        return {"agent_id": agent_id, "state": "unknown", "mode": "active", "received_at": None, "heartbeat": None}
    is_silent = abs(now - last.received_at) > DAY  # more than that ahead: a clock was wrong, and nobody knows
    return {
        "agent_id": agent_id,
        "state": "offline" if is_silent else "online",
        "mode": "paused" if is_silent or last.status_required != "online" else "active",
        "status_required": last.status_required,
        "received_at": last.received_at.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "heartbeat": last.body,
    }

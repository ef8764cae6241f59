"""Heartbeats: whether one is genuine and new. What they instruct is data: recorded, handed out, and executed by nothing."""

import base64
import binascii
import datetime as dt
import hashlib
from collections.abc import Mapping
from typing import Any, Final

import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.db import transaction

from sources.gateway.models import Heartbeat

OFFLINE_AFTER: Final = dt.timedelta(hours=24)
SKEW: Final = dt.timedelta(minutes=10)  # by so much two clocks may differ
Verdict = Heartbeat.Verdict


def checksum(instruction: Mapping[str, Any]) -> str:
    """SHA-256 hex of the RFC 8785 JSON of instruction_id, command and payload."""
    said = {name: instruction[name] for name in ("instruction_id", "command", "payload")}
    return hashlib.sha256(rfc8785.dumps(said)).hexdigest()


def signed_bytes(beat: Mapping[str, Any]) -> bytes:
    """What the network's key signs: the RFC 8785 JSON of heartbeat_id and instructions."""
    return bytes(rfc8785.dumps({"heartbeat_id": beat["heartbeat_id"], "instructions": beat["instructions"]}))


def fault(beat: Mapping[str, Any], public_key: str) -> str:
    """Why this heartbeat is not genuine; "" if it is. Pure."""
    try:
        wrong = [one["instruction_id"] for one in beat["instructions"] if checksum(one) != one["checksum"].lower()]
    except rfc8785.CanonicalizationError:
        return "an instruction holds what is no JSON"
    if wrong:
        return f"the checksum of {len(wrong)} of {len(beat['instructions'])} instructions does not fit"
    if not public_key:
        return ""
    if not beat.get("signature"):
        return "it is not signed, and a key is pinned"
    try:
        signature = base64.b64decode(beat["signature"], validate=True)
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key)).verify(signature, signed_bytes(beat))
    except (InvalidSignature, binascii.Error, ValueError):
        return "its signature is not of the pinned key"
    return ""


@transaction.atomic
def record(agent_id: str, beat: dict[str, Any], public_key: str, now: dt.datetime) -> tuple[dict[str, Any], str]:
    """Record a heartbeat, genuine or not. Returns it with `verified`, and why it is rejected, "" if it is not."""
    moment = dt.datetime.fromisoformat(beat["timestamp"].replace("Z", "+00:00"))
    genuine = Heartbeat.objects.filter(agent_id=agent_id).exclude(verdict=Verdict.REJECTED)
    reason = fault(beat, public_key)
    if not reason and genuine.filter(heartbeat_id=beat["heartbeat_id"]).exists():
        reason = "it was received before"
    if not reason:
        last = genuine.order_by("-timestamp").values_list("timestamp", flat=True).first()
        if last is not None and moment <= last:
            reason = f"it is of {beat['timestamp']}, not newer than the last one"
    if not reason and moment > now + SKEW:
        reason = f"it is of {beat['timestamp']}, which is in the future"
    verdict = Verdict.REJECTED if reason else Verdict.SIGNED if public_key else Verdict.INTACT
    beat = {**beat, "verified": None if reason else str(verdict.value)}
    Heartbeat.objects.create(
        agent_id=agent_id,
        heartbeat_id=beat["heartbeat_id"],
        timestamp=moment,
        received_at=now,
        verdict=verdict,
        reason=reason,
        status_required=beat["agent_status_required"],
        body=beat,
    )
    return beat, reason


def state(agent_id: str, now: dt.datetime) -> dict[str, Any]:
    """How an agent's heartbeat stands: `online`, `offline` after 24 hours of silence, `unknown` before the first."""
    last = Heartbeat.objects.filter(agent_id=agent_id).exclude(verdict=Verdict.REJECTED).order_by("-timestamp").first()
    if last is None:
        return {"agent_id": agent_id, "state": "unknown", "received_at": None, "heartbeat": None}
    silent = now - last.received_at > OFFLINE_AFTER
    return {
        "agent_id": agent_id,
        "state": "offline" if silent else "online",
        "status_required": last.status_required,
        "received_at": last.received_at.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "heartbeat": last.body,
    }


def agent_ids() -> list[str]:
    return list(Heartbeat.objects.order_by("agent_id").values_list("agent_id", flat=True).distinct())

"""Heartbeats as the network sends them."""

import base64
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mcpserver.gateway.heartbeat_verification import SIGNATURE_VERSION, build_signed_bytes, hash_instruction

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = KEY.public_key().public_bytes_raw().hex()
AGENT = "6f1c2a44-0000-4000-8000-000000000001"


def beat(
    number: int = 1, timestamp: str = "2026-11-24T00:00:00Z", *, key: Ed25519PrivateKey | None = None, agent: str = AGENT
) -> dict[str, Any]:
    instruction: dict[str, Any] = {
        "instruction_id": f"i{number}",
        "command": "post_update",
        "payload": {"ü": 1.0, "a": ["x", None], "number": 1e21},
    }
    found: dict[str, Any] = {
        "heartbeat_id": f"6f1c2a44-0000-4000-9000-{number:012d}",
        "timestamp": timestamp,
        "agent_status_required": "online",
        "instructions": [instruction | {"checksum": hash_instruction(instruction)}],
        "next_heartbeat_due": None,
    }
    if key is not None:
        found["signature_version"] = SIGNATURE_VERSION
        found["signature"] = base64.b64encode(key.sign(build_signed_bytes(agent, found))).decode()
    return found

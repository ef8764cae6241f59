"""An MCP server over stdio that misbehaves: `python fault_server.py MODE CONTENT`, for `manage.py gateway try`.

It imports nothing but the standard library, so that it starts in a moment.
"""

import json
import os
import sys
import time
from typing import Any

MODE, CONTENT = sys.argv[1:3]
CACHE: dict[str, Any] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
REFUSALS: dict[str, dict[str, Any]] = {
    "limited_with_reset": {"code": -32000, "message": "Too Many Requests", "data": {"retry_after": 7}},
    "unauthorized": {"code": -32000, "message": "Unauthorized", "data": {"status": 401}},
    "down": {"code": -32603, "message": "Service Unavailable"},
}
LISTS = {"resources/read": "contents", "resources/list": "resources", "resources/templates/list": "resourceTemplates"}
TEXTS = {"garbage": "<html>Not JSON", "huge": json.dumps("x" * 5_000_000), "wrong_shape": '{"surprise": true}'}


def answer_request(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "server/discover":
        server = {"name": "misbehaving", "version": "1"}
        return {"result": CACHE | {"supportedVersions": ["2026-07-28"], "capabilities": {"resources": {}}, "serverInfo": server}}
    if method not in LISTS:
        return {"error": {"code": -32601, "message": "Method not found"}}
    if MODE == "die":
        os._exit(3)
    if MODE == "hang":
        time.sleep(3_600)
    if MODE in REFUSALS:
        return {"error": REFUSALS[MODE]}
    content = {"text": TEXTS[MODE]} if MODE in TEXTS else json.loads(CONTENT)
    return {"result": CACHE | {LISTS[method]: [{"uri": params.get("uri", "trial://1")} | content]}}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        reply = answer_request(message["method"], message.get("params") or {})
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}) + "\n")
        sys.stdout.flush()

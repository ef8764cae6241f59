"""The floor: an ASGI callable and nothing else."""

from typing import Any

import orjson

from benchmarks.doors.contenders.payload import FINISHED


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] != "http":
        return
    status, headers, body = FINISHED[scope["path"]]
    if scope["method"] == "POST":
        message = await receive()
        asked = message["body"]
        while message["more_body"]:
            message = await receive()
            asked += message["body"]
        body = b'{"jsonrpc":"2.0","id":' + orjson.dumps(orjson.loads(asked)["id"]) + b',"result":' + body + b"}"
    headers = [*headers, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

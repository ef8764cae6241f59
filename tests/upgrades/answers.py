"""What an upgraded installation answers and holds; run as a process of its own, so that it starts as the server does."""

import json
import logging
import sys
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

import django


def tell(recorded: dict[str, Any]) -> dict[str, Any]:
    """Ask again what was asked of the old version, check the chain, then go on with it."""
    from django.conf import settings
    from django.core.management import call_command
    from django.test import Client

    from wire.ingest import corrections
    from wire.models import Snapshot, Story, WireState

    settings.ALLOWED_HOSTS = ["*"]
    settings.WIRE_RATE_LIMIT = "off"
    client, said = Client(), StringIO()
    call_command("verifywire", stdout=said)
    answers = {path: client.get(path) for path in recorded}
    cited = {path: body["citation"] for path, (status, body) in recorded.items() if status == 200 and "citation" in body}
    verified = {path: client.get(f"/api/verify-citation.json?text={quote(text)}").json() for path, text in cited.items()}
    told: dict[str, Any] = {
        "version": WireState.objects.get().version,
        "answers": {path: (answer.status_code, json.loads(answer.content)) for path, answer in answers.items()},
        "verdicts": {path: [[one["story_id"], one["verdict"]] for one in found["citations"]] for path, found in verified.items()},
        "changes": client.get("/api/changes.json?limit=500").json(),
    }
    last = Story.objects.live().order_by("-pk")[0]
    snapshot = corrections.correct_texts(last.chatbotnews_id, author="Bo Lantern", reason="The byline was another's.")
    before = Snapshot.objects.get(sequence=snapshot.sequence - 1) if snapshot else None
    told["chain"] = [before and before.wire_sha256, snapshot and snapshot.previous_sha256, snapshot and snapshot.key_id]
    cursor = told["changes"]["next_cursor"]
    told["later"] = client.get(f"/api/changes.json?limit=500&cursor={cursor}").json()
    told["corrected"] = last.chatbotnews_id
    call_command("verifywire", stdout=said)
    return told | {"verifywire": said.getvalue()}


if __name__ == "__main__":
    django.setup()
    logging.disable()
    asked, target = map(Path, sys.argv[1:])
    target.write_text(json.dumps(tell(json.loads(asked.read_text(encoding="utf-8")))), encoding="utf-8")

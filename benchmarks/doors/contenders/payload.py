"""What every contender answers: captured from the wire when the benchmark starts. No package but Python's own is needed."""

import base64
import json
import os
from pathlib import Path
from typing import Any, Final

_FOUND: Final[dict[str, Any]] = json.loads(Path(os.environ["DOORS_ANSWERS"]).read_text(encoding="utf-8"))

PAGES: Final[dict[str, str]] = _FOUND["pages"]
"""The text that a tool answers, by its name and `limit` ("search_wire 3"); its structured content is the same as JSON."""

RESOURCE: Final[str] = _FOUND["resource"]
"""The text of the resource wire://story/{story_id}."""

Finished = tuple[int, list[tuple[bytes, bytes]], bytes]
"""Status, headers without the length, body; of a path that is asked by POST the JSON-RPC result alone."""

FINISHED: Final[dict[str, Finished]] = {
    path: (status, [(name.encode(), value.encode()) for name, value in headers], base64.b64decode(body))
    for path, (status, headers, body) in _FOUND["finished"].items()
}
"""By path."""

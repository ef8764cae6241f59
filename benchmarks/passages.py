"""Verdicts of `verify_citation` on passages about real news: `python -m benchmarks.passages`, with WIRE_DATA_DIR of a wire of them.

The passages are those of fixtures/eval/passages-real.json: half of them true, half with one falsehood, by two writers who saw the
stories only. Prints, for each half, verdicts of stories that are told truly and of those that are told falsely.
"""

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks import report

ROOT: Final = Path(__file__).resolve().parent.parent
PASSAGES: Final = ROOT / "fixtures" / "eval" / "passages-real.json"
MISSED: Final = "not found"
VERDICTS: Final = ("wrong", "unsupported", "outdated", "supported", "verified", MISSED)  # the worst first


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    passages = json.loads(PASSAGES.read_text(encoding="utf-8"))
    counted = Counter[tuple[str, bool, str]]()
    for passage in passages:
        for story_id, verdict in _judge(passage["text"], passage["stories"]).items():
            counted[passage["half"], story_id != passage["false"], verdict] += 1
    rows = [
        (f"{half}, {'true' if is_true else 'false'}", *(str(counted[half, is_true, verdict]) for verdict in VERDICTS))
        for half in ("tune", "report")
        for is_true in (True, False)
    ]
    print(report.table(("stories", *VERDICTS), rows))


def _judge(text: str, story_ids: Sequence[str]) -> dict[str, str]:
    """Return the worst verdict on each story; what is reworded counts by whether the record supports it."""
    from wire.queries import verify_citation

    found: dict[str, list[Any]] = {story_id: [] for story_id in story_ids}
    for one in verify_citation(text).citations:
        if one.story_id in found:
            found[one.story_id].append(one.support or one.verdict)
    return {story_id: min(verdicts, key=VERDICTS.index, default=MISSED) for story_id, verdicts in found.items()}


if __name__ == "__main__":
    main()

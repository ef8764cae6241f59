"""Verdicts of `corroborate` on claims about real news: `python -m benchmarks.claims ARCHIVE`.

The claims are those of `claims-real.json` and `claims-reworded.json` in fixtures/eval; ARCHIVE is what `loadwire` takes, with the
items that they are about (docs/quality.md says which). Prints counts by kind of claim and verdict; `similar` are those that are not
found but seem to be reported in other words.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

from benchmarks import report

ROOT: Final = Path(__file__).resolve().parent.parent
FILES: Final = ("claims-real.json", "claims-reworded.json")
SIMILAR: Final = "similar"
VERDICTS: Final = ("confirmed", "single_source", SIMILAR, "not_found")


def main(archive: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"WIRE_DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "config.settings"}
        for command in (
            ["manage.py", "migrate", "-v0"],
            ["manage.py", "loadwire", str(archive)],
            ["-m", "benchmarks.claims", "--inside"],
        ):
            subprocess.run([sys.executable, *command], cwd=ROOT, env=env, check=True)


def inside() -> None:
    import django

    django.setup()
    from wire.queries import corroborate

    def judge(claim: str) -> str:
        found = corroborate(claim)
        is_similar = found.verdict == "not_found" and any(event.similar for event in found.events)
        return SIMILAR if is_similar else found.verdict

    for file in FILES:
        claims = json.loads((ROOT / "fixtures" / "eval" / file).read_text(encoding="utf-8"))
        told = Counter((one["kind"], judge(one["claim"])) for one in claims)
        rows = [(kind, *(str(told[kind, verdict]) for verdict in VERDICTS)) for kind in ("true", "distorted", "invented")]
        print(report.table((file, *VERDICTS), rows), end="\n\n")


if __name__ == "__main__":
    inside() if sys.argv[1:] == ["--inside"] else main(Path(sys.argv[1]).resolve())

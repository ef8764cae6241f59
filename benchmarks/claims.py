"""Verdicts of `corroborate` on claims about real news: `python -m benchmarks.claims ARCHIVE`.

The claims are those of `fixtures/eval/claims-real.json`; ARCHIVE is what `loadwire` takes, with the items that they are about
(docs/quality.md says which). Prints counts by kind of claim and verdict.
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
CLAIMS: Final = ROOT / "fixtures" / "eval" / "claims-real.json"
VERDICTS: Final = ("confirmed", "single_source", "not_found")


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

    claims = json.loads(CLAIMS.read_text(encoding="utf-8"))
    told = Counter((one["kind"], corroborate(one["claim"]).verdict) for one in claims)
    rows = [(kind, *(str(told[kind, verdict]) for verdict in VERDICTS)) for kind in ("true", "distorted", "invented")]
    print(report.table(("claims", *VERDICTS), rows))


if __name__ == "__main__":
    inside() if sys.argv[1:] == ["--inside"] else main(Path(sys.argv[1]).resolve())

"""Corpora that tests load: the small one of the project, whole or with something changed."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from wire.corpora.timeline.load import load_directory
from wire.corpora.timeline.models import Corpus

FIXTURE: Final = Path(settings.BASE_DIR) / "fixtures" / "timeline"
SLUG: Final = "harbour-clock"

Change = Callable[[dict[str, Any]], object]


def harbour() -> Corpus:
    """The project's own small corpus, released."""
    return Corpus.objects.filter(slug=SLUG).first() or load_directory(FIXTURE).corpus


def changed(directory: Path, **changes: Change) -> Path:
    """A copy of it in which files are changed: `reports=lambda content: …`."""
    copy = directory / "corpus"
    if not copy.exists():
        shutil.copytree(FIXTURE, copy)
    for name, change in changes.items():
        file = copy / f"{name.replace('_', '-')}.json"
        content = json.loads(file.read_text())
        change(content)
        file.write_text(json.dumps(content, indent=2, ensure_ascii=False))
    return copy


def row(content: dict[str, Any], member: str, key: str) -> Any:
    """A row of a file by its id."""
    return next(one for one in content[member] if one["id"] == key)

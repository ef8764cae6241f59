"""Checks of timelines that the doctor makes: can the names that corpora leave out still be recognised."""

import datetime as dt
from collections.abc import Iterator

from wire.corpora.timeline import omitted_names
from wire.corpora.timeline.corpus_config import CorpusFile
from wire.corpora.timeline.models import Corpus
from wire.ops.doctor.finding import Finding, fail


def examine(_now: dt.datetime) -> Iterator[Finding]:
    """Nothing where nothing is wrong."""
    if omitted_names.key_file().exists():
        return
    with_names = [row.slug for row in Corpus.objects.all() if CorpusFile.model_validate_json(row.written).left_out_names]
    if with_names:
        found = f"There is no {omitted_names.key_file()}: of the names that {', '.join(with_names)} leaves out none is recognised."
        yield fail("left-out names", found, "Put the file back from a backup, or write left_out_names anew (timeline name).")

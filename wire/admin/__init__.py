"""The editors' desk, one module per subject; `base` has what its pages share. May import wire.ingest, wire.publishing, wire.models
and below.
"""

import django_stubs_ext

django_stubs_ext.monkeypatch()  # makes ModelAdmin[Story] and the like work at run time

from wire.admin import entities, events, feeds, lexicon, records, roster, stories  # noqa: E402

__all__ = ["entities", "events", "feeds", "lexicon", "records", "roster", "stories"]

"""The editors' desk, a module a subject; `base` holds what its pages share. May import wire.ingest, wire.publishing, wire.models
and below.
"""

import django_stubs_ext

django_stubs_ext.monkeypatch()  # lets ModelAdmin[Story] and its like stand at run time

from wire.admin import audit, entities, events, feeds, lexicon, roster, stories  # noqa: E402

__all__ = ["audit", "entities", "events", "feeds", "lexicon", "roster", "stories"]

"""The editors' desk.

`stories`, `events`, `feeds`, the `roster` and its `replacement`, the `lexicon`, the `record` of what was published and done, the
`people`, the resource `gateway`.
`dashboard` is its first page, `queues` are saved lists, `menu` the sidebar, `login` limits tries.
May import wire.intake, wire.snapshots, wire.models and below.
"""

import django_stubs_ext

django_stubs_ext.monkeypatch()  # lets ModelAdmin[Story] and its like stand at run time

from wire.admin import events, feeds, gateway, lexicon, people, record, replacement, roster, stories  # noqa: E402

__all__ = ["events", "feeds", "gateway", "lexicon", "people", "record", "replacement", "roster", "stories"]

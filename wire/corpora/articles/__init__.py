"""Publisher content: articles of sites whose publishers agreed, searched and read by agents on the publisher's terms.

A Django app of its own with tables, queries, REST, pages and desk. It stands on `sources` (fetching, parsing), `citations` and the
lower rooms of `wire`; no other room knows it.
"""

"""Corpora of dated reports in which fact, report and interpretation stay apart: the wire itself is the first of them.

A Django app of its own with tables, queries, REST, pages and desk. It stands on the lower rooms of `wire` (`models`,
`search.postings_index`, `publishing.signing` for releases) and on `wire.queries`; no other room knows it.
"""

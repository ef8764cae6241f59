"""Fact-checks: claims that fact-checkers rated, found by words and by meaning, and the stories that are about the same claim.

A Django app of its own with tables, queries, REST, pages and desk. It stands on `sources` (parsing), `citations` and the
lower rooms of `wire` (`text`, `search.postings_index`, `search.vectors`); no other room knows it.
"""

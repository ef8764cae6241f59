"""Plumbing that the corpora share: small modules of plain functions. None of them knows a corpus."""

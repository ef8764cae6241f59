"""Backups: a directory with everything of one moment, and a manifest by which every byte is checked. May import wire.ops.archive,
wire.queries, wire.publishing, wire.models and below; other apps by Django's registry alone.
"""

"""Backups: a directory with everything of one moment, and a manifest by which every byte is checked. `wire.sqlite3` is a whole
copy of an SQLite database; of Postgres `tables/` holds one file for each table. `keys/` holds the key files. May import
wire.ops.archive, wire.queries, wire.publishing, wire.models and below; other apps by Django's registry alone.
"""

"""A backup: a directory that holds the wire of one moment, its keys, and a manifest by which every byte is checked.

`wire.sqlite3` is a whole copy of an SQLite database, accounts and histories included. On Postgres `wire.ndjson.gz` takes its
place: what `dumpwire` writes. `manifest`: what it says and whether it is true · `take`: writes one · `restore`: brings it back.
May import wire.archive, wire.queries, wire.snapshots, wire.models and below.
"""

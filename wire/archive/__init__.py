"""Archives in and out: reading any input line by line, loading items, dumping and restoring a whole wire, verifying it.

May import wire.intake, wire.snapshots, wire.models and below.
"""

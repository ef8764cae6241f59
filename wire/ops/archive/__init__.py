"""Archives: reading any input line by line, loading items, dumping, restoring and verifying a whole wire. May import wire.ingest,
wire.publishing, wire.models and below.
"""

"""Archives: loading, dumping, restoring and verifying. May import wire.ingest, wire.publishing, wire.models and below."""

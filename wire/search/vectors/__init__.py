"""Embeddings of texts: the seam to the model that makes them, and stories' own. May import wire.models."""

"""Rules about one story that need neither database nor settings: text, identity, provenance, vocabulary, search words.

Imports nothing of the other rooms of wire.
"""

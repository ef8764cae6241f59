"""Fact-checks: claims that fact-checkers rated, found by words and by meaning, and the stories that are about the same claim."""

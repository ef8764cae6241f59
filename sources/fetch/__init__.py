"""Feeds from the internet, which is hostile: guarded, bounded, polite. Knows nothing of stories, publications or the database."""

from sources.fetch.fetch_all import fetch_all
from sources.fetch.results import Ask, Failed, Fetched, HostNote, Outcome, Policy, Unchanged
from sources.fetch.robots import crawl_delay

__all__ = ["Ask", "Failed", "Fetched", "HostNote", "Outcome", "Policy", "Unchanged", "crawl_delay", "fetch_all"]

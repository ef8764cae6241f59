"""Provenance v1, what is hashed and how. Pure functions; docs/provenance.md explains it in words and shows a verifier."""

import datetime as dt
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import rfc8785

VERSION = 1


def to_rfc3339(moment: dt.datetime) -> str:
    """Return RFC 3339 in UTC with `Z`, whole seconds: the one way a time is written in anything hashed."""
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def build_story_content(chatbotnews_id: str, original_url: str, revision: Any) -> dict[str, Any]:
    """Return the own content of a `wire.models.StoryRevision`, and nothing derived from other stories."""
    return {
        "v": VERSION,
        "chatbotnews_id": chatbotnews_id,
        "revision": revision.revision,
        "status": str(revision.status),
        "headline": revision.headline,
        "author": revision.author,
        "summary_medium": revision.summary_medium,
        "category": str(revision.category),
        "topics": [str(topic) for topic in revision.topics],
        "original_publisher": revision.original_publisher,
        "original_publisher_tier": int(revision.original_publisher_tier),
        "original_url": original_url,
        "via": revision.via,
        "credited_source": revision.credited_source,
        "published_at": to_rfc3339(revision.published_at),
        "language": revision.language,
    }


def build_manifest_story(
    chatbotnews_id: str, revision: int, story_sha256: str, event_id: str, consensus_score: float, cross_source_count: int
) -> dict[str, Any]:
    """Return a story's line in its day's manifest; the score rounded to two decimals."""
    return {
        "chatbotnews_id": chatbotnews_id,
        "revision": revision,
        "story_sha256": story_sha256,
        "event_id": event_id,
        "consensus_score": round(consensus_score, 2),
        "cross_source_count": cross_source_count,
    }


def build_manifest(
    wire_date: dt.date,
    revision: int,
    previous_sha256: str | None,
    roster_sha256: str,
    editor_take: str,
    stories: Iterable[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return what `wire_sha256` is the hash of; `stories` in list order. `previous_sha256` is null in the first of all."""
    return {
        "v": VERSION,
        "wire_date": wire_date.isoformat(),
        "revision": revision,
        "previous_sha256": previous_sha256,
        "roster_sha256": roster_sha256,
        "editor_take": editor_take,
        "stories": list(stories),
    }


def canonicalize_json(value: Any) -> bytes:
    """Return RFC 8785 (JCS) bytes. Raises: rfc8785.CanonicalizationError for what JSON cannot say (NaN, lone surrogates)."""
    return rfc8785.dumps(value)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def hash_json(value: Any) -> str:
    """Return the SHA-256 of the canonical bytes, lower-case hex."""
    return sha256(canonicalize_json(value))


def has_same_content(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return whether two manifests of a day differ in nothing but `revision` and `previous_sha256`."""
    ignored = {"revision": None, "previous_sha256": None}
    return {**old, **ignored} == {**new, **ignored}


def build_fpl_anchor(canonical_uri: str, wire_sha256: str, generated_at: dt.datetime) -> dict[str, str]:
    """Return the FatbikeHero Provenance Layer anchor of a snapshot, version 1.0."""
    return {
        "fpl_version": "1.0",
        "canonical_uri": canonical_uri,
        "hash_algorithm": "SHA-256",
        "sha256": wire_sha256,
        "utc_timestamp": to_rfc3339(generated_at),
    }

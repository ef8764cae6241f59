#!/usr/bin/env python3
"""Checks that a day of the wire is what was published, from its public JSON alone and with none of the wire's own code.

    pip install rfc8785 cryptography
    python verify_day.py https://wire.example [2026-10-12]
    python verify_day.py day.json provenance.json wire-keys.json

Recomputes every story_sha256 and the wire_sha256 and checks the signature. Prints OK; or prints the first difference and exits
with 1. docs/provenance.md explains it in words.
"""

import base64
import hashlib
import json
import sys
import urllib.request
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

Json = dict[str, Any]

CONTENT = (
    *("chatbotnews_id", "revision", "status", "headline", "author", "summary_medium", "category", "topics"),
    *("original_publisher", "original_publisher_tier", "original_url", "via", "credited_source", "published_at", "language"),
)
LINE = ("chatbotnews_id", "revision", "story_sha256", "event_id", "consensus_score", "cross_source_count")
CROCKFORD = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", b"0123456789abcdefghjkmnpqrstvwxyz")


class Difference(Exception):
    """The first thing that is not as it was published."""


def check(day: Json, provenance: Json, keys: Json) -> str:
    """What was verified, in a sentence. Raises: Difference."""
    for story in day["stories"]:
        what = f"story {story['chatbotnews_id']}"
        same(f"{what}: chatbotnews_id", story["chatbotnews_id"], story_id(story["original_url"]))
        same(f"{what}: story_sha256", story["story_sha256"], sha256({"v": 1, **{name: story[name] for name in CONTENT}}))
        if not story["summary_medium"].startswith(story["summary_short"].removesuffix("…")):
            raise Difference(f"{what}: summary_short is not how summary_medium begins")
    published = day["provenance"]
    manifest = {
        "v": 1,
        "wire_date": day["wire_date"],
        "revision": published["revision"],
        "previous_sha256": published["previous_sha256"],
        "roster_sha256": day["source_integrity"]["roster_sha256"],
        "editor_take": day["editor_take"],
        "stories": [{name: story[name] for name in LINE} for story in day["stories"]],
    }
    same_day = provenance["manifest"]["wire_date"] == day["wire_date"]
    newest = provenance["revision"]
    if not same_day or newest == published["revision"]:  # a day that was published again since then stands for itself
        for name, value in manifest.items():
            if provenance["manifest"].get(name) != value:
                raise Difference(f"manifest: the day and its provenance differ in {name}")
    wire_sha256 = sha256(manifest)
    same("wire_sha256", published["wire_sha256"], wire_sha256)
    same("fpl_anchor: sha256", published["fpl_anchor"]["sha256"], wire_sha256)
    if newest == published["revision"]:
        for name, value in {**published, "generated_at": day["generated_at"]}.items():
            same(f"provenance: {name}", provenance[name], value)
    check_signature(published["signature"], wire_sha256, day["generated_at"], keys)
    other = "" if newest == published["revision"] else f" (the provenance given is of revision {newest})"
    return (
        f"{day['wire_date']} revision {published['revision']}{other}, {len(day['stories'])} stories, "
        f"wire_sha256 {wire_sha256}, signed by key {published['signature']['key_id']}"
    )


def check_signature(signature: Json, wire_sha256: str, generated_at: str, keys: Json) -> None:
    """Ed25519 over the 64 hex digits, by a key that was not retired before. Raises: Difference."""
    key_id = signature["key_id"]
    key = next((key for key in keys["keys"] if key["key_id"] == key_id), None)
    if key is None:
        raise Difference(f"signature: there is no published key {key_id}")
    public = base64.b64decode(key["public_key"])
    same(f"key {key_id}: id", key_id, hashlib.sha256(public).hexdigest()[:16])
    if key["retired_at"] and generated_at > key["retired_at"]:
        raise Difference(f"signature: made at {generated_at} by key {key_id}, which was retired at {key['retired_at']}")
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(base64.b64decode(signature["value"]), wire_sha256.encode())
    except (InvalidSignature, ValueError):
        raise Difference(f"signature: not made by key {key_id} over {wire_sha256}") from None


def sha256(value: Json) -> str:
    """Of the RFC 8785 bytes, in lower-case hex."""
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()


def story_id(url: str) -> str:
    return "cbn-" + base64.b32encode(hashlib.sha256(url.encode()).digest()[:8])[:12].translate(CROCKFORD).decode()


def same(what: str, said: object, found: object) -> None:
    if said != found:
        raise Difference(f"{what} is {said!r}, recomputed {found!r}")


def read(source: str) -> Json:
    """JSON of a web address or a file."""
    if source.startswith(("http://", "https://")):
        with urllib.request.urlopen(source, timeout=30) as answer:  # noqa: S310  the two schemes above
            document: Json = json.load(answer)
    else:
        document = json.loads(Path(source).read_text(encoding="utf-8"))
    return document


def main(arguments: list[str]) -> int:
    try:
        if len(arguments) == 3:
            day, provenance, keys = map(read, arguments)
        elif len(arguments) in {1, 2} and arguments[0].startswith(("http://", "https://")):
            site = arguments[0].rstrip("/")
            day = read(f"{site}/api/archive/{arguments[1]}.json" if len(arguments) == 2 else f"{site}/api/today.json")
            provenance = read(f"{site}/api/provenance/{day['wire_date']}.json")
            keys = read(f"{site}/.well-known/wire-keys.json")
        else:
            sys.stderr.write(f"{__doc__}\n")
            return 2
        sys.stdout.write(f"OK: {check(day, provenance, keys)}\n")
    except Difference as difference:
        sys.stdout.write(f"DIFFERS: {difference}\n")
        return 1
    except HTTPError as error:
        why = "; the wire has no such day" if error.code == 404 else ""
        sys.stdout.write(f"CANNOT BE READ: {error.url} answered {error.code}{why}\n")
        return 1
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        sys.stdout.write(f"CANNOT BE READ: {error!r}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Checks a wire's log from its public JSON alone: no day dropped, no story rewritten, no history forked or re-signed.

    pip install cryptography
    python verify_wire.py https://wire.example [--days 30] [--state seen.json] [--witness https://other.example]

Recomputes the Merkle root over every snapshot and compares it with the signed checkpoint; then checks the newest days story by
story. `--state` compares with what an earlier run saw, `--witness` with what another wire saw. Prints OK; or prints the first
difference and exits with 1. docs/provenance.md explains it in words.
"""

import argparse
import base64
import hashlib
import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

Json = dict[str, Any]
CONTENT = (
    *("chatbotnews_id", "revision", "status", "headline", "author", "summary_medium", "category", "topics", "original_publisher"),
    *("original_publisher_tier", "original_url", "via", "credited_source", "published_at", "language"),
)


class Difference(Exception):
    """The first difference from what was published."""


def canonical(value: Any) -> bytes:
    """RFC 8785 bytes. The wire has no numbers that Python would write differently."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def root(leaves: list[bytes]) -> bytes:
    """Return the Merkle root over leaf hashes (RFC 9162, 2.1)."""
    while len(leaves) > 1:
        pairs = [leaves[at : at + 2] for at in range(0, len(leaves), 2)]
        leaves = [hashlib.sha256(b"\x01" + pair[0] + pair[1]).digest() if len(pair) > 1 else pair[0] for pair in pairs]
    return leaves[0] if leaves else hashlib.sha256(b"").digest()


def leaf(value: Any) -> bytes:
    return hashlib.sha256(b"\x00" + canonical(value)).digest()


def same(what: str, said: object, found: object) -> None:
    if said != found:
        raise Difference(f"{what} is {said!r}, recomputed {found!r}")


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310  the operator's own argument
        return bytes(answer.read())


def opened(note: str, keys: list[Json], what: str) -> tuple[str, int, str]:
    """Return origin, size and root of a checkpoint that one of the keys signed. Raises: Difference."""
    text, _, lines = note.partition("\n\n")
    origin, size, tree = text.split("\n")[:3]
    for line in lines.splitlines():
        _, name, encoded = line.split(" ")
        signed = base64.b64decode(encoded)
        for key in keys:
            public = base64.b64decode(key["public_key"])
            if name == origin and signed[:4] == hashlib.sha256(f"{name}\n\x01".encode() + public).digest()[:4]:
                Ed25519PublicKey.from_public_bytes(public).verify(signed[4:], f"{text}\n".encode())
                return origin, int(size), tree
    raise Difference(f"{what}: not signed by any key of the wire")


def check(site: str, days: int, seen: list[tuple[str, Json]]) -> tuple[str, Json]:
    """Return a summary and the state to save; `seen`: earlier states, own or a witness's, by name. Raises: Difference."""
    keys = json.loads(get(f"{site}/.well-known/wire-keys.json"))["keys"]
    note = get(f"{site}/.well-known/wire-checkpoint").decode()
    origin, size, tree = opened(note, keys, "checkpoint")
    leaves: list[Json] = []
    while len(leaves) < size:
        page = json.loads(get(f"{site}/api/log/leaves.json?start={len(leaves)}&limit=1000"))["leaves"]
        if not page:
            raise Difference(f"the log has {len(leaves)} leaves, its checkpoint says {size}")
        leaves += page
    hashes = [leaf(one) for one in leaves[:size]]
    same("checkpoint: root", tree, base64.b64encode(root(hashes)).decode())
    for name, past in seen:
        if past["keys"] and not {key["public_key"] for key in keys} >= set(past["keys"]):
            raise Difference(f"{name}: a key used then is no longer published: the history was re-signed")
        if past["size"] > size:
            raise Difference(f"{name}: {past['size']} snapshots were seen, now there are {size}: a day was dropped")
        same(f"{name}: root at {past['size']} snapshots", past["root"], base64.b64encode(root(hashes[: past["size"]])).decode())
    newest = {one["wire_date"]: one for one in leaves[:size]}
    previous = [None, *(one["wire_sha256"] for one in leaves)]
    for day in sorted(newest, reverse=True)[:days]:
        check_day(site, newest[day], previous)
    state = {"size": size, "root": tree, "keys": [key["public_key"] for key in keys]}
    return f"{origin}: {size} snapshots of {len(newest)} days, the newest {min(days, len(newest))} story by story", state


def check_day(site: str, one: Json, previous: list[str | None]) -> None:
    what = f"{one['wire_date']} revision {one['revision']}"
    found = json.loads(get(f"{site}/api/provenance/{one['wire_date']}.json?revision={one['revision']}"))
    manifest = found["manifest"]
    same(f"{what}: wire_sha256", one["wire_sha256"], hashlib.sha256(canonical(manifest)).hexdigest())
    same(f"{what}: stories_root", one["stories_root"], root([leaf(line) for line in manifest["stories"]]).hex())
    same(f"{what}: previous_sha256", manifest["previous_sha256"], previous[one["sequence"] - 1])
    stories = json.loads(get(f"{site}/api/archive/{one['wire_date']}.json?revision={one['revision']}"))["stories"]
    same(f"{what}: its stories", *([one["chatbotnews_id"] for one in listed] for listed in (stories, manifest["stories"])))
    for story, line in zip(stories, manifest["stories"], strict=True):
        content = canonical({"v": 1, **{name: story[name] for name in CONTENT}})
        same(f"{what}: story {story['chatbotnews_id']}", line["story_sha256"], hashlib.sha256(content).hexdigest())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site")
    parser.add_argument("--days", type=int, default=30, help="how many of the newest days to read story by story")
    parser.add_argument("--state", type=Path, help="file with the state of the last run; rewritten if all is well")
    parser.add_argument("--witness", action="append", default=[], help="another wire that watches this one")
    args = parser.parse_args()
    site = args.site.rstrip("/")
    try:
        seen = [("what was seen before", json.loads(args.state.read_text()))] if args.state and args.state.exists() else []
        for witness in args.witness:
            keys = json.loads(get(f"{site}/.well-known/wire-keys.json"))["keys"]
            origin = get(f"{site}/.well-known/wire-checkpoint").decode().split("\n")[0]
            for log in json.loads(get(f"{witness.rstrip('/')}/api/log/witnessed.json"))["logs"]:
                if log["origin"] == origin:
                    _, size, tree = opened(log["note"], keys, f"what {witness} saw: the history was re-signed")
                    seen.append((f"what {witness} saw", {"size": size, "root": tree, "keys": []}))
        verified, state = check(site, args.days, seen)
        if args.state:
            args.state.write_text(json.dumps(state))
        sys.stdout.write(f"OK: {verified}\n")
    except InvalidSignature:
        sys.stdout.write("DIFFERS: a checkpoint's signature does not match the key it names\n")
        return 1
    except (Difference, OSError, ValueError, LookupError, TypeError) as error:
        sys.stdout.write(f"DIFFERS: {error}\n" if isinstance(error, Difference) else f"CANNOT BE READ: {error!r}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The roster's history, recomputed: only names, tiers and first domains are hashed, the rest must follow from the changes."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from sources.roster import fingerprint
from sources.vocabulary import ROSTER_SIZE
from wire.ops.archive.dump import Broken, Record


def check(publications: Mapping[str, Record], rosters: Sequence[Record]) -> None:
    """Check `publications`, by slug, against `rosters` from the first one on, each with its own fingerprint. Raises: Broken."""
    seated = [one for one in publications.values() if one["seat"] is not None]
    members = sorted(map(_to_member, seated), key=lambda row: str(row["name"]))
    if fingerprint(members) != rosters[-1]["fingerprint"]:
        raise Broken(f"roster: fingerprint is {rosters[-1]['fingerprint']!r}, recomputed {fingerprint(members)!r}.")
    since, until, left = _replay_history(publications, rosters)
    for slug, one in publications.items():
        for name, days in (("admitted_on", since), ("retired_on", until)):
            if one[name] != days.get(slug):
                raise Broken(f"publication {slug}: {name} is {one[name]!r}, the roster's history says {days.get(slug)!r}.")
        if slug in left and _to_member(one) not in left[slug]:
            raise Broken(f"publication {slug}: its name, tier or domain is not what it was when it left the roster.")
    seats = sorted(one["seat"] for one in seated)
    if seats != list(range(1, ROSTER_SIZE + 1)):
        raise Broken(f"roster: the seats are {seats}.")


def _replay_history(
    publications: Mapping[str, Record], rosters: Sequence[Record]
) -> tuple[dict[str, str], dict[str, str], dict[str, list[dict[str, Any]]]]:
    """Return by slug: since when each holds a seat, until when it did, and the members of the roster that it left."""
    founders = {row["name"] for row in rosters[0]["members"]}
    since = {slug: rosters[0]["on"] for slug, one in publications.items() if one["name"] in founders}
    until: dict[str, str] = {}
    left: dict[str, list[dict[str, Any]]] = {}
    for before, roster in pairwise(rosters):
        old, new = ({row["name"] for row in one["members"]} for one in (before, roster))
        retired, admitted = roster["retired"], roster["admitted"]
        for slug, names in ((retired, old - new), (admitted, new - old)):
            if slug is None or {publications[slug]["name"]} != names:
                raise Broken(f"roster revision {roster['number']}: it names {slug!r} as changed; its members say {sorted(names)}.")
        since[admitted] = until[retired] = roster["on"]
        left[retired] = before["members"]
        until.pop(admitted, None)
        left.pop(admitted, None)
    if rosters[0]["retired"] or rosters[0]["admitted"]:
        raise Broken("roster revision 1: it founds the roster, and names a change.")
    return since, until, left


def _to_member(publication: Record) -> dict[str, Any]:
    return {"name": publication["name"], "tier": publication["tier"], "domain": publication["domains"][0]}

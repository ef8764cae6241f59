"""What is published and how it comes in: the roster, the signing key, the chain's last link, the clock, the feeds."""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from django.conf import settings

from sources import queries, roster
from sources.models import FeedHealth
from sources.vocabulary import Circuit
from wire import provenance, signing
from wire.doctor.finding import Finding, fail, ok, warn
from wire.models import SigningKey, Snapshot, WireState

DAY: Final = dt.timedelta(days=1)
MISSED_RUNS: Final = 4
"""Periods of ingest without any request, after which it is not at work."""


def roster_is_whole(_now: dt.datetime) -> Iterator[Finding]:
    problem = roster.problem()
    if problem:
        yield fail("roster", f"{problem} Nothing is published.", "Restore a backup; the desk changes it by replacement only.")
    else:
        yield ok("roster", "24 publications, as its latest revision says.")


def signing_key(_now: dt.datetime) -> Iterator[Finding]:
    """Whether the key file holds the key that the wire's readers expect next."""
    newest = _newest()
    try:
        held = signing.key_in_force()
    except (OSError, TypeError, ValueError):
        return  # told by machine.signing_key_file
    if newest is None:
        yield ok("signing key", "Nothing is signed yet.")
        return
    if held is None:
        yield fail(
            "signing key",
            f"The file of {newest.key_id} is gone; nothing is published until it is back.",
            f"Put {signing.key_file()} back from a backup, or run manage.py rotatekey so that the old one is told as retired.",
        )
        return
    known = SigningKey.objects.filter(key_id=held).first()
    if known and known.retired_at:
        yield fail(
            "signing key", f"{held} was retired; it signs nothing.", "Put the key in force there, or run manage.py rotatekey."
        )
    elif held == newest.key_id:
        yield ok("signing key", f"{held} signed the newest snapshot.")
    elif known:
        yield ok("signing key", f"{held} is in force since {known.created_at:%Y-%m-%d} and signs the next snapshot.")
    else:
        yield fail(
            "signing key",
            f"{held} is not published; the newest snapshot was signed by {newest.key_id}.",
            "Put that key back from a backup, or run manage.py rotatekey.",
        )


def last_link(_now: dt.datetime) -> Iterator[Finding]:
    """The newest snapshot's hash, signature and link to the one before; `verifywire` looks at all of them."""
    last = _newest()
    if last is None:
        yield ok("chain", "No snapshot yet.")
        return
    before = Snapshot.objects.filter(sequence=last.sequence - 1).values_list("wire_sha256", flat=True).first()
    try:
        sha256 = provenance.sha256(last.canonical)
    except Exception as error:  # whatever damaged bytes make zlib say
        sha256 = repr(error)
    wrong = {
        "its bytes do not have its hash": sha256 != last.wire_sha256,
        "its link is not the hash of the one before": last.previous_sha256 != before,
        "its signature is not by its key": not signing.is_valid(last.signature, last.wire_sha256, last.key.public_key),
        "its key was retired before": last.key.retired_at is not None and last.generated_at > last.key.retired_at,
    }
    for what in (what for what, is_so in wrong.items() if is_so):
        yield fail("chain", f"Snapshot {last.sequence} ({last}): {what}.", "Run manage.py verifywire; restore a backup.")
    if not any(wrong.values()):
        yield ok("chain", f"Snapshot {last.sequence} ({last}) has its hash, its link and its signature.")


def clock(now: dt.datetime) -> Iterator[Finding]:
    """This machine's clock against what it wrote before, and against the dates of publishers, who have clocks of their own."""
    newest = _newest()
    if newest and now < newest.generated_at:
        yield fail(
            "clock",
            f"It says {now:%Y-%m-%d %H:%M} UTC, before the newest snapshot of {newest.generated_at:%Y-%m-%d %H:%M}.",
            "Set it (NTP) before anything is published.",
        )
        return
    asked = FeedHealth.objects.exclude(succeeded_at=None).order_by("-succeeded_at").values_list("succeeded_at", flat=True).first()
    item = (
        FeedHealth.objects.exclude(newest_item_at=None).order_by("-newest_item_at").values_list("newest_item_at", flat=True).first()
    )
    if asked and item and now - asked < DAY and now - item > DAY:
        yield warn(
            "clock",
            f"Feeds answer, and their newest item is {_age(now - item)} old.",
            "Either no publisher wrote for a day, or this machine's clock is ahead: compare it with another.",
        )
        return
    yield ok("clock", f"{now:%Y-%m-%d %H:%M:%S} UTC, after the newest snapshot.")


def feeds(now: dt.datetime) -> Iterator[Finding]:
    if WireState.objects.filter(is_sample=True).exists():
        yield ok("feeds", "The sample wire asks none.")
        return
    rows = [row for row in queries.feeds_health(now).feeds if row.active]
    tried = max((row.last_try_at for row in rows if row.last_try_at), default=None)
    every = settings.WIRE_INGEST or dt.timedelta(minutes=30)
    if tried is None or now - tried > MISSED_RUNS * every:
        when = f"for {_age(now - tried)}" if tried else "yet"
        yield warn("feeds", f"No feed was asked {when}.", "Is ingest running? Start it: manage.py ingest --every 30m.")
        return
    unanswered = [row for row in rows if row.failure]
    if rows and len(unanswered) == len(rows):
        yield fail(
            "feeds", f"All {len(rows)} fail; the first says: {rows[0].failure}", "Look at this machine's way out: DNS, firewall."
        )
        return
    failing = [row for row in rows if row.circuit != Circuit.CLOSED]
    silent = [row for row in rows if row.silent and row not in failing]
    for what, some in (("fail again and again", failing), ("are silent", silent)):
        if some:
            named = ", ".join(sorted({row.publication for row in some})[:5])
            advice = "/freshness says since when; the desk tests and changes a feed."
            yield warn("feeds", f"{len(some)} of {len(rows)} {what}: {named}{' …' if len(some) > 5 else ''}.", advice)
    if not failing and not silent:
        answered = f"{len(rows) - len(unanswered)} of {len(rows)}" if unanswered else f"All {len(rows)}"
        yield ok("feeds", f"{answered} answer, the last was asked {_age(now - tried)} ago.")


def _newest() -> Snapshot | None:
    return Snapshot.objects.select_related("key").order_by("-sequence").first()


def _age(age: dt.timedelta) -> str:
    minutes = int(age.total_seconds() // 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h" if minutes < 2880 else f"{minutes // 1440} days"


CHECKS: Final[Mapping[str, Callable[[dt.datetime], Iterator[Finding]]]] = {
    "roster": roster_is_whole,
    "signing key": signing_key,
    "chain": last_link,
    "clock": clock,
    "feeds": feeds,
}

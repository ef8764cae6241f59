"""Checks of the news: the roster, the key, the newest of chain and stories, the clock, the feeds."""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from django.conf import settings

from config.url_secrets import has_credentials
from sources import queries, roster
from sources.models import Feed, Publication
from sources.vocabulary import Circuit
from wire.models import SigningKey, Snapshot, Story, WireState
from wire.ops.doctor.finding import Finding, fail, ok, warn
from wire.ops.doctor.machine import signing_key_error
from wire.publishing import signing, story_json

# periods without any request, after which ingest is not at work
MISSED_RUNS: Final = 4
# stories whose JSON is recomputed; `verifywire` does all
NEWEST: Final = 500
_ABOUT_FEEDS: Final = "/freshness says since when; the desk tests and changes a feed."


def check_roster(_now: dt.datetime) -> Iterator[Finding]:
    problem = roster.find_problem()
    if problem:
        yield fail("roster", f"{problem} Nothing is published.", "Restore a backup; the desk changes it by replacement only.")
    else:
        yield ok("roster", "24 publications, as its latest revision says.")


def check_signing_key(_now: dt.datetime) -> Iterator[Finding]:
    """Check that the key file holds the key that readers expect next."""
    newest = _newest()
    if signing_key_error():
        return  # a finding of machine.check_key_files
    held = signing.key_in_force()
    known = SigningKey.objects.filter(key_id=held).first()
    back = f"Put the key in force into {signing.key_file()} from a backup, or run manage.py rotatekey."
    if newest is None:
        yield ok("signing key", "Nothing is signed yet.")
    elif held is None:
        yield fail("signing key", f"The file of {newest.key_id} is gone; nothing is published until it is back.", back)
    elif known is None:
        yield fail("signing key", f"{held} is not published; the newest snapshot was signed by {newest.key_id}.", back)
    elif known.retired_at:
        yield fail("signing key", f"{held} was retired; it signs nothing.", back)
    else:
        yield ok("signing key", f"{held} is in force since {known.created_at:%Y-%m-%d}.")


def check_chain(_now: dt.datetime) -> Iterator[Finding]:
    """Check hash, signature and link of the newest snapshots; `verifywire` checks all."""
    last = _newest()
    newest = f"The newest {min(signing.LINKS, last.sequence)} hold, up to {last.sequence} ({last})." if last else "No snapshot yet."
    wrong = [fail("chain", what, "Run manage.py verifywire; restore a backup.") for what in signing.list_chain_faults()]
    yield from wrong or [ok("chain", newest)]


def check_stories(_now: dt.datetime) -> Iterator[Finding]:
    """Check that the newest stories are stored as in their revisions, and all in today's rendering."""
    newest = list(Story.objects.published().select_related("current", "json").newest_first()[:NEWEST])
    wrong = [story for story in newest if not story_json.matches_revision(story)]
    if wrong:
        found = f"The stored JSON of {len(wrong)} of the newest {len(newest)} is not what their revisions say, first {wrong[0]}."
        yield fail("stories", found, "Run manage.py verifywire: it says whether a revision was changed; if none was, renderwire.")
    elif outdated := story_json.outdated_count():
        yield warn("stories", f"{outdated:,} are rendered whenever somebody asks: right, but slow.", "Run manage.py renderwire.")
    else:
        yield ok("stories", f"The newest {len(newest)} are stored as their revisions have them.")


def check_clock(now: dt.datetime) -> Iterator[Finding]:
    """Compare this machine's clock with the newest snapshot."""
    newest = _newest()
    if newest and now < newest.generated_at:
        found = f"It says {now:%Y-%m-%d %H:%M} UTC, before the newest snapshot of {newest.generated_at:%Y-%m-%d %H:%M}."
        yield fail("clock", found, "Set it (NTP) before anything is published.")
    else:
        yield ok("clock", f"{now:%Y-%m-%d %H:%M:%S} UTC, after the newest snapshot.")


def check_addresses(_now: dt.datetime) -> Iterator[Finding]:
    """Find addresses that were entered with a password before it was refused. They are never requested."""
    feeds = [feed for feed in Feed.objects.filter(url__contains="@").select_related("publication") if has_credentials(feed.url)]
    wrong = [f"{feed} of {feed.publication}" for feed in feeds]
    wrong += [f"the homepage of {row}" for row in Publication.objects.all() if has_credentials(row.homepage)]
    if wrong:
        found = f"{len(wrong)} with a user name or a password, which is never sent: {', '.join(wrong[:5])}."
        yield fail("addresses", found, "Correct them in the desk; a token may stand in a parameter, whose value nobody is shown.")
    else:
        yield ok("addresses", "None holds a user name or a password.")


def check_feeds(now: dt.datetime) -> Iterator[Finding]:
    if WireState.objects.filter(is_sample=True).exists():
        yield ok("feeds", "The sample wire fetches none.")
        return
    rows = [row for row in queries.feeds_health(now).feeds if row.active]
    tried = max((row.last_try_at for row in rows if row.last_try_at), default=None)
    every = settings.WIRE_INGEST or dt.timedelta(minutes=30)
    if tried is None or now - tried > MISSED_RUNS * every:
        when = f"for {_age(now - tried)}" if tried else "yet"
        yield warn("feeds", f"No feed was tried {when}.", "Is ingest running? Start it: manage.py ingest --every 30m.")
        return
    unanswered = [row for row in rows if row.failure]
    if rows and len(unanswered) == len(rows):
        found = f"All {len(rows)} fail; the first says: {rows[0].failure}"
        yield fail("feeds", found, "Look at this machine's way out: DNS, firewall.")
        return
    bad = {row.publication for row in rows if row.circuit != Circuit.CLOSED or row.silent}
    empty = {row.publication for row in rows if any(warning.code == "empty" for warning in row.warnings)}
    if bad:
        yield warn("feeds", f"Those of {_names(bad)} fail again and again or are silent.", _ABOUT_FEEDS)
    if empty:
        yield warn("feeds", f"Those of {_names(empty)} answer without any item, though they had some before.", _ABOUT_FEEDS)
    if not (bad or empty):
        yield ok("feeds", f"{len(rows) - len(unanswered)} of {len(rows)} answer, the last was tried {_age(now - tried)} ago.")


def _names(publications: set[str]) -> str:
    return f"{', '.join(sorted(publications)[:5])}{' …' if len(publications) > 5 else ''}"


def _newest() -> Snapshot | None:
    return Snapshot.objects.select_related("key").order_by("-sequence").first()


def _age(age: dt.timedelta) -> str:
    minutes = int(age.total_seconds() // 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h" if minutes < 2880 else f"{minutes // 1440} days"


CHECKS: Final[Mapping[str, Callable[[dt.datetime], Iterator[Finding]]]] = {
    "roster": check_roster,
    "signing key": check_signing_key,
    "chain": check_chain,
    "stories": check_stories,
    "clock": check_clock,
    "addresses": check_addresses,
    "feeds": check_feeds,
}

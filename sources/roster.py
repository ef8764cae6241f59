"""The roster: founded once, then changed by replacement only, every state fingerprinted."""

import datetime as dt
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rfc8785
from django.conf import settings
from django.db import models, transaction

from config.errors import InvalidArgument, RosterLocked
from config.url_secrets import CREDENTIALS_REFUSED, has_credentials, mask_address
from sources.choices import ROSTER_SIZE, FeedType
from sources.models import LOCKED, Feed, Publication, RosterRevision, utc_today
from sources.publication_names import Name

ROSTER_FILE = Path(settings.BASE_DIR) / "fixtures" / "roster.json"


def list_members(publications: Iterable[Publication]) -> list[dict[str, Any]]:
    """Return `[{name, tier, domain}]` sorted by name (code point order): what the fingerprint is made of."""
    rows = [{"name": p.name, "tier": p.tier, "domain": p.domain} for p in publications]
    return sorted(rows, key=lambda row: row["name"])


def compute_fingerprint(rows: list[dict[str, Any]]) -> str:
    """Return the lower-case hex SHA-256 of the RFC 8785 canonical JSON of `list_members`."""
    return hashlib.sha256(rfc8785.dumps(rows)).hexdigest()


def get_current_roster() -> RosterRevision:
    """Return the roster in force. Raises: RosterLocked when none was founded."""
    revision = RosterRevision.objects.order_by("-number").first()
    if revision is None:
        raise RosterLocked("The roster is empty.", "Run manage.py migrate, which stores it from fixtures/roster.json.")
    return revision


def find_problem() -> str | None:
    """Return what is wrong with the stored roster, in one sentence, or None."""
    active = list(Publication.objects.active().only("name", "tier", "domains"))  # `migrate` asks before it adds further columns
    if len(active) != ROSTER_SIZE:
        return f"The roster holds {len(active)} publications instead of {ROSTER_SIZE}."
    latest = RosterRevision.objects.order_by("-number").first()
    if latest is None or compute_fingerprint(list_members(active)) != latest.fingerprint:
        return "The roster's publications do not match the fingerprint of its latest revision."
    return None


@transaction.atomic
def create_if_missing(facts: list[dict[str, Any]] | None = None) -> None:
    """Seat the 24 of fixtures/roster.json, unless a roster exists. Raises: RosterLocked for any other number."""
    if RosterRevision.objects.exists():
        return
    facts, today = facts if facts is not None else _read_roster_file(), utc_today()
    if len(facts) != ROSTER_SIZE:
        raise LOCKED
    for seat, fact in enumerate(facts, start=1):
        _admit_publication(fact, seat, today)
    _record_revision(1, today, reason="The founding roster.")


def _read_roster_file() -> Any:
    return json.loads(ROSTER_FILE.read_text(encoding="utf-8"))


def list_shipped_names() -> list[Name]:
    return [Name(fact["name"], fact["tier"], tuple(fact["aliases"]), tuple(fact["domains"])) for fact in _read_roster_file()]


@transaction.atomic
def replace_publication(retire: Publication, admit: Mapping[str, Any], *, reason: str, on: dt.date | None = None) -> RosterRevision:
    """Retire one publication and admit another to its seat, in one transaction; returns the new roster revision.

    `admit` has the keys of an entry of fixtures/roster.json. The retired one's stories stay as they were published.
    Raises: RosterLocked when `retire` holds no seat or `admit` already does.
    """
    today = on or utc_today()
    # Every replacement locks the newest revision first, so that two at once happen one after the other.
    latest = RosterRevision.objects.select_for_update().order_by("-number").first()
    retire = Publication.objects.select_for_update().get(pk=retire.pk)
    if latest is None or retire.seat is None:
        raise RosterLocked(f"{retire.name} is not in the roster.", "Choose one of the 24 current publications.")
    if Publication.objects.active().filter(slug=admit["slug"]).exists():
        raise RosterLocked(f"{admit['name']} is already in the roster.", "Choose a publication outside the 24.")
    seat = retire.seat
    retire.seat, retire.retired_on = None, today
    retire.save(update_fields=["seat", "retired_on"])
    admitted = _admit_publication(admit, seat, today)
    return _record_revision(latest.number + 1, today, retired=retire, admitted=admitted, reason=reason)


def preview_replacement(retire: Publication, admit: Mapping[str, Any], *, reason: str) -> RosterRevision:
    """Return what `replace_publication` would record; nothing is stored. Raises: RosterLocked, as `replace_publication` would."""
    with transaction.atomic():
        revision = replace_publication(retire, admit, reason=reason)
        transaction.set_rollback(True)
    return revision


def _admit_publication(fact: Mapping[str, Any], seat: int, on: dt.date) -> Publication:
    """Raises: InvalidArgument for an address with a user name or a password."""
    for address in (fact["homepage"], *(feed.get("url", "") for feed in fact["feeds"])):
        if has_credentials(address):
            raise InvalidArgument(f"{fact['name']} cannot have the address {mask_address(address)}.", CREDENTIALS_REFUSED)
    facts = {name: fact[name] for name in ("name", "aliases", "domains", "tier", "homepage")} | _parse_owner(fact)
    publication, _ = Publication.objects.update_or_create(
        slug=fact["slug"], defaults={**facts, "seat": seat, "admitted_on": on, "retired_on": None}
    )
    for feed in fact["feeds"]:
        Feed.objects.update_or_create(
            publication=publication,
            url=feed.get("url", ""),
            query=feed.get("query", ""),
            defaults={"feed_type": FeedType(feed["feed_type"]), "ai_only": feed["ai_only"], "note": feed.get("note", "")},
        )
    return publication


def _parse_owner(fact: Mapping[str, Any]) -> dict[str, Any]:
    """Return owner and since when, if the fact tells them; a readmission without them changes nothing there."""
    since = fact.get("owner_since")
    return {"owner": fact["owner"], "owner_since": since and dt.date.fromisoformat(since)} if "owner" in fact else {}


def _record_revision(
    number: int, on: dt.date, *, reason: str, retired: Publication | None = None, admitted: Publication | None = None
) -> RosterRevision:
    rows = list_members(Publication.objects.active())
    if len(rows) != ROSTER_SIZE:
        raise LOCKED
    what = {"number": number, "on": on, "retired": retired, "admitted": admitted, "reason": reason}
    return RosterRevision.objects.create(**what, fingerprint=compute_fingerprint(rows), members=rows)


def restore_publications(records: list[dict[str, Any]]) -> None:
    """Put the publications of a dump in place of the founding ones. Only for a wire that holds no story yet."""
    RosterRevision.objects.all().delete()
    Feed.objects.all().delete()
    models.QuerySet.delete(Publication.objects.all())
    # Dumps of 1.3 and earlier name no owners: theirs are those that the migration gives a wire of that age.
    shipped = {fact["slug"]: _parse_owner(fact) for fact in _read_roster_file()}
    for record in records:
        facts = {k: v for k, v in record.items() if k not in {"kind", "feeds"}}
        publication = Publication.objects.create(**shipped.get(record["slug"], {}) | facts)
        Feed.objects.bulk_create(Feed(publication=publication, **feed) for feed in record["feeds"])


def restore_revisions(records: list[dict[str, Any]]) -> None:
    """Store the roster history of a dump, after its publications."""
    by_slug = {publication.slug: publication for publication in Publication.objects.all()}
    RosterRevision.objects.bulk_create(
        RosterRevision(
            **{k: record[k] for k in ("number", "on", "fingerprint", "members", "reason")},
            retired=by_slug.get(record["retired"]),
            admitted=by_slug.get(record["admitted"]),
        )
        for record in records
    )


@dataclass(frozen=True, slots=True)
class Houses:
    """Owners by publication, each with the UTC date from which it holds (None: ever). Two reports of one house are one voice."""

    owners: Mapping[str, tuple[str, dt.date | None]]

    @classmethod
    def load(cls) -> "Houses":
        rows = Publication.objects.exclude(owner="").order_by().values_list("name", "owner", "owner_since")
        return cls({name: (owner, since) for name, owner, since in rows})

    def get_owner(self, publication: str, moment: dt.datetime) -> str:
        """Return the house that a publication, perhaps retired, belonged to at that moment; "" for none that is known."""
        owner, since = self.owners.get(publication, ("", None))
        return owner if since is None or moment.astimezone(dt.UTC).date() >= since else ""

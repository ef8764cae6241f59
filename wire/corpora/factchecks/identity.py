"""Finds the stored claim that an entry of a file is about. Pure.

A claim belongs to its checker: the organisation that rated it, by its name and by the site that it publishes at. Ids of
other organisations are theirs, so an entry never replaces the claim of another checker, whatever id it brings.
"""

import re
import uuid
from collections.abc import Mapping
from enum import Enum, auto
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import urlsplit

from wire.text.tokens import fold_text

if TYPE_CHECKING:
    from wire.corpora.factchecks.claim_parsers import ClaimDraft
    from wire.corpora.factchecks.models import Claim

Rated: TypeAlias = "Claim | ClaimDraft"

_NAMESPACE: Final = uuid.UUID("5f2b3e6e-6a3c-5d0e-9a53-9d3d8c6f4b11")
_ROW_NUMBER: Final = re.compile(r"[-+]?[0-9]{1,9}(?:\.0*)?")


class RefusedClaim(ValueError):
    """An entry that cannot be stored; the message says why."""

    row = 0  # of a table, as spreadsheets count; 0 for an entry of another file


class Match(Enum):
    SAME = auto()
    OTHER = auto()  # another checker's claim: both stand
    CONFLICT = auto()  # one id, and nothing says that it is the same claim


def is_row_number(value: str) -> bool:
    """Return true for up to nine digits, also as a spreadsheet writes them (`12.0`): they count rows, in every table alike."""
    return _ROW_NUMBER.fullmatch(value) is not None


def make_claim_id(publisher: str, url: str, claim: str, headline: str = "") -> str:
    """Make the id of a claim whose entry brings none. Where nobody says who rated it, its headline counts as well."""
    name = _fold_line(publisher)
    if name:
        return str(uuid.uuid5(_NAMESPACE, f"{name}\n{url}\n{claim}"))
    return str(uuid.uuid5(_NAMESPACE, f"{url}\n{claim}" if url or not headline else f"\n{claim}\n{headline}"))


def scope_id(draft: Rated, own: str) -> str:
    """Make the id of a claim whose own id another checker's claim already has."""
    return str(uuid.uuid5(_NAMESPACE, f"{_fold_line(draft.publisher)}\n{_get_site(draft.publishing_url)}\n{own}\nscoped"))


def make_bare_id(draft: "ClaimDraft") -> str:
    """Return the id that was made of the entry, or would be if it had no address; "" if it has an id of its own or no publisher."""
    made = make_claim_id(draft.publisher, draft.publishing_url, draft.synopsis)
    return make_claim_id(draft.publisher, "", draft.synopsis) if draft.publisher and draft.external_id == made else ""


def lacks_only_address(stored: Rated, draft: Rated) -> bool:
    """Return true for one fact-check where an entry gives no address: a checker's name, the text and the day are the same."""
    days = {one.published_at.date() for one in (stored, draft) if one.published_at}
    texts = [(_fold_line(one.publisher), _fold_line(one.synopsis)) for one in (stored, draft)]
    is_lacking = not (stored.publishing_url and draft.publishing_url)
    return is_lacking and bool(draft.publisher) and texts[0] == texts[1] and len(days) < 2


def find_claim_id(draft: "ClaimDraft", holders: Mapping[str, Rated], names: Mapping[str, str]) -> str:
    """Return the id of a claim; `holders`: claims by candidate id, `names`: ids by every name of claims. Raises: RefusedClaim."""
    own, scoped, bare = draft.external_id, scope_id(draft, draft.external_id), make_bare_id(draft)
    found = {one: match_claims(holders[one], draft) for one in (own, scoped) if one in holders}
    if bare in holders and (_fold_url(holders[bare]) == _fold_url(draft) or lacks_only_address(holders[bare], draft)):
        found.setdefault(bare, Match.SAME)
    same = next((one for one, match in found.items() if match is Match.SAME), None)
    if same is not None:
        return same
    if Match.CONFLICT in found.values():
        raise RefusedClaim(
            f"its id {quote_text(own)} is that of another claim ({quote_text(holders[own].synopsis)}), whose URL and text differ. "
            "That one stays; give this one an id of its own, or none"
        )
    free = next((one for one in (own, scoped) if one not in holders and names.get(one, one) == one), None)
    if free is None:
        raise RefusedClaim(f"its id {quote_text(own)} is another claim's. That one stays; give this one an id of its own, or none")
    return free


def match_claims(stored: Rated, draft: "ClaimDraft") -> Match:
    if _fold_line(stored.publisher) != _fold_line(draft.publisher):
        return Match.OTHER
    sites = _get_site(stored.publishing_url), _get_site(draft.publishing_url)
    is_other_text = _fold_line(stored.synopsis) != _fold_line(draft.synopsis)
    if draft.is_dump and not all(sites):
        return Match.SAME  # the id is the key of one database, whose claims get their address when they are published
    if sites[0] != sites[1]:
        if lacks_only_address(stored, draft):
            return Match.SAME
        return Match.CONFLICT if is_other_text else Match.OTHER
    is_other_url = _fold_url(stored) != _fold_url(draft)
    is_anonymous = not draft.publisher and not sites[1]
    return Match.CONFLICT if is_other_text and (is_other_url or is_anonymous) else Match.SAME


def _fold_line(text: str) -> str:
    return fold_text(" ".join(text.split()))


def _fold_url(rated: Rated) -> str:
    page = rated.publishing_url.partition("#")[0].partition("://")[2]
    return page.removeprefix("www.").rstrip("/")  # sites change these without moving a page


def _get_site(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def quote_text(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line[:60]}…”" if len(line) > 60 else f"“{line}”"

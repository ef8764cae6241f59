"""Writes claims: new ones, changed ones, withdrawn ones, and the index that searches read. One transaction a batch."""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import F

from wire import postings
from wire.factchecks.drafts import Draft
from wire.factchecks.indexing import INDEX, tokens_of, words_in
from wire.factchecks.models import Claim, ClaimCategory, ClaimVector, FactcheckState, RatingName, Word
from wire.factchecks.ratings import SHIPPED, Rating, key_of
from wire.models import WireState

BATCH: Final = 500  # claims of one transaction
UNPUBLISHED: Final = "Its fact-checker no longer publishes it"
"""Begins the reason of a withdrawal that came with a load; another load may take that one back, and no other."""
_OF_DRAFT: Final = (
    *("short_id", "process_id", "status", "internal", "synopsis", "rating_label", "rating_summary", "rating_statement"),
    *("publishing_url", "publisher", "claimant", "published_at", "language", "categories", "facts", "origins", "superseded_by"),
)
_WRITTEN: Final = (*_OF_DRAFT, "rating_key", "content_sha256", "changed_at", "withdrawn_at", "withdrawn_reason")


@dataclass(slots=True)
class Stored:
    created: int = 0
    updated: int = 0
    skipped: int = 0


def found() -> None:
    """The one row of state, and the labels that ship; those that an editor decided stay."""
    FactcheckState.objects.get_or_create(pk=1)
    known = dict(RatingName.objects.values_list("key", "is_edited"))
    names = [RatingName(key=key, label=key, rating=rating) for key, rating in SHIPPED.items() if key not in known]
    RatingName.objects.bulk_create(names, ignore_conflicts=True)


def announce() -> None:
    """Tell every reader that what is answered changed; in the transaction that changes it."""
    WireState.raise_version()


def store(drafts: Sequence[Draft], now: dt.datetime) -> Stored:
    """Write one batch; of an id that comes twice the last counts. The same drafts again change nothing."""
    counted = Stored()
    wanted = {draft.external_id: draft for draft in drafts}
    counted.skipped = len(drafts) - len(wanted)
    with transaction.atomic():
        state = FactcheckState.lock()
        known = {claim.external_id: claim for claim in Claim.objects.filter(external_id__in=wanted)}
        fresh, changed = list[Claim](), list[tuple[Claim, dict[str, int]]]()
        for external_id, draft in wanted.items():
            claim, digest = known.get(external_id), draft.sha256
            if claim is None:
                claim = Claim(number=state.next_number + len(fresh), external_id=external_id, first_seen_at=now)
                _write(claim, draft, digest, now)
                fresh.append(claim)
            elif claim.content_sha256 == digest:
                counted.skipped += 1
            else:
                before = tokens_of(claim) if claim.is_live else {}
                was_public, texts = claim.is_public and not claim.withdrawn_at, [chunk.plain for chunk in claim.chunks()]
                _write(claim, draft, digest, now)
                _follow_publication(claim, was_public, now)
                if texts != [chunk.plain for chunk in claim.chunks()]:
                    _drop_vectors([claim.pk])
                changed.append((claim, before))
        Claim.objects.bulk_create(fresh)
        Claim.objects.bulk_update([claim for claim, _ in changed], _WRITTEN, batch_size=100)
        _name_ratings(wanted.values())
        _index([*((claim, dict[str, int]()) for claim in fresh), *changed], next_number=state.next_number + len(fresh))
    counted.created, counted.updated = len(fresh), len(changed)
    return counted


def withdraw(claim: Claim, reason: str, now: dt.datetime) -> None:
    """It is found no more; whoever asks for it by its id reads that it was withdrawn, and why."""
    _change(claim, withdrawn_at=now, withdrawn_reason=reason)


def give_back(claim: Claim, now: dt.datetime) -> None:
    """Take a withdrawal back."""
    _change(claim, withdrawn_at=None, withdrawn_reason="", changed_at=now)


def supersede(claim: Claim, by: str) -> None:
    """Another claim takes its place; "" takes that back."""
    _change(claim, superseded_by=by)


def reindex(progress: Callable[[int], None] = lambda _done: None) -> int:
    """Make the index anew, as after another choice of statuses that are answered; searches find less until it is done."""
    with transaction.atomic():
        FactcheckState.lock()
        postings.clear(INDEX)
        ClaimCategory.objects.all().delete()
        FactcheckState.objects.filter(pk=1).update(found=0)
    done = 0
    while claims := list(Claim.objects.filter(number__gte=done).order_by("number")[:BATCH]):
        with transaction.atomic():
            FactcheckState.lock()
            _index([(claim, {}) for claim in Claim.objects.filter(pk__in=[claim.pk for claim in claims])])
        done = claims[-1].number + 1
        progress(done)
    return done


def _change(claim: Claim, **values: Any) -> None:
    with transaction.atomic():
        FactcheckState.lock()
        claim.refresh_from_db()
        before = tokens_of(claim) if claim.is_live else {}
        for name, value in values.items():
            setattr(claim, name, value)
        claim.save(update_fields=list(values))
        _index([(claim, before)])
        announce()


def _write(claim: Claim, draft: Draft, digest: str, now: dt.datetime) -> None:
    for name in _OF_DRAFT:
        value = getattr(draft, name)
        setattr(claim, name, list(value) if isinstance(value, tuple) else value)
    claim.rating_key, claim.content_sha256, claim.changed_at = key_of(claim.rating_label), digest, now


def _follow_publication(claim: Claim, was_public: bool, now: dt.datetime) -> None:
    """What was read in public and is published no more says so from now on; what is published again is there again."""
    by_load = claim.withdrawn_reason.startswith(UNPUBLISHED)
    shown = not claim.internal and claim.status in settings.FACTCHECKS_STATUSES
    if was_public and not claim.internal and not shown:
        claim.withdrawn_at, claim.withdrawn_reason = now, f"{UNPUBLISHED} (status: {claim.status})."
    elif by_load and shown:
        claim.withdrawn_at, claim.withdrawn_reason = None, ""


def _index(claims: Sequence[tuple[Claim, Mapping[str, int]]], *, next_number: int | None = None) -> None:
    """Bring postings, words, categories and counts in step with claims; each comes with the tokens that it has in the index."""
    now = {claim.number: tokens_of(claim) if claim.is_live else {} for claim, _ in claims}
    gone = {claim.number: {token: 1 for token in before if token not in now[claim.number]} for claim, before in claims}
    postings.remove(INDEX, {number: tokens for number, tokens in gone.items() if tokens})
    postings.add(INDEX, {number: tokens for number, tokens in now.items() if tokens})
    postings.put(INDEX, {claim.number: _moment(claim.published_at) for claim, _ in claims})
    tokens = sorted(words_in({token for found in now.values() for token in found}))
    Word.objects.bulk_create([Word(token=token) for token in tokens], ignore_conflicts=True, batch_size=5_000)
    ClaimCategory.objects.filter(claim__in=[claim.pk for claim, before in claims if before]).delete()
    rows = [
        ClaimCategory(claim=claim, name=name)
        for claim, _ in claims
        if now[claim.number]
        for name in dict.fromkeys(one["name"] for one in claim.categories)
    ]
    ClaimCategory.objects.bulk_create(rows, ignore_conflicts=True)
    more = sum(bool(tokens) for tokens in now.values()) - sum(bool(before) for _, before in claims)
    values: dict[str, Any] = {"found": F("found") + more, "version": F("version") + 1}
    if next_number is not None:
        values["next_number"] = next_number
    FactcheckState.objects.filter(pk=1).update(**values)


def _drop_vectors(claims: Sequence[int]) -> None:
    if ClaimVector.objects.filter(claim__in=claims).delete()[0]:
        FactcheckState.objects.filter(pk=1).update(vectors_dropped=F("vectors_dropped") + 1)


def _name_ratings(drafts: Iterable[Draft]) -> None:
    """Labels that nobody knew yet, for an editor to look at."""
    labels = {key_of(draft.rating_label): draft for draft in drafts if draft.rating_label}
    known = set(RatingName.objects.filter(key__in=labels).values_list("key", flat=True))
    names = [
        RatingName(key=key, label=draft.rating_label, rating=draft.rating_hint or Rating.UNKNOWN)
        for key, draft in labels.items()
        if key not in known
    ]
    RatingName.objects.bulk_create(names, ignore_conflicts=True)


def _moment(value: dt.datetime | None) -> int:
    """Milliseconds since 1970; 1 for a claim without a date, since 0 is what a number has that is no claim's."""
    return int(value.timestamp() * 1000) or 1 if value else 1

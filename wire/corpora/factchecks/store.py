"""Writes claims: new ones, changed ones, withdrawn ones, and the index that searches read. One transaction a batch."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import F, Max

from wire.corpora.factchecks import identity
from wire.corpora.factchecks.chunks import split_claim
from wire.corpora.factchecks.claim_parsers import NOT_STORED, ClaimDraft, RefusedClaim
from wire.corpora.factchecks.index_terms import INDEX, select_words, weigh_claim_tokens
from wire.corpora.factchecks.models import Claim, ClaimCategory, ClaimRevision, ClaimVector, FactcheckState, RatingName, Word
from wire.corpora.factchecks.ratings import SHIPPED, Rating, make_label_key, rate_label
from wire.models import WireState
from wire.search import postings_index

BATCH: Final = 500  # claims of one transaction
# Begins the reason of a withdrawal that came with a load; another load may take that one back, and no other.
UNPUBLISHED: Final = "Its fact-checker no longer publishes it"
_OF_DRAFT: Final = tuple(one.name for one in fields(ClaimDraft) if one.name not in {"external_id", *NOT_STORED})
_WRITTEN: Final = (*_OF_DRAFT, "rating_key", "content_sha256", "changed_at", "withdrawn_at", "withdrawn_reason")


@dataclass(slots=True)
class StoreResult:
    created: int = 0
    updated: int = 0
    skipped: int = 0
    refused: dict[int, str] = field(default_factory=dict)  # why entries were not stored, by their place in the batch
    remarks: dict[int, str] = field(default_factory=dict)  # what of a stored entry was left out


def create_defaults() -> None:
    """Create the one row of state and the labels that ship; labels that nobody knew get their meaning once a release has it."""
    FactcheckState.objects.get_or_create(pk=1)
    known = set(RatingName.objects.values_list("key", flat=True))
    names = [RatingName(key=key, label=key, rating=rating) for key, rating in SHIPPED.items() if key not in known]
    RatingName.objects.bulk_create(names, ignore_conflicts=True)
    for name in RatingName.objects.filter(rating=Rating.UNKNOWN, is_edited=False):
        if rating := rate_label(name.label):
            name.rating = rating
            name.save()


def invalidate_caches() -> None:
    """Tell every reader that what is answered changed; in the transaction that changes it, if there is one."""
    with transaction.atomic(savepoint=False):
        WireState.raise_version()


def store_claims(entries: Sequence[ClaimDraft | RefusedClaim], now: dt.datetime) -> StoreResult:
    """Write one batch; of a claim that comes twice the last counts. The same entries again change nothing."""
    counted = StoreResult()
    with transaction.atomic():
        state = FactcheckState.lock()
        known, wanted = _assign_ids(entries, counted)
        counted.skipped = len(entries) - len(wanted) - len(counted.refused)
        fresh, changed, replaced = list[Claim](), list[tuple[Claim, dict[str, int]]](), list[ClaimRevision]()
        for external_id, draft in wanted.items():
            claim = known.get(external_id)
            if claim is None:
                claim = Claim(number=state.next_number + len(fresh), external_id=external_id, first_seen_at=now)
                _copy_draft(claim, draft, now)
                fresh.append(claim)
            elif claim.content_sha256 == draft.sha256:
                counted.skipped += 1
            else:
                before = weigh_claim_tokens(claim) if claim.is_live else {}
                was_public, texts = claim.is_public and not claim.withdrawn_at, [chunk.plain for chunk in split_claim(claim)]
                fields = {name: getattr(claim, name) for name in _OF_DRAFT}
                fields["published_at"] = claim.published_at.isoformat() if claim.published_at else None
                replaced.append(ClaimRevision(claim=claim, fields=fields, content_sha256=claim.content_sha256, until=now))
                _copy_draft(claim, draft, now)
                _update_withdrawal(claim, was_public, now)
                is_other_text = texts != [chunk.plain for chunk in split_claim(claim)]
                if is_other_text and ClaimVector.objects.filter(claim=claim.pk).delete()[0]:
                    FactcheckState.objects.filter(pk=1).update(vectors_dropped=F("vectors_dropped") + 1)
                changed.append((claim, before))
        Claim.objects.bulk_create(fresh)
        Claim.objects.bulk_update([claim for claim, _ in changed], _WRITTEN, batch_size=100)
        _store_revisions(replaced)
        _create_rating_names(wanted.values())
        _update_index([*((claim, dict[str, int]()) for claim in fresh), *changed], next_number=state.next_number + len(fresh))
    counted.created, counted.updated = len(fresh), len(changed)
    return counted


def withdraw_claim(claim: Claim, reason: str, now: dt.datetime) -> None:
    _change_claim(claim, withdrawn_at=now, withdrawn_reason=reason)


def restore_claim(claim: Claim, now: dt.datetime) -> None:
    _change_claim(claim, withdrawn_at=None, withdrawn_reason="", changed_at=now)


def supersede_claim(claim: Claim, by: str) -> None:
    _change_claim(claim, superseded_by=by)


def reindex_claims() -> int:
    """Make the index anew, as after another choice of statuses that are answered; searches find less until it is done."""
    with transaction.atomic():
        FactcheckState.lock()
        postings_index.clear_index(INDEX)
        ClaimCategory.objects.all().delete()
        FactcheckState.objects.filter(pk=1).update(found=0)
    done = 0
    while claims := list(Claim.objects.filter(number__gte=done).order_by("number")[:BATCH]):
        with transaction.atomic():
            FactcheckState.lock()
            _update_index([(claim, {}) for claim in Claim.objects.filter(pk__in=[claim.pk for claim in claims])])
        done = claims[-1].number + 1
    return done


def _change_claim(claim: Claim, **values: Any) -> None:
    with transaction.atomic():
        FactcheckState.lock()
        claim.refresh_from_db()
        before = weigh_claim_tokens(claim) if claim.is_live else {}
        for name, value in values.items():
            setattr(claim, name, value)
        claim.save(update_fields=list(values))
        _update_index([(claim, before)])
        invalidate_caches()


def _assign_ids(
    entries: Sequence[ClaimDraft | RefusedClaim], counted: StoreResult
) -> tuple[dict[str, Claim], dict[str, ClaimDraft]]:
    """Return the stored claims that entries are about, and the drafts to store, by id; `counted` gets what is refused."""
    counted.refused = {place: str(entry) for place, entry in enumerate(entries) if isinstance(entry, RefusedClaim)}
    drafts = [entry for entry in entries if isinstance(entry, ClaimDraft)]
    bare = {draft.external_id: identity.make_bare_id(draft) for draft in drafts}
    ids = {one for draft in drafts for one in (draft.external_id, identity.scope_id(draft, draft.external_id))} | {*bare.values()}
    known = {claim.external_id: claim for claim in Claim.objects.filter(external_id__in=ids)}
    # The id of the claim that has each name, as its id or short id; an id before a short id that is spelled the same.
    given_names = {name for draft in drafts for name in (draft.external_id, draft.short_id) if name}
    names = dict(Claim.objects.filter(short_id__in=given_names).order_by("-number").values_list("short_id", "external_id"))
    names |= {one: one for one in Claim.objects.filter(external_id__in=given_names).values_list("external_id", flat=True)}
    holders: dict[str, Claim | ClaimDraft] = dict(known)
    wanted = dict[str, ClaimDraft]()
    with_address = defaultdict[str, list[Claim | ClaimDraft]](list)  # by text: where those without one may be found
    lacking = {draft.synopsis for draft in drafts if draft.external_id == bare[draft.external_id] not in known}
    for claim in Claim.objects.filter(synopsis__in=lacking).exclude(publishing_url="") if lacking else ():
        with_address[claim.synopsis].append(claim)
    for place, given in enumerate(entries):
        if isinstance(given, RefusedClaim):
            continue
        try:
            external_id = identity.find_claim_id(given, holders, names)
        except RefusedClaim as why:
            counted.refused[place] = f"{given.name}: {why}"
            continue
        draft, holder = replace(given, external_id=external_id), holders.get(external_id)
        if not given.publishing_url and not given.is_dump:
            if holder is None and bare[given.external_id] == given.external_id:
                same = (one for one in with_address[given.synopsis] if identity.lacks_only_address(one, given))
                holder = next(same, None)
            if holder is not None and holder.publishing_url:  # an entry without an address changes nothing of one that has it
                remarks = list(draft.remarks)
                told = ("rating_label", "rating_summary", "rating_statement", "published_at")
                if any(getattr(given, name) not in ("", None, getattr(holder, name)) for name in told):
                    url = holder.publishing_url
                    remarks.insert(
                        0, f"{given.name}: this claim is stored already; to change it, add its web address {url} to the entry"
                    )
                if remarks:
                    counted.remarks[place] = "; ".join(remarks)
                continue
        elif holder is not None and external_id == bare[given.external_id]:  # stored without an address, which it gets
            missing = [name for name in _OF_DRAFT if not getattr(draft, name)]
            draft = replace(draft, **{name: getattr(holder, name) for name in missing})
        if names.get(draft.short_id, external_id) != external_id:
            stored = known[external_id].short_id if external_id in known else ""
            if stored != draft.short_id:
                remark = (
                    f"{draft.name}: the short id {draft.short_id[:60]} belongs to another claim, so this one was stored without it"
                )
                draft = replace(draft, remarks=(remark, *draft.remarks))
            draft = replace(draft, short_id=stored)
        if draft.remarks:
            counted.remarks[place] = "; ".join(draft.remarks)
        for name in filter(None, (external_id, draft.short_id)):
            names.setdefault(name, external_id)
        with_address[draft.synopsis] += [draft] if draft.publishing_url else []
        holders[external_id] = wanted[external_id] = draft
    return known, wanted


def _copy_draft(claim: Claim, draft: ClaimDraft, now: dt.datetime) -> None:
    for name in _OF_DRAFT:
        setattr(claim, name, getattr(draft, name))
    claim.rating_key, claim.content_sha256, claim.changed_at = make_label_key(claim.rating_label), draft.sha256, now


def _store_revisions(replaced: Sequence[ClaimRevision]) -> None:
    former = ClaimRevision.objects.filter(claim__in=[one.claim_id for one in replaced]).order_by()
    newest = {claim: (last, until) for claim, last, until in former.values_list("claim").annotate(Max("revision"), Max("until"))}
    for one in replaced:
        number, one.since = newest.get(one.claim_id, (0, one.claim.first_seen_at))
        one.revision = number + 1
    ClaimRevision.objects.bulk_create(replaced)


def _update_withdrawal(claim: Claim, was_public: bool, now: dt.datetime) -> None:
    """Withdraw a claim that was public and is published no more; give back one that is published again."""
    shown = not claim.internal and claim.status in settings.FACTCHECKS_STATUSES
    if was_public and not claim.internal and not shown:
        claim.withdrawn_at, claim.withdrawn_reason = now, f"{UNPUBLISHED} (status: {claim.status})."
    elif shown and claim.withdrawn_reason.startswith(UNPUBLISHED):
        claim.withdrawn_at, claim.withdrawn_reason = None, ""


def _update_index(claims: Sequence[tuple[Claim, Mapping[str, int]]], *, next_number: int | None = None) -> None:
    """Bring postings, words, categories and counts in step with claims; each comes with the tokens that it has in the index."""
    now = {claim.number: weigh_claim_tokens(claim) if claim.is_live else {} for claim, _ in claims}
    gone = {claim.number: {token: 1 for token in before if token not in now[claim.number]} for claim, before in claims}
    postings_index.remove(INDEX, {number: tokens for number, tokens in gone.items() if tokens})
    postings_index.add(INDEX, {number: tokens for number, tokens in now.items() if tokens})
    # Milliseconds since 1970; 1 for a claim without a date, since 0 is what a number has that is no claim's.
    moments = {claim.number: int(claim.published_at.timestamp() * 1000) if claim.published_at else 0 for claim, _ in claims}
    postings_index.set_values(INDEX, {number: moment or 1 for number, moment in moments.items()})
    tokens = sorted(select_words({token for found in now.values() for token in found}))
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


def _create_rating_names(drafts: Iterable[ClaimDraft]) -> None:
    labels = {make_label_key(draft.rating_label): draft for draft in drafts if draft.rating_label}
    known = set(RatingName.objects.filter(key__in=labels).values_list("key", flat=True))
    names = [
        RatingName(key=key, label=draft.rating_label, rating=draft.rating_hint or Rating.UNKNOWN)
        for key, draft in labels.items()
        if key not in known
    ]
    RatingName.objects.bulk_create(names, ignore_conflicts=True)

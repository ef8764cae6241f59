"""Payments for articles by x402, version 2: ask, check the payment, give the article, then have the payment settled.

No money passes here. Whoever runs the installation names a facilitator, the service that checks and settles payments for it
(WIRE_X402_FACILITATOR); without one, nothing that has a price is given. An agent is never charged for what it did not get: a
payment is settled after the article was read, and an article is only given when it was settled.

A payment is what its payer signed (`x402`), and buys one article, for an hour. Its row is bound to that article before
the money moves; once the facilitator was asked to move it, the row is never deleted unless the facilitator said that it did not.
"""

import datetime as dt
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import orjson
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from config.database import routing
from config.errors import PaymentRequired, UpstreamFailed
from wire.corpora.articles import page_fetch
from wire.corpora.articles.models import Payment, Publisher
from wire.corpora.articles.url_keys import build_url_key
from wire.corpora.articles.x402 import Authorization, InvalidPayment, Price, describe_price, read_authorization

T = TypeVar("T")

VERSION: Final = 2
HELD: Final = dt.timedelta(hours=1)  # a payment buys its article again: in parts, in another format, or after a lost answer
TAKING: Final = dt.timedelta(seconds=30)  # whoever takes a payment is not disturbed; who was killed meanwhile is done by then
PATIENCE: Final = 5.0  # seconds for one step of the facilitator's answer
DEADLINE: Final = 10.0  # seconds for its body; shorter than TAKING, so that two never settle one payment side by side
MAX_ANSWER: Final = 65_536  # bytes of it
AT_ONCE: Final = 3  # payments that are checked at a time in a process: the threads are needed for readers, too
HOW_TO_PAY: Final = (
    'Pay as `accepts` says and ask again with the payment in the header PAYMENT-SIGNATURE, or in _meta["x402/payment"] in MCP.'
)
BUSY: Final = "This payment is being processed. Send it again in 30 seconds."

_checks: Final = threading.BoundedSemaphore(AT_ONCE)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settlement:
    transaction: str
    network: str

    def as_dict(self) -> dict[str, Any]:
        """Return x402's SettlementResponse, without who paid."""
        return {"success": True, "transaction": self.transaction, "network": self.network}


def verify_payment(payment: Mapping[str, Any], terms: Price) -> None:
    """Raises: InvalidPayment, if the payment cannot be taken; UpstreamFailed."""
    if not (found := _ask_facilitator("verify", payment, terms, "isValid"))["isValid"]:
        raise InvalidPayment(f"The payment is not valid: {_read_reason(found, 'invalidReason')}.")


def settle_payment(payment: Mapping[str, Any], terms: Price) -> Settlement | str:
    """Return the settlement, or why there is none. The same payment twice is settled once. Raises: UpstreamFailed."""
    found = _ask_facilitator("settle", payment, terms, "success")
    named = str(found.get("transaction") or "")
    if found["success"]:
        return Settlement(named[:200], str(found.get("network") or terms["network"])[:100])
    reason = _read_reason(found, "errorReason")
    if named:  # it was sent to the network, and only nobody waited for its end
        log.warning("The facilitator could not settle a payment (%s), and names transaction %s.", reason, named[:200])
        raise UpstreamFailed(
            f"The payment may have been made, as transaction {named[:200]}, but is not confirmed: {reason}.",
            "Send the same payment again in a minute, for the same article: it is not charged twice.",
        )
    return reason


def _ask_facilitator(what: str, payment: Mapping[str, Any], terms: Price, verdict: str) -> Mapping[str, Any]:
    """Ask the service at `/verify` and `/settle` below its address. Raises: UpstreamFailed when it does not answer yes or no."""
    import httpcore2  # takes longer to load than all the rest of this module, and few installations take payments

    url = f"{settings.WIRE_X402_FACILITATOR}/{what}"
    body = {"x402Version": VERSION, "paymentPayload": payment, "paymentRequirements": terms}
    headers = [("content-type", "application/json"), ("accept", "application/json")]
    times = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), PATIENCE)}
    ends = time.monotonic() + DEADLINE
    content = bytearray()
    try:
        with httpcore2.stream("POST", url, headers=headers, content=orjson.dumps(body), extensions=times) as answer:
            for piece in answer.iter_stream():
                content += piece
                if len(content) > MAX_ANSWER or time.monotonic() > ends:
                    raise ValueError("its answer is too long, or comes too slowly")
        found = orjson.loads(content)
        if answer.status < 500 and isinstance(found, dict) and isinstance(found.get(verdict), bool):
            return found
        why = f"status {answer.status}, and no {verdict} that is true or false"
    except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError, OSError, ValueError) as error:
        why = str(error)
    log.warning("The facilitator did not answer /%s: %s", what, why)
    raise UpstreamFailed(
        "The payment service gave no usable answer.",
        # After /settle the money may have moved.
        "Send the same payment again in a minute, for the same article: what was paid already is not charged twice.",
    )


def sell_once(publisher: Publisher, url: str, payment: object, give: Callable[[], T]) -> tuple[T, Settlement]:
    """Return the result of `give` for this payment, and its settlement.

    A payment buys one article, as often as it is asked for within HELD. Raises: PaymentRequired, which says what to pay or why
    this payment is not taken; UpstreamFailed when the facilitator does not answer; what `give` raises, and then nothing is charged.
    """
    resource = {"url": url, "description": f"An article of {publisher.name}", "mimeType": "text/markdown"}
    terms = {"x402Version": VERSION, "error": "", "resource": resource, "accepts": [publisher.price]}  # x402's PaymentRequired
    if not settings.WIRE_X402_FACILITATOR:
        why = f"An article of {publisher.name} costs money, and this installation cannot take payments."
        raise PaymentRequired(why, f"Read it at its publisher: {url}", terms | {"error": why, "accepts": []})
    try:
        if payment is None:
            raise InvalidPayment(f"An article of {publisher.name} costs {describe_price(publisher.price)}.")
        return _settle_or_reuse(publisher, url, read_authorization(payment), give)
    except InvalidPayment as error:
        raise PaymentRequired(str(error), HOW_TO_PAY, terms | {"error": str(error)}) from error


def _settle_or_reuse(publisher: Publisher, url: str, offered: Authorization, give: Callable[[], T]) -> tuple[T, Settlement]:
    """Raises: InvalidPayment, and as `sell_once`."""
    key = build_url_key(url)
    row = _find_reusable_payment(publisher, key, offered)
    if row is not None and row.settled_at is not None:
        if not _was_settled_recently(row):
            raise InvalidPayment("This payment was already used, long ago.")
        if row.signature_sha256 and row.signature_sha256 != offered.signature:
            raise InvalidPayment("This payment was already used, with another signature.")
        return give(), Settlement(row.transaction, row.network)
    terms = publisher.price if row is None or _is_reservation_expired(row) else row.terms or publisher.price
    _expect_terms(publisher, url, key, offered, terms)
    if row is None or row.settling_at is None or row.signature_sha256 not in {"", offered.signature}:
        if not _checks.acquire(blocking=False):
            message = "Other payments are being checked at this moment; this one was not."
            raise UpstreamFailed(message, "Send it again in 10 seconds.")
        try:
            verify_payment(offered.payment, terms)
        finally:
            _checks.release()
    mine = routing.run_write(lambda: _reserve_payment(publisher, key, offered, terms))
    if mine is None:
        _find_reusable_payment(publisher, key, offered)
        raise InvalidPayment(BUSY)
    try:
        given = give()
    except Exception:  # nothing was charged: it may buy another article. One that may have been charged before stays.
        routing.run_write(Payment.objects.filter(pk=mine.pk, taken_at=mine.taken_at, settling_at=None).delete)
        raise
    is_first = mine.settling_at is None
    if not routing.run_write(lambda: _mark_settling(mine)):
        raise InvalidPayment(BUSY)
    settled = settle_payment(offered.payment, terms)  # if it does not answer, the row stays: sent again, it is settled
    if isinstance(settled, str):
        why = f"The payment could not be settled: {settled}."
        if is_first:
            routing.run_write(Payment.objects.filter(pk=mine.pk, taken_at=mine.taken_at, settled_at=None).delete)
        else:
            why += (
                " An earlier attempt had no answer, so it may have been charged, and stays on record for this article. Do not pay "
                "again before this site's operator has looked it up."
            )
        raise InvalidPayment(why)
    other = routing.run_write(lambda: _save_settlement(mine, offered, settled))
    if other is not None and not (_was_settled_recently(other) and _is_for_article(other, publisher, key)):
        raise InvalidPayment("This payment was already used: its transaction paid for another article, or is too old.")
    return given, settled


def _find_reusable_payment(publisher: Publisher, key: str, offered: Authorization) -> Payment | None:
    """Return the row of a payment, if it has one. Raises: InvalidPayment for one that is another article's."""
    row = routing.run_write(Payment.objects.filter(sha256=offered.identity).first)  # a replica may not know of it yet
    if row is not None and not _is_reservation_expired(row) and not _is_for_article(row, publisher, key):
        raise InvalidPayment("This payment was already used, for another article.")
    return row


def _is_reservation_expired(row: Payment) -> bool:
    """Return whether its taker was killed before anything was charged, so that it may buy any article."""
    return row.settled_at is None and row.settling_at is None and row.taken_at < timezone.now() - TAKING


def _was_settled_recently(row: Payment) -> bool:
    return row.settled_at is not None and row.settled_at >= timezone.now() - HELD


def _is_for_article(row: Payment, publisher: Publisher, key: str) -> bool:
    """Return whether it pays for this article, which may have come to another address since."""
    return row.publisher_id == publisher.pk and (row.key == key or page_fetch.is_same_article(publisher, row.key, key))


def _reserve_payment(publisher: Publisher, key: str, offered: Authorization, terms: Price) -> Payment | None:
    """Return the row of a payment, for its taker alone; None while somebody else takes it."""
    now = timezone.now()
    taken: dict[str, Any] = {"signature_sha256": offered.signature, "taken_at": now}
    bound = {name: terms[name] for name in ("amount", "asset", "network")}
    bound |= {"publisher": publisher, "key": key, "terms": dict(terms)}
    row, is_new = Payment.objects.get_or_create(sha256=offered.identity, defaults=bound | taken)
    if is_new:
        return row
    stale = Payment.objects.filter(pk=row.pk, settled_at=None, taken_at=row.taken_at, taken_at__lt=now - TAKING)
    if _is_reservation_expired(row):
        taken |= bound
    elif not _is_for_article(row, publisher, key):
        return None
    return Payment.objects.get(pk=row.pk) if stale.update(**taken) else None


def _mark_settling(mine: Payment) -> bool:
    """Note, before the money moves, that it may have moved. False if somebody else took the payment over meanwhile."""
    now = timezone.now()
    if not Payment.objects.filter(pk=mine.pk, taken_at=mine.taken_at).update(settling_at=now, taken_at=now):
        return False
    mine.taken_at = mine.settling_at = now
    return True


def _save_settlement(mine: Payment, offered: Authorization, settled: Settlement) -> Payment | None:
    """Note a settlement; return another payment that its transaction settled before. It may settle many that are exact."""
    name = f"{settled.network} {settled.transaction}"
    own = f"{name} {offered.identity}" if offered.is_exact or not settled.transaction else name
    values = {"transaction": settled.transaction, "network": settled.network, "settled_at": timezone.now(), "settlement": own}
    others = Payment.objects.filter(settlement__in=(own, name)).exclude(pk=mine.pk)
    if (other := others.first()) is None:
        try:
            with transaction.atomic():
                Payment.objects.filter(pk=mine.pk).update(**values)
        except IntegrityError:
            other = others.get()
        else:
            return None
    log.warning("Transaction %s was named for two payments; it counts for the first.", settled.transaction)
    Payment.objects.filter(pk=mine.pk).delete()
    return other


def _expect_terms(publisher: Publisher, url: str, key: str, offered: Authorization, terms: Price) -> None:
    """Raises: InvalidPayment."""
    same = all(offered.accepted.get(name) == terms[name] for name in ("scheme", "network", "amount", "asset", "payTo"))
    if offered.payment.get("x402Version") != VERSION or not same:
        raise InvalidPayment("The payment does not match the terms: `accepted` must be one of `accepts`, in x402Version 2.")
    resource = offered.payment.get("resource")
    named = resource.get("url") if isinstance(resource, Mapping) else None
    if named in (None, url):
        return
    try:
        is_same = page_fetch.is_same_article(publisher, build_url_key(str(named)), key)
    except ValueError:
        is_same = False
    if not is_same:
        raise InvalidPayment("The payment is for another article.")


def _read_reason(found: Mapping[str, Any], name: str) -> str:
    return " ".join(str(found.get(name) or "the facilitator gives no reason").split())[:200].rstrip(".")

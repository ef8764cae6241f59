"""Takes payments for articles by x402, version 2: asks, has a payment checked, gives the article, then has it settled.

No money passes here. Whoever runs the installation names a facilitator, the service that checks and settles payments for it
(WIRE_X402_FACILITATOR); without one, nothing that has a price is given. An agent is never charged for what it did not get: a
payment is settled after the article was read, and an article is only given when it was settled.
"""

import datetime as dt
import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol, TypeVar

import orjson
import rfc8785
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from config.database import routing
from config.errors import PaymentRequired, UpstreamFailed
from wire.articles import price
from wire.articles.models import Payment, Publisher

T = TypeVar("T")

VERSION: Final = 2
HELD: Final = dt.timedelta(hours=1)
"""For so long a payment buys its article again: in parts, in another format, or after an answer that was lost."""
TAKING: Final = dt.timedelta(seconds=30)
"""For so long whoever takes a payment is not disturbed; who was killed meanwhile is done by then."""
PATIENCE: Final = 5.0  # seconds for one answer of the facilitator
MAX_PAYMENT: Final = 16_384  # bytes of a payment as JSON

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settled:
    """That a payment was settled, in the facilitator's words."""

    transaction: str
    network: str

    def as_dict(self) -> dict[str, Any]:
        """x402's SettlementResponse, without who paid."""
        return {"success": True, "transaction": self.transaction, "network": self.network}


class Facilitator(Protocol):
    """Who checks payments and settles them. Both raise UpstreamFailed when nobody answers."""

    def verify(self, payment: Mapping[str, Any], terms: price.Price) -> str:
        """Why the payment cannot be taken; "" if it can."""

    def settle(self, payment: Mapping[str, Any], terms: price.Price) -> Settled | str:
        """The settlement, or why there is none. The same payment twice is settled once."""


class HttpFacilitator:
    """One that is asked over HTTP, at `/verify` and `/settle` below its address."""

    HEADERS: ClassVar = [("content-type", "application/json"), ("accept", "application/json")]

    def __init__(self, address: str) -> None:
        self._address = address

    def verify(self, payment: Mapping[str, Any], terms: price.Price) -> str:
        found = self._ask("verify", payment, terms)
        return "" if found.get("isValid") is True else _reason(found, "invalidReason")

    def settle(self, payment: Mapping[str, Any], terms: price.Price) -> Settled | str:
        found = self._ask("settle", payment, terms)
        if found.get("success") is not True:
            return _reason(found, "errorReason")
        return Settled(str(found.get("transaction", ""))[:200], str(found.get("network", terms["network"]))[:100])

    def _ask(self, what: str, payment: Mapping[str, Any], terms: price.Price) -> Mapping[str, Any]:
        import httpcore2  # takes longer to load than all the rest of this module, and few installations take payments

        body = orjson.dumps({"x402Version": VERSION, "paymentPayload": payment, "paymentRequirements": terms})
        times = dict.fromkeys(("connect", "read", "write", "pool"), PATIENCE)
        try:
            answer = httpcore2.request(
                "POST", f"{self._address}/{what}", headers=self.HEADERS, content=body, extensions={"timeout": times}
            )
            found = orjson.loads(answer.content)
        except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError, OSError, ValueError) as error:
            log.warning("The facilitator did not answer /%s: %s", what, error)
            raise UpstreamFailed(
                "The service that takes payments does not answer.",
                "Send the same payment again in a minute: what was paid already is not charged twice.",
            ) from error
        if not isinstance(found, dict):
            log.warning("The facilitator answered /%s with no object.", what)
            return {}
        return found


def facilitator() -> Facilitator | None:
    """This installation's; None where it takes no payments."""
    return HttpFacilitator(settings.WIRE_X402_FACILITATOR) if settings.WIRE_X402_FACILITATOR else None


def bought(publisher: Publisher, url: str, key: str, payment: object, give: Callable[[], T]) -> tuple[T, Settled]:
    """What `give` gives, for this payment, and its settlement. `key`: of the article's address.

    A payment buys one article, as often as it is asked for within HELD. Raises: PaymentRequired, which says what to pay or why
    this payment is not taken; UpstreamFailed when the facilitator does not answer; what `give` raises, and then nothing is charged.
    """
    by = facilitator()
    if by is None:
        why = f"An article of {publisher.name} costs money, which this installation cannot take."
        raise PaymentRequired(why, f"Read it at its publisher: {url}", _terms(publisher, url, why, accepts=False))
    if payment is None:
        why = f"An article of {publisher.name} costs {price.in_words(publisher.price)}."
        raise _refused(publisher, url, why)
    offered = _read(publisher, url, payment)
    sha256 = hashlib.sha256(rfc8785.dumps(offered["payload"])).hexdigest()
    row = routing.write(lambda: Payment.objects.filter(sha256=sha256).first())  # a replica may not know of it yet
    if row is not None and row.settled_at is not None:
        if row.publisher_id != publisher.pk or row.key != key or row.settled_at < timezone.now() - HELD:
            raise _refused(publisher, url, "This payment was used already, for another article or long ago.")
        return give(), Settled(row.transaction, row.network)
    if row is None and (reason := by.verify(offered, publisher.price)):
        raise _refused(publisher, url, f"The payment is not valid: {reason}.")
    mine = routing.write(lambda: _take(publisher, key, sha256))
    if mine is None:
        raise _refused(publisher, url, "This payment is being taken at this moment. Send it again in 30 seconds.")
    try:
        given = give()
    except Exception:
        routing.write(mine.delete)
        raise
    settled = by.settle(offered, publisher.price)  # if nobody answers, the row stays: whoever sends it again has it settled
    if isinstance(settled, str):
        routing.write(mine.delete)
        raise _refused(publisher, url, f"The payment could not be settled: {settled}.")
    mine.transaction, mine.network, mine.settled_at = settled.transaction, settled.network, timezone.now()
    routing.write(mine.save)
    return given, settled


def _take(publisher: Publisher, key: str, sha256: str) -> Payment | None:
    """The row of a payment, for its taker alone; None while somebody else takes it."""
    now = timezone.now()
    try:
        with transaction.atomic():
            return Payment.objects.create(
                publisher=publisher,
                sha256=sha256,
                key=key,
                amount=publisher.price["amount"],
                asset=publisher.price["asset"],
                network=publisher.price["network"],
                taken_at=now,
            )
    except IntegrityError:
        left = Payment.objects.filter(sha256=sha256, publisher=publisher, key=key, settled_at=None, taken_at__lt=now - TAKING)
        return Payment.objects.get(sha256=sha256) if left.update(taken_at=now) else None


def _read(publisher: Publisher, url: str, payment: object) -> Mapping[str, Any]:
    """An x402 PaymentPayload for what is asked. Raises: PaymentRequired."""
    if not isinstance(payment, Mapping) or not isinstance(payment.get("payload"), Mapping):
        raise _refused(publisher, url, "The payment is no x402 PaymentPayload: it has no `payload`.")
    try:
        size = len(rfc8785.dumps(payment))
    except (rfc8785.CanonicalizationError, RecursionError) as error:
        raise _refused(publisher, url, "The payment holds what is no JSON.") from error
    if size > MAX_PAYMENT:
        raise _refused(publisher, url, f"The payment is larger than {MAX_PAYMENT:,} bytes.")
    accepted = payment.get("accepted")
    wanted = publisher.price
    same = isinstance(accepted, Mapping) and all(
        accepted.get(name) == wanted[name] for name in ("scheme", "network", "amount", "asset", "payTo")
    )
    if payment.get("x402Version") != VERSION or not same:
        raise _refused(publisher, url, "The payment is for other terms: `accepted` must be one of `accepts`, in x402Version 2.")
    resource = payment.get("resource")
    if isinstance(resource, Mapping) and resource.get("url") not in (None, url):
        raise _refused(publisher, url, "The payment is for another article.")
    return payment


def _refused(publisher: Publisher, url: str, why: str) -> PaymentRequired:
    hint = 'Pay as `accepts` says and ask again with the payment: the header PAYMENT-SIGNATURE, or _meta["x402/payment"] in MCP.'
    return PaymentRequired(why, hint, _terms(publisher, url, why))


def _terms(publisher: Publisher, url: str, error: str, *, accepts: bool = True) -> dict[str, Any]:
    """x402's PaymentRequired."""
    resource = {"url": url, "description": f"An article of {publisher.name}", "mimeType": "text/markdown"}
    return {"x402Version": VERSION, "error": error, "resource": resource, "accepts": [publisher.price] if accepts else []}


def _reason(found: Mapping[str, Any], name: str) -> str:
    return " ".join(str(found.get(name) or "the facilitator gives no reason").split())[:200].rstrip(".")

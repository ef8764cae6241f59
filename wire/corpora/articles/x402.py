"""Prices and payments as x402, version 2, has them (github.com/x402-foundation/x402, specs/x402-specification-v2.md).

A price is a payment requirement: `scheme`, `network`, `amount` (digits, in the asset's smallest unit), `asset`, `payTo`, and
optionally `maxTimeoutSeconds` and `extra`. In a payment the payer signs a nonce (EIP-3009, Permit2) or a transaction (Solana). That
identifies it, and nothing else in the message does: its bytes can be changed at will, by another field, case or base64.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import orjson
import rfc8785

from wire.text.lexicons import load_lexicon

Price = Mapping[str, Any]

SECONDS: Final = 60  # to pay, where a price does not say
MAX_SECONDS: Final = 3_600
MAX_DIGITS: Final = 30
MAX_TEXT: Final = 100
_TEXTS: Final = ("scheme", "network", "amount", "asset", "payTo")
_FIELDS: Final = frozenset((*_TEXTS, "maxTimeoutSeconds", "extra"))
MAX_PAYMENT: Final = 16_384  # bytes of a payment as JSON
MAX_VALUE: Final = 200  # characters of a nonce, an address or a network
# The fields that the specification has (specs/schemes/exact/scheme_exact_evm.md). Only they reach the facilitator: a library that
# ignores case would take "Nonce" for the nonce.
_EVM: Final[Mapping[str, frozenset[str]]] = {
    "authorization": frozenset({"from", "to", "value", "validAfter", "validBefore", "nonce"}),
    "permit2Authorization": frozenset({"permitted", "from", "spender", "nonce", "deadline", "witness"}),
}
_HEX: Final = re.compile(r"0[xX][0-9a-fA-F]+")
_ADDRESS: Final = re.compile(r"0x[0-9a-f]{1,40}")
CURRENCIES: Final[Mapping[str, Price]] = load_lexicon("currencies")  # that the desk offers


class InvalidPrice(ValueError):
    pass


def parse_price(raw: Any) -> dict[str, Any]:
    """Return the price with all its fields; empty for no price. Raises: InvalidPrice."""
    if raw in (None, "", {}):
        return {}
    if not isinstance(raw, dict):
        raise InvalidPrice("A price must be one JSON object, or empty.")
    if unknown := sorted(set(raw) - _FIELDS):
        raise InvalidPrice(f"“{unknown[0]}” is not a field of a price. The fields are {', '.join(sorted(_FIELDS))}.")
    for name in _TEXTS:
        value = raw.get(name)
        if not isinstance(value, str) or not 0 < len(value) <= MAX_TEXT or not value.isprintable():
            raise InvalidPrice(f"“{name}” is missing, or is not text of at most {MAX_TEXT} characters.")
    amount = raw["amount"]
    if not (amount.isascii() and amount.isdigit() and amount[0] != "0" and len(amount) <= MAX_DIGITS):
        raise InvalidPrice('“amount” must be a whole number in the asset\'s smallest unit, as text: "10000".')
    seconds, extra = raw.get("maxTimeoutSeconds", SECONDS), raw.get("extra", {})
    if isinstance(seconds, bool) or not isinstance(seconds, int) or not 1 <= seconds <= MAX_SECONDS:
        raise InvalidPrice(f"“maxTimeoutSeconds” must be a whole number from 1 to {MAX_SECONDS}.")
    if not isinstance(extra, dict):
        raise InvalidPrice("“extra” is an object.")
    return {name: raw[name] for name in _TEXTS} | {"maxTimeoutSeconds": seconds, "extra": extra}


def build_price(amount: Decimal, pay_to: str, terms: Price) -> dict[str, Any]:
    """Return the price of so much of a currency: `terms` are one of CURRENCIES, or an earlier price. Raises: InvalidPrice."""
    decimals = terms["extra"].get("decimals", 0)
    units = amount.scaleb(decimals)
    if units != units.to_integral_value():
        raise InvalidPrice(f"The price must be a multiple of {Decimal(1).scaleb(-decimals):f}, this currency's smallest unit.")
    return parse_price({"scheme": "exact", **terms, "amount": f"{units:.0f}", "payTo": pay_to})


def describe_price(price: Price) -> str:
    """Return "0.01 USDC on eip155:84532", if `extra` has the asset's `name` and `decimals`; "" for no price."""
    if not price:
        return ""
    name, decimals = price["extra"].get("name"), price["extra"].get("decimals")
    if isinstance(name, str) and name.isprintable() and type(decimals) is int and 0 <= decimals <= MAX_DIGITS:
        return f"{Decimal(price['amount']).scaleb(-decimals).normalize():f} {name[:MAX_TEXT]} on {price['network']}"
    return f"{price['amount']} smallest units of {price['asset']} on {price['network']}"


class InvalidPayment(ValueError):
    pass


@dataclass(frozen=True, slots=True)
class Authorization:
    """A payment as its payer signed it. `payment` is the message for the facilitator.

    `identity` is the same for every spelling of one payment, `signature` tells who can prove it from who only knows its nonce.
    `is_exact`: the network itself takes no second payment of this identity. Otherwise its settlement has to be compared as well.
    """

    payment: Mapping[str, Any]
    accepted: Mapping[str, Any]
    identity: str
    signature: str
    is_exact: bool


def read_authorization(payment: object) -> Authorization:
    """Parse the object, or a header with its JSON in base64. Raises: InvalidPayment."""
    if isinstance(payment, str):
        payment = _decode_header(payment)
    payload = payment.get("payload") if isinstance(payment, Mapping) else None
    if not isinstance(payment, Mapping) or not isinstance(payload, Mapping):
        raise InvalidPayment("The payment is not an x402 PaymentPayload: it has no `payload`.")
    try:
        size = len(rfc8785.dumps(payment))
    except (rfc8785.CanonicalizationError, RecursionError) as error:
        raise InvalidPayment("The payment contains something that is not JSON.") from error
    if size > MAX_PAYMENT:
        raise InvalidPayment(f"The payment is larger than {MAX_PAYMENT:,} bytes.")
    accepted = payment.get("accepted")
    if not isinstance(accepted, Mapping):
        raise InvalidPayment("The payment is for other terms: it has no `accepted`.")
    network, asset = _normalize(accepted.get("network"), "accepted.network"), _normalize(accepted.get("asset"), "accepted.asset")
    names = [name for name in _EVM if isinstance(payload.get(name), Mapping)]
    is_exact, signature = False, payload.get("signature")
    if isinstance(signature, str) and _HEX.fullmatch(signature.strip()):
        signature = signature.strip().lower()
    signature = _hash_json(signature)
    if len(names) > 1:
        raise InvalidPayment(f"The payment has both `{names[0]}` and `{names[1]}`.")
    if names:
        (kind,) = names
        signed = payload[kind]
        identity = [kind, _normalize(signed.get("from"), f"{kind}.from"), _normalize(signed.get("nonce"), f"{kind}.nonce")]
        if network.startswith("eip155:"):
            is_exact = _ADDRESS.fullmatch(identity[1]) is not None and identity[2].startswith("0x")
            known = {name: value for name, value in signed.items() if name in _EVM[kind]}
            payment = {**payment, "payload": {"signature": payload.get("signature"), kind: known}}
    elif isinstance(payload.get("transaction"), str):
        identity, signature = ["transaction", _hash_transaction(payload["transaction"], network)], ""
    elif "nonce" in payload:
        identity = ["nonce", _normalize(payload["nonce"], "payload.nonce")]
    else:
        raise InvalidPayment("The payment names neither a nonce nor a transaction, so it cannot be told from another.")
    return Authorization(payment, accepted, _hash_json([network, asset, *identity]), signature, is_exact)


def _decode_header(header: str) -> object:
    try:
        text = base64.b64decode(header, validate=True)
        orjson.loads(text)  # stricter than the standard library, which alone shows names that stand twice
        return json.loads(text, object_pairs_hook=_refuse_duplicate_names)
    except InvalidPayment:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidPayment("The payment is not JSON in base64.") from error


def _refuse_duplicate_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InvalidPayment("The payment names a field twice.")
    return found


def _normalize(value: object, name: str) -> str:
    """Return one spelling of an address, a number or a name. Raises: InvalidPayment."""
    text = str(value) if type(value) is int else value.strip() if isinstance(value, str) else ""
    if not 0 < len(text) <= MAX_VALUE or not text.isprintable():
        raise InvalidPayment(f"The payment's `{name}` is missing, or is not text of at most {MAX_VALUE} characters.")
    if _HEX.fullmatch(text):
        return hex(int(text, 16))
    return hex(int(text)) if text.isascii() and text.isdigit() else text


def _hash_transaction(text: str, network: str) -> str:
    """Return the SHA-256 of the signed bytes. A Solana transaction begins with its signatures; the facilitator adds one."""
    plain = text.strip().rstrip("=").replace("-", "+").replace("_", "/")
    try:
        raw = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except ValueError as error:
        raise InvalidPayment("The payment's `transaction` is not base64.") from error
    if network.startswith("solana:"):
        count = raw[0] if raw else 0
        raw = raw[1 + count * 64 :]
        if count > 127 or not raw:  # a count above that takes another byte, and no transaction is long enough for it
            raise InvalidPayment("The payment's `transaction` is not a Solana transaction.")
    return hashlib.sha256(raw).hexdigest()


def _hash_json(value: object) -> str:
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()  # type: ignore[arg-type]

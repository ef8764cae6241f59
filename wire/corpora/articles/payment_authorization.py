"""Read an x402 payment: which authorisation it carries, in whatever spelling.

A payer signs a nonce (EIP-3009, Permit2) or a transaction (Solana). That identifies the payment, and nothing else in the message
does: its bytes can be changed at will, by another field, another case or another base64, without making it another payment.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
import rfc8785

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
_SIGNATURE: Final = 64  # bytes of a signature in a Solana transaction


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
        raise InvalidPayment("The payment is no x402 PaymentPayload: it has no `payload`.")
    try:
        size = len(rfc8785.dumps(payment))
    except (rfc8785.CanonicalizationError, RecursionError) as error:
        raise InvalidPayment("The payment holds what is no JSON.") from error
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
    signature = _digest(signature)
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
    return Authorization(payment, accepted, _digest([network, asset, *identity]), signature, is_exact)


def _decode_header(header: str) -> object:
    try:
        text = base64.b64decode(header, validate=True)
        orjson.loads(text)  # stricter than the standard library, which alone shows names that stand twice
        return json.loads(text, object_pairs_hook=_unique)
    except InvalidPayment:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidPayment("The payment is no JSON in base64.") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InvalidPayment("The payment names a field twice.")
    return found


def _normalize(value: object, name: str) -> str:
    """Return one spelling of an address, a number or a name. Raises: InvalidPayment."""
    text = str(value) if type(value) is int else value.strip() if isinstance(value, str) else ""
    if not 0 < len(text) <= MAX_VALUE or not text.isprintable():
        raise InvalidPayment(f"The payment's `{name}` is missing, or is no text of at most {MAX_VALUE} characters.")
    if _HEX.fullmatch(text):
        return hex(int(text, 16))
    return hex(int(text)) if text.isascii() and text.isdigit() else text


def _hash_transaction(text: str, network: str) -> str:
    """Return the SHA-256 of the signed bytes. A Solana transaction begins with its signatures; the facilitator adds one."""
    plain = text.strip().rstrip("=").replace("-", "+").replace("_", "/")
    try:
        raw = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except ValueError as error:
        raise InvalidPayment("The payment's `transaction` is no base64.") from error
    if network.startswith("solana:"):
        count = raw[0] if raw else 0
        raw = raw[1 + count * _SIGNATURE :]
        if count > 127 or not raw:  # a count above that takes another byte, and no transaction is long enough for it
            raise InvalidPayment("The payment's `transaction` is no Solana transaction.")
    return hashlib.sha256(raw).hexdigest()


def _digest(value: object) -> str:
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()  # type: ignore[arg-type]

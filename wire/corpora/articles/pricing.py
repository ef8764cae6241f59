"""Prices of articles as payment requirements of x402, version 2.

A price has `scheme`, `network`, `amount` (digits, in the asset's smallest unit), `asset`, `payTo`, and optionally
`maxTimeoutSeconds` and `extra`, as the specification names them (github.com/x402-foundation/x402, specs/x402-specification-v2.md).
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

Price = Mapping[str, Any]

SECONDS: Final = 60  # to pay, where a price does not say
MAX_SECONDS: Final = 3_600
MAX_DIGITS: Final = 30
MAX_TEXT: Final = 100
_TEXTS: Final = ("scheme", "network", "amount", "asset", "payTo")
_FIELDS: Final = frozenset((*_TEXTS, "maxTimeoutSeconds", "extra"))


class InvalidPrice(ValueError):
    pass


def parse_price(raw: Any) -> dict[str, Any]:
    """Return the price with all its fields; empty for no price. Raises: InvalidPrice."""
    if raw in (None, "", {}):
        return {}
    if not isinstance(raw, dict):
        raise InvalidPrice("A price is one JSON object, or empty.")
    if unknown := sorted(set(raw) - _FIELDS):
        raise InvalidPrice(f"“{unknown[0]}” is no field of a price. It has {', '.join(sorted(_FIELDS))}.")
    for name in _TEXTS:
        value = raw.get(name)
        if not isinstance(value, str) or not 0 < len(value) <= MAX_TEXT or not value.isprintable():
            raise InvalidPrice(f"“{name}” is missing, or is no text of at most {MAX_TEXT} characters.")
    amount = raw["amount"]
    if not (amount.isascii() and amount.isdigit() and amount[0] != "0" and len(amount) <= MAX_DIGITS):
        raise InvalidPrice('“amount” is a whole number in the asset\'s smallest unit, as text: "10000".')
    seconds, extra = raw.get("maxTimeoutSeconds", SECONDS), raw.get("extra", {})
    if isinstance(seconds, bool) or not isinstance(seconds, int) or not 1 <= seconds <= MAX_SECONDS:
        raise InvalidPrice(f"“maxTimeoutSeconds” is a whole number from 1 to {MAX_SECONDS}.")
    if not isinstance(extra, dict):
        raise InvalidPrice("“extra” is an object.")
    return {name: raw[name] for name in _TEXTS} | {"maxTimeoutSeconds": seconds, "extra": extra}


def describe_price(price: Price) -> str:
    """Return "0.01 USDC on eip155:84532", if `extra` has the asset's `name` and `decimals`; "" for no price."""
    if not price:
        return ""
    name, decimals = price["extra"].get("name"), price["extra"].get("decimals")
    if isinstance(name, str) and name.isprintable() and type(decimals) is int and 0 <= decimals <= MAX_DIGITS:
        return f"{Decimal(price['amount']).scaleb(-decimals).normalize():f} {name[:MAX_TEXT]} on {price['network']}"
    return f"{price['amount']} of the smallest unit of {price['asset']} on {price['network']}"

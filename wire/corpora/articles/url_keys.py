"""Addresses of articles: which publisher's they are, and the canonical form that identifies an article."""

from sources.fetch.url import WebAddress
from wire.corpora.articles.models import Publisher
from wire.text.identity import BadUrl, canonical_url


def canonical_key(url: str) -> str:
    """Return the wire's canonical form of an address; for hosts that it has none for, numbers among them, the address as it is
    asked. Raises: ValueError for what is no web address.
    """
    asked = str(WebAddress.parse(url))
    try:
        return canonical_url(url)
    except BadUrl:
        return asked.partition("#")[0]


def is_own(publisher: Publisher, url: str) -> bool:
    """Return whether an address is on one of the publisher's hosts and not left out; False for what is no web address."""
    try:
        address = WebAddress.parse(url)
    except ValueError:
        return False
    return publisher.owns(address.authority) and not publisher.leaves_out(address.target)

"""Addresses of articles: which publisher's they are, and by what they are recognised."""

from sources.fetch.url import WebAddress
from wire.articles.models import Publisher
from wire.stories.identity import BadUrl, canonical_url


def key_of(url: str) -> str:
    """The form by which an article is recognised: the wire's canonical one; for hosts that it has none for, numbers among them, the
    address as it is asked. Raises: ValueError for what is no web address.
    """
    asked = str(WebAddress.parse(url))
    try:
        return canonical_url(url)
    except BadUrl:
        return asked.partition("#")[0]


def is_own(publisher: Publisher, url: str) -> bool:
    """Whether an address is on one of the publisher's hosts and not left out. False for what is no web address."""
    try:
        address = WebAddress.parse(url)
    except ValueError:
        return False
    return publisher.owns(address.authority) and not publisher.leaves_out(address.target)

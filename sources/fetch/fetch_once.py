"""A single request to an address that the operator gave, such as another wire's: no feed, no robots.txt, no second try."""

import asyncio
from dataclasses import replace
from typing import Final

from sources.fetch.client import Client
from sources.fetch.results import NotFetched, Policy
from sources.fetch.transport import Network
from sources.fetch.url import WebAddress

LARGEST: Final = 1 << 20  # bytes of an answer
PATIENCE: Final = 30.0  # seconds for the whole of it, redirects included


def get_once(url: str, policy: Policy) -> bytes:
    """Return the body, from that server alone: a redirect to another one is refused, and so is an address that is not public.

    Raises: ValueError for what is no web address; OSError for what cannot be had.
    """
    address, policy = WebAddress.parse(url), replace(policy, max_body=LARGEST, patience=PATIENCE)

    async def get() -> bytes:
        network = Network(policy)
        try:
            return await Client(policy, {}, network).get_body(address)
        finally:
            network.close()

    try:
        return asyncio.run(get())
    except NotFetched as end:
        raise OSError(end.failed.message.removesuffix(".")) from end

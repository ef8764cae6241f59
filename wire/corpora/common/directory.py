"""Members of a family of servers, by slug; a removed one stands there as the error that its addresses answer with."""

from collections.abc import Mapping
from typing import TypeVar

from config.errors import NotFound

M = TypeVar("M")


def list_served(members: Mapping[str, M | NotFound]) -> list[M]:
    return [member for member in members.values() if not isinstance(member, NotFound)]


def find_member(members: Mapping[str, M | NotFound], slug: str, missing: NotFound) -> M:
    """Raises: NotFound, either the removed member's own or `missing`."""
    member = members.get(slug, missing)
    if isinstance(member, NotFound):
        raise member
    return member

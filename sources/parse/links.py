"""Addresses as feeds give them: relative to something, or no address at all."""

from urllib.parse import urljoin, urlsplit


def resolve_link(base: str, link: str) -> str:
    """Return `link`, absolute if `base` is (RFC 3986 §5); as it stands if it cannot be resolved. Other schemes pass through."""
    link = link.strip()
    try:
        return urljoin(base, link) if link else ""
    except ValueError:
        return link


def resolve_web_link(base: str, link: str) -> str:
    """Like `resolve_link`, but empty unless it is an absolute http(s) address."""
    address = resolve_link(base, link)
    return address if is_web_url(address) else ""


def is_web_url(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def get_host(address: str) -> str:
    """Return the host in lower case, without `www.`; empty if there is none."""
    try:
        return (urlsplit(address).hostname or "").removeprefix("www.")
    except ValueError:
        return ""

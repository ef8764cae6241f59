"""Identity of a story: the canonical form of its URL, the id hashed from it, the key that compares two headlines. Ids must come out
the same for ever, so every rule is spelled out here: URL libraries drop parameters that carry meaning and change with each release.
"""

import base64
import hashlib
import re
import unicodedata
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Final, Literal

import idna

from config.unicode import normalize
from wire.text.lexicons import load_lexicon

# Characters of a canonical URL, all of them ASCII; a raw one may be four times as long before it is refused.
MAX_URL_LENGTH: Final = 2048

STORY_ID_PATTERN: Final = r"^cbn-[0-9a-hjkmnp-tv-z]{12}$"

BadUrlReason = Literal["not_http", "no_host", "bad_host", "bad_port", "credentials", "bad_characters", "too_long"]


class BadUrl(ValueError):
    """A URL that cannot identify a story; `reason` is the stable code that reports count by."""

    def __init__(self, reason: BadUrlReason) -> None:
        super().__init__(reason)
        self.reason: Final = reason


# Each of these, and of the word list, says how a reader arrived, never which article. Adding one changes ids.
TRACKING_PREFIXES: Final = ("utm_", "mtm_", "itm_", "hsa_", "guce_referrer")
TRACKING_PARAMETERS: Final = frozenset(chain.from_iterable(map(str.split, load_lexicon("tracking_parameters").values())))

_URL = re.compile(r"https?:(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?", re.I)  # RFC 3986, appendix B
_LINE_BREAKS = re.compile(r"[\t\n\r]")
_BAD_CHARACTERS = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"  # control, bidi, invisible
    r"\ud800-\uf8ff\ufdd0-\ufdef\ufff9-\ufffb\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"  # surrogate, private, tag
)
# The last label starts with a letter, which leaves no room for an IPv4 address in any spelling.
_HOST = re.compile(r"(?=.{4,253}\Z)(?:[a-z0-9_-]{1,63}\.)+[a-z][a-z0-9-]{1,62}")
_PORT = re.compile(r"(?:0*([1-9][0-9]{0,4}))?")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPE_OR_STRANGER = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?]")
_PUNCTUATION = re.compile(r"(?:[^\w ]|_)+")  # and marks and symbols, which headline_key keeps
_CROCKFORD: Final = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", b"0123456789abcdefghjkmnpqrstvwxyz")


def canonical_url(url: str) -> str:
    """Return the one spelling of `url` that identifies an article; ASCII, and its own canonical form.

    https whatever the scheme; host lower-case, in Punycode, without final dot or default port (80, 443); no fragment;
    no tracking parameters, the others sorted by name with repeated ones in their order; escapes, dot segments and
    characters as RFC 3986 §6.2.2 has them; no slash at the end, except the root's, which is always there.
    Raises: BadUrl.
    """
    url = url.strip()
    if len(url) > 4 * MAX_URL_LENGTH:
        raise BadUrl("too_long")
    url = _LINE_BREAKS.sub("", url)  # as browsers do (WHATWG URL §4.4); feeds wrap long links
    if not (match := _URL.match(url)):
        raise BadUrl("not_http")
    if _BAD_CHARACTERS.search(url):
        raise BadUrl("bad_characters")
    authority, path, query = match.groups("")
    canonical = f"https://{_canonical_authority(authority)}{_canonical_path(path)}{_canonical_query(query)}"
    if len(canonical) > MAX_URL_LENGTH:
        raise BadUrl("too_long")
    return canonical


def chatbotnews_id(canonical: str) -> str:
    """Return `cbn-` and the first 60 bits of the SHA-256 of a canonical URL, in lower-case Crockford base32."""
    digest = hashlib.sha256(canonical.encode()).digest()
    return "cbn-" + base64.b32encode(digest[:8])[:12].translate(_CROCKFORD).decode()


def is_story_id(text: str) -> bool:
    """Return whether `text` has the form of a chatbotnews_id; such a story need not exist."""
    return re.fullmatch(STORY_ID_PATTERN, text) is not None


@lru_cache(maxsize=16_384)
def headline_key(headline: str) -> str:
    """Return `headline` without case, width, spacing and punctuation: equal keys mean the same headline. Accents count."""

    def keep_marks(match: re.Match[str]) -> str:  # combining marks and symbols (`$`, `+`) are part of the wording
        return "".join(char if unicodedata.category(char)[0] in "MS" else " " for char in match[0])

    folded = normalize("NFKC", normalize("NFKC", headline).casefold())
    return " ".join(_PUNCTUATION.sub(keep_marks, folded).split())


def _canonical_authority(authority: str) -> str:
    """Return host, a DNS name of two labels or more in the ASCII of IDNA 2008, and port unless it is a default one."""
    if "@" in authority:
        raise BadUrl("credentials")
    host, _, port = authority.partition(":")
    if not host:
        raise BadUrl("no_host")
    if not host.isascii() and len(host) < 254:
        try:
            host = idna.encode(normalize("NFKC", host).lower()).decode()
        except UnicodeError as error:
            raise BadUrl("bad_host") from error
    host = host.lower().removesuffix(".")
    if not _HOST.fullmatch(host):
        raise BadUrl("bad_host")
    if not (match := _PORT.fullmatch(port)) or int(match[1] or 0) > 65535:
        raise BadUrl("bad_port")
    return host if match[1] in {None, "80", "443"} else f"{host}:{match[1]}"


def _canonical_path(path: str) -> str:
    path = escape_url_part(path)
    if "/." in path:
        kept: list[str] = []
        for segment in path.split("/"):  # RFC 3986 §5.2.4
            if segment == ".." and len(kept) > 1:
                kept.pop()
            elif segment not in {".", ".."}:
                kept.append(segment)
        path = "/".join(kept)
    return path.rstrip("/") or "/"


def _canonical_query(query: str) -> str:
    if not query:
        return ""
    # Links escaped once too often arrive as `a=1&amp;b=2`.
    parameters = [re.sub("^(?:amp;)+", "", parameter) for parameter in escape_url_part(query).split("&")]
    named = [(parameter.partition("=")[0], parameter) for parameter in parameters if parameter]
    kept = [
        (name, parameter)
        for name, parameter in named
        if name.lower() not in TRACKING_PARAMETERS and not name.lower().startswith(TRACKING_PREFIXES)
    ]
    return "?" + "&".join(parameter for _, parameter in sorted(kept, key=itemgetter(0))) if kept else ""


def escape_url_part(part: str) -> str:
    """Return a part of an address in its one spelling (RFC 3986 §6.2.2): no needless escapes, the others in upper case."""

    def escape(match: re.Match[str]) -> str:
        found = match[0]
        if len(found) == 1:
            return "".join(f"%{byte:02X}" for byte in found.encode())
        character = chr(int(found[1:], 16))
        return character if character in _UNRESERVED else found.upper()

    return _ESCAPE_OR_STRANGER.sub(escape, part)

"""Rules of a robots.txt (RFC 9309). Matching is protego's."""

import re
from collections.abc import Mapping
from typing import Final

from sources.fetch.results import HostNote, Policy
from sources.fetch.url import WebAddress

MAX_SIZE: Final = 512 << 10  # bytes that are read; RFC 9309 §2.5 asks for at least 500 KiB
_AGENT: Final = re.compile(r"\s*user[\s-]*agent\b\s*:?\s*([^#]*)", re.IGNORECASE)  # all spellings that protego takes


class Rules:
    """The rules for one product token, as `ChatbotNewsBot`; no text has no rules."""

    def __init__(self, text: str, token: str) -> None:
        self._token = token
        self._parsed = None
        if text.strip():
            from protego import Protego

            # All other robots become one: protego copies each rule for each of them, and 15,000 of both fill any memory.
            lines = text.splitlines()
            for at, line in enumerate(lines):
                named = _AGENT.match(line)
                if named and named[1].strip().lower().replace("*", "") not in token.lower():
                    lines[at] = "User-agent: ~"
            self._parsed = Protego.parse("\n".join(lines))

    def allow(self, url: str) -> bool:
        return self._parsed is None or self._parsed.can_fetch(url, self._token)

    @property
    def delay(self) -> float:
        """Seconds between two requests (Crawl-delay, in no standard), 0 if nothing is said, 30 at most."""
        asked = self._parsed.crawl_delay(self._token) if self._parsed else None
        return min(asked or 0.0, 30.0)


def get_agent_token(policy: Policy) -> str:
    return policy.user_agent.partition("/")[0].strip()


def crawl_delay(hosts: Mapping[str, HostNote], url: str, policy: Policy) -> float:
    """Return the seconds that the host of an address wants between two requests, by what is known of it; 0 if it says nothing."""
    note = hosts.get(WebAddress.parse(url).authority)
    return Rules(note.robots, get_agent_token(policy)).delay if note is not None and note.robots else 0.0

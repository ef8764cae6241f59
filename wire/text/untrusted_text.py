"""Texts from outside within a server's own Markdown or plain text: folded to one line, or quoted. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from wire.text.plain_text import plain_text

LONGEST_NAME: Final = 30  # characters of an unknown name that its refusal repeats
MOST_NAMES: Final = 3  # unknown names that one refusal repeats
_STRUCTURE: Final = re.compile(r"[ \t]*(?:[#*+=`~|_<\[-]|\d+[.)])")
# How servers' own lines begin: "Rating: true", "Note from the wire: …"
_LABEL: Final = re.compile(r"[ \t]*[^\s:>]+(?: [^\s:]+){0,3}[ \t]*:(?!//)")


def fold_line(text: str) -> str:
    return " ".join(text.split())


def quote_text(text: str) -> str:
    """Return a text as lines of its own: several are quoted, and so is one that could pose as a line of the server."""
    lines = text.strip().splitlines()
    if len(lines) == 1 and not (is_markdown(lines[0]) or is_labelled(lines[0])):
        return lines[0]
    return "\n".join(f"> {line}".rstrip() for line in lines)


def quote_structure(text: str, *, labelled: bool) -> str:
    """Return a text with its lines after the first quoted where they could pose as structure or, with `labelled`, as a label."""
    first, *others = text.splitlines() or [""]
    return "\n".join([first, *(f"> {line}" if is_markdown(line) or (labelled and is_labelled(line)) else line for line in others)])


def is_markdown(line: str) -> bool:
    """Return whether Markdown takes the line for more than a paragraph. A quoted one is harmless."""
    return _STRUCTURE.match(line) is not None


def is_labelled(line: str) -> bool:
    return _LABEL.match(line) is not None


def describe_unknown(names: Sequence[str], noun: str) -> str:
    """Return a sentence that names unknown parameters or arguments. Untrusted input: sanitize, truncate, quote."""
    quoted = ", ".join(repr(plain_text(name, LONGEST_NAME)) for name in names[:MOST_NAMES])
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{quoted} is an unknown {noun}." if len(names) == 1 else f"{quoted}{more} are unknown {noun}s."

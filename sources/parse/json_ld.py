"""JSON-LD as sites write it into their pages. Pure."""

import html
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

_CDATA: Final = re.compile(r"\A[^{\[]*?<!\[CDATA\[|\]\]>[^\]}]*+\Z")  # around a value, not within it
_STRING_OR_COMMA: Final = re.compile(r'("[^"\\]*+(?:\\.[^"\\]*+)*+"?+)|,(?=\s*+[}\]])', re.S)


def parse_json_ld(script: str) -> Any:
    """Return the value of a script: as it stands, else without comments or CDATA around it and commas before closing brackets, else
    unescaped as HTML. Takes linear time. Raises: ValueError; RecursionError for what is nested too deep.
    """
    for text in _list_repairs(script):
        with suppress(ValueError):
            return json.loads(text, strict=False)
    raise ValueError("it is not JSON, even after stripping what pages wrap around it")


def _list_repairs(script: str) -> Iterator[str]:
    yield script
    bare = _CDATA.sub("", script)
    starts = [at for bracket in "{[" if (at := bare.find(bracket)) >= 0]
    bare = bare[min(starts, default=0) : max(map(bare.rfind, "}]")) + 1]
    bare = _STRING_OR_COMMA.sub(lambda found: found[1] or "", bare)
    yield bare
    if "&quot;" in bare:
        yield html.unescape(bare)

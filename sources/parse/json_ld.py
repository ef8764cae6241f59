"""JSON-LD as sites write it into their pages. Pure."""

import html
import json
import re
from contextlib import suppress
from typing import Any, Final

_STRING_OR_COMMA: Final = re.compile(r'("[^"\\]*+(?:\\.[^"\\]*+)*+"?+)|,(?=\s*+[}\]])', re.S)


def parse_json_ld(script: str) -> Any:
    """Return the value of a script: as it stands, else without comments or CDATA around it and commas before closing brackets, else
    unescaped as HTML. Takes linear time. Raises: ValueError; RecursionError for what is nested too deep.
    """
    with suppress(ValueError):
        return json.loads(script, strict=False)
    bare = script.replace("<![CDATA[", "").replace("]]>", "")
    starts = [at for bracket in "{[" if (at := bare.find(bracket)) >= 0]
    bare = bare[min(starts, default=0) : max(map(bare.rfind, "}]")) + 1]
    bare = _STRING_OR_COMMA.sub(lambda found: found[1] or "", bare)
    with suppress(ValueError):
        return json.loads(bare, strict=False)
    return json.loads(html.unescape(bare) if "&quot;" in bare else bare, strict=False)

"""The key that the request which is being answered bears, for servers that know keys. Such a request is neither cached nor answered
from the cache.
"""

from contextvars import ContextVar
from typing import Final

bearer: Final[ContextVar[str | None]] = ContextVar("bearer", default=None)
"""Set by the transport. None without an Authorization header, "" for one that holds no key; a server that knows no keys looks at
neither. It holds in the request's own task, so hand it to `adapter.ask` as an argument.
"""

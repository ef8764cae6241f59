"""The key that the request at hand bears, for servers that know keys. Such a request passes the cache by."""

from contextvars import ContextVar
from typing import Final

# None without an Authorization header, "" for one that holds no key. It holds in the request's own task: hand it on as an argument.
bearer: Final[ContextVar[str | None]] = ContextVar("bearer", default=None)

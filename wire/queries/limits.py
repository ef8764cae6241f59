"""What the client of this request may still do."""

import datetime as dt
import math
from typing import Final

from django.conf import settings
from django.utils import timezone

from config.http.connection_slots import PER_CLIENT, count_open_streams
from config.http.request_guard import caller, get_rate_limit, list_request_ages
from wire.schemas.client_limits import LimitsOut, RequestLimitOut, StreamLimitOut

STREAMS: Final = ("/api/stream", "GET /mcp", "subscriptions/listen /mcp")


def check_limits() -> LimitsOut:
    """Return the requests and streams that are left to the client of this request. Counts nothing, and is never cached."""
    client = caller.get()
    streams = [StreamLimitOut(kind=kind, limit=PER_CLIENT, open=count_open_streams(kind, client)) for kind in STREAMS]
    return LimitsOut(requests=None if settings.WIRE_RATE_LIMIT == "off" else _count_requests(client), streams=streams)


def _count_requests(client: str) -> RequestLimitOut:
    (limit, period), ages = get_rate_limit(), list_request_ages(client)
    remaining = max(0, limit - len(ages))
    return RequestLimitOut(
        limit=limit,
        period_seconds=period,
        remaining=remaining,
        wait_seconds=0 if remaining else math.ceil(period - max(ages)),
        resets_at=timezone.now() + dt.timedelta(seconds=math.ceil(period - min(ages)) if ages else 0),
    )

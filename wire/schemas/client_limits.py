"""Shapes of what a client may still do."""

from ninja import Field, Schema

from wire.schemas.params import Moment


class RequestLimitOut(Schema):
    """Requests of this client to REST and the wire's MCP server together, in any `period_seconds`."""

    limit: int
    period_seconds: int
    remaining: int
    wait_seconds: int = Field(description="Seconds until the next request is accepted; 0: now.")
    resets_at: Moment = Field(description="When the full limit is available, if no request is sent.")


class StreamLimitOut(Schema):
    """Streams of one kind that this client may hold open in one process."""

    kind: str
    limit: int
    open: int


class LimitsOut(Schema):
    """What this client may still do. A network of many clients has limits of its own, which are not counted here."""

    requests: RequestLimitOut | None = Field(description="null: requests are not limited.")
    streams: list[StreamLimitOut]

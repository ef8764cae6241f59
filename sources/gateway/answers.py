"""What each kind of resource answers: its shape, and which answers do not fit it. Pure but for pydantic."""

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Annotated, Any, Final, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, TypeAdapter, ValidationError

from sources.gateway.reach import INVALID, UpstreamError

MAX_ITEMS: Final = 1_000
LONGEST: Final = 10_000  # characters of one text
Id = Annotated[str, Field(max_length=200)]
Text = Annotated[str, Field(max_length=LONGEST)]
Count = Annotated[int, Field(ge=0, le=10**15)]
Number = Annotated[float, Field(allow_inf_nan=False)]


def _utc(value: dt.datetime) -> str:
    return value.astimezone(dt.UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


Moment = Annotated[AwareDatetime, PlainSerializer(_utc, return_type=str, when_used="json")]


class Lenient(BaseModel):
    """Fields of an upstream that are not in the contract are left out."""

    model_config = ConfigDict(extra="ignore")


class PublicMetrics(Lenient):
    like_count: Count = 0
    retweet_count: Count = 0
    reply_count: Count = 0
    quote_count: Count = 0


class Entities(Lenient):
    hashtags: list[Text] = []
    urls: list[Text] = []
    mentions: list[Text] = []


class Tweet(Lenient):
    id: Id
    text: Text
    author_id: Id
    author_username: Id | None = None
    created_at: Moment
    public_metrics: PublicMetrics | None = None
    entities: Entities | None = None


class TrendMetadata(Lenient):
    category: Id | None = None
    cross_source_count: Count | None = None
    consensus_score: Annotated[float, Field(ge=0, le=1)] | None = None
    event_id: Id | None = None
    story_ids: list[Id] = []
    publishers: list[Id] = []
    untrusted_instructions: bool = False


class TrendData(Lenient):
    id: Id
    topic: Text
    source: Id
    url: Text | None = None
    engagement_score: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False, description="0-100, normalised by its source.")]
    geographic_origin: Id | None = None
    timestamp: Annotated[Moment, Field(description="When it was first reported.")]
    language: Id | None = None
    metadata: TrendMetadata


class CryptoTrend(Lenient):
    trend: TrendData
    price_change: Annotated[Number | None, Field(description="Per cent.")] = None
    volume_change: Annotated[Number | None, Field(description="Per cent.")] = None
    sentiment_score: Annotated[float, Field(ge=-1, le=1)] | None = None


class Document(Lenient):
    id: Id
    content: dict[str, Any]
    distance: Number | None = None
    certainty: Annotated[float, Field(ge=0, le=1)] | None = None


class Vectors(Lenient):
    results: Annotated[list[Document], Field(max_length=MAX_ITEMS)]
    search_time_ms: Count | None = None


def _amount(value: Any) -> str:
    """An amount as decimal text, whole. Raises: ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("a number is needed")
    found = Decimal(str(value))
    if not found.is_finite() or abs(found.adjusted()) > 60:
        raise ValueError("a finite number is needed")
    return format(found, "f")


class Transaction(Lenient):
    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    tx_id: Id
    sender: Annotated[Id, Field(alias="from")]
    to: Id
    amount: Number
    amount_exact: Annotated[str, BeforeValidator(_amount)] = "0"
    currency: Literal["USDC", "ETH", "BASE"]
    timestamp: Moment
    status: Literal["pending", "confirmed", "failed"]


class Transactions(Lenient):
    transactions: Annotated[list[Transaction], Field(max_length=MAX_ITEMS)]


class Instruction(Lenient):
    instruction_id: Id
    command: Literal["post_update", "respond_to_query", "execute_campaign"]
    payload: dict[str, Any]
    checksum: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{64}$")]


class HeartbeatData(Lenient):
    heartbeat_id: Annotated[str, Field(pattern=r"^[0-9a-fA-F-]{32,36}$")]
    timestamp: Moment
    agent_status_required: Literal["online", "maintenance", "update_required"]
    instructions: Annotated[list[Instruction], Field(max_length=100)]
    next_heartbeat_due: Moment | None = None
    signature: Annotated[
        str | None, Field(max_length=200, description="Ed25519 over the RFC 8785 JSON of heartbeat_id and instructions, base64.")
    ] = None
    verified: Literal["signature", "integrity_only"] | None = None


class AgentProfile(Lenient):
    agent_id: Id
    name: Id
    status: Literal["active", "busy", "paused", "error"] = "active"
    capabilities: list[Id] = []
    region: Id | None = None
    profile_url: Text | None = None
    last_seen: Moment | None = None
    signature: Text | None = None


KINDS: Final[Mapping[str, TypeAdapter[Any]]] = {
    "tweets": TypeAdapter(Annotated[list[Tweet], Field(max_length=MAX_ITEMS)]),
    "trends": TypeAdapter(Annotated[list[TrendData], Field(max_length=MAX_ITEMS)]),
    "crypto": TypeAdapter(Annotated[list[CryptoTrend], Field(max_length=MAX_ITEMS)]),
    "vectors": TypeAdapter(Vectors),
    "transactions": TypeAdapter(Transactions),
    "heartbeat": TypeAdapter(HeartbeatData),
    "agents": TypeAdapter(Annotated[list[AgentProfile], Field(max_length=MAX_ITEMS)]),
}
EMPTY: Final[Mapping[str, Any]] = {"vectors": {"results": []}, "transactions": {"transactions": []}}
_LISTS: Final[Mapping[str, str]] = {"vectors": "results", "transactions": "transactions", "heartbeat": "instructions"}


def fitted(kind: str, data: Any) -> Any:
    """The data as the contract has them, as JSON values. Raises: UpstreamError (upstream_invalid), which names the first fault."""
    adapter = KINDS[kind]
    if kind == "transactions":
        data = _with_exact(data)
    try:
        found = adapter.validate_python(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part)[:40] for part in first["loc"]) or "the answer"
        raise UpstreamError(INVALID, f"The answer does not fit its schema: {where}: {first['msg']}.") from error
    return adapter.dump_python(found, mode="json", by_alias=True, exclude_none=False)


def _with_exact(data: Any) -> Any:
    """Each amount once more, as text: a binary number does not hold every decimal."""
    if not isinstance(data, Mapping) or not isinstance(data.get("transactions"), list):
        return data
    rows = [
        {**one, "amount_exact": one.get("amount_exact", one.get("amount"))} if isinstance(one, Mapping) else one
        for one in data["transactions"]
    ]
    return {**data, "transactions": rows}


def empty(kind: str) -> Any:
    """The answer that holds nothing."""
    return EMPTY.get(kind, [])


def items(kind: str, data: Any) -> list[Any]:
    """The list that an answer consists of."""
    found = data[_LISTS[kind]] if kind in _LISTS else data
    return list(found)


def with_items(kind: str, data: Any, found: list[Any]) -> Any:
    """The answer with another list in it."""
    return {**data, _LISTS[kind]: found} if kind in _LISTS else found


def kept(kind: str, data: Any, before: Any) -> Any:
    """What of an answer is stored, given what is stored already. Of transactions: those that no longer change, and all seen before,
    newest first.
    """
    if kind != "transactions":
        return data
    done = [one for one in data["transactions"] if one["status"] != "pending"]
    known = {one["tx_id"] for one in done}
    old = [one for one in (before or {"transactions": []})["transactions"] if one["tx_id"] not in known]
    rows = sorted([*done, *old], key=lambda one: (one["timestamp"], one["tx_id"]), reverse=True)
    return {"transactions": rows[:MAX_ITEMS]}


def in_region(uri_params: Mapping[str, Any], data: list[Any]) -> bool:
    """Whether every trend of a regional answer is of that region."""
    return all(one.get("geographic_origin") == uri_params["region"] for one in data)


CHECKS: Final[Mapping[str, Callable[[Mapping[str, Any], list[Any]], bool]]] = {"news_region_trends": in_region}
"""By resource: what its schema says beyond shapes."""

"""The shape of each kind of answer, and its check: fields of an upstream that are not in the contract are left out."""

import datetime as dt
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Any, Final, Literal

import pydantic
from jsonschema.exceptions import best_match
from pydantic import AwareDatetime, BaseModel, BeforeValidator, Field, TypeAdapter

from mcpserver.gateway.resource_policy import Resource
from mcpserver.upstreams.client_interface import INVALID, UpstreamError

MAX_ITEMS: Final = 1_000
MAX_TEXT: Final = 10_000  # characters
Id = Annotated[str, Field(max_length=200)]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Count = Annotated[int, Field(ge=0, le=10**15)]
Number = Annotated[float, Field(allow_inf_nan=False)]


def _format_utc(value: dt.datetime) -> str:
    return value.astimezone(dt.UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


Moment = Annotated[AwareDatetime, pydantic.PlainSerializer(_format_utc, return_type=str, when_used="json")]


class PublicMetrics(BaseModel):
    like_count: Count = 0
    retweet_count: Count = 0
    reply_count: Count = 0
    quote_count: Count = 0


class Entities(BaseModel):
    hashtags: list[Text] = []
    urls: list[Text] = []
    mentions: list[Text] = []


class Tweet(BaseModel):
    id: Id
    text: Text
    author_id: Id
    author_username: Id | None = None
    created_at: Moment
    public_metrics: PublicMetrics | None = None
    entities: Entities | None = None


class Growing(BaseModel):
    """A topic, name or storyline with a larger share of the stories than in the weeks before."""

    kind: Annotated[str, Field(description="topic, name or storyline.", max_length=20)]
    name: Id
    stories: Count
    expected: Annotated[float, Field(ge=0, description="Stories expected had its share not grown.")]
    score: Annotated[float, Field(ge=0, le=1)]


class TrendMetadata(BaseModel):
    category: Id | None = None
    cross_source_count: Count | None = None
    consensus_score: Annotated[float, Field(ge=0, le=1)] | None = None
    event_id: Id | None = None
    story_ids: list[Id] = []
    publishers: list[Id] = []
    growing: Growing | None = None
    untrusted_instructions: bool = False


class TrendData(BaseModel):
    id: Id
    topic: Text
    source: Id
    url: Text | None = None
    engagement_score: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False, description="0-100, normalised by its source.")]
    geographic_origin: Id | None = None
    timestamp: Annotated[Moment, Field(description="When it was first reported.")]
    language: Id | None = None
    metadata: TrendMetadata


class CryptoTrend(BaseModel):
    trend: TrendData
    price_change: Annotated[Number | None, Field(description="Per cent.")] = None
    volume_change: Annotated[Number | None, Field(description="Per cent.")] = None
    sentiment_score: Annotated[float, Field(ge=-1, le=1)] | None = None


class Document(BaseModel):
    id: Id
    content: dict[str, Any]
    distance: Number | None = None
    certainty: Annotated[float, Field(ge=0, le=1)] | None = None


class Vectors(BaseModel):
    results: Annotated[list[Document], Field(max_length=MAX_ITEMS)]
    search_time_ms: Count | None = None


def _format_amount(value: Any) -> str:
    """Return an amount as exact decimal text. Raises: ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("a number is needed")
    found = Decimal(str(value))
    if not found.is_finite() or abs(found.adjusted()) > 60:
        raise ValueError("a finite number is needed")
    return format(found, "f")


class Transaction(BaseModel):
    model_config = pydantic.ConfigDict(populate_by_name=True)

    tx_id: Id
    sender: Annotated[Id, Field(alias="from")]
    to: Id
    amount: Number
    amount_exact: Annotated[str, BeforeValidator(_format_amount)] = "0"
    currency: Literal["USDC", "ETH", "BASE"]
    timestamp: Moment
    status: Literal["pending", "confirmed", "failed"]

    @pydantic.model_validator(mode="before")
    @classmethod
    def _copy_amount(cls, row: Any) -> Any:
        # As text as well: a binary number does not hold every decimal.
        return {"amount_exact": row.get("amount"), **row} if isinstance(row, Mapping) else row


class Transactions(BaseModel):
    transactions: Annotated[list[Transaction], Field(max_length=MAX_ITEMS)]


class Instruction(BaseModel):
    instruction_id: Id
    command: Literal["post_update", "respond_to_query", "execute_campaign"]
    payload: dict[str, Any]
    checksum: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{64}$")]


class HeartbeatData(BaseModel):
    agent_id: Annotated[Id | None, Field(description="The agent it is for, as in the request.")] = None
    heartbeat_id: Annotated[str, Field(pattern=r"^[0-9a-fA-F-]{32,36}$")]
    timestamp: Moment
    agent_status_required: Literal["online", "maintenance", "update_required"]
    instructions: Annotated[list[Instruction], Field(max_length=100)]
    next_heartbeat_due: Moment | None = None
    signature_version: Annotated[int | None, Field(ge=1, le=1_000, description="2; 1 is refused where a key is pinned.")] = None
    signature: Annotated[
        str | None,
        Field(
            max_length=200,
            description="Ed25519, base64, over the RFC 8785 JSON of signature_version, agent_id, heartbeat_id, timestamp, "
            "agent_status_required, next_heartbeat_due and instructions.",
        ),
    ] = None
    verified: Literal["signature", "integrity_only"] | None = None


class AgentProfile(BaseModel):
    agent_id: Id
    name: Id
    status: Literal["active", "busy", "paused", "error"] = "active"
    capabilities: list[Id] = []
    region: Id | None = None
    profile_url: Text | None = None
    last_seen: Moment | None = None
    signature: Text | None = None


class TextAnswer(BaseModel):
    text: str
    mime_type: Id | None = None


class BlobAnswer(BaseModel):
    blob: Annotated[str, Field(pattern=r"^[A-Za-z0-9+/\s]*=*\s*$", description="Base64.")]
    mime_type: Id | None = None


class Content(BaseModel):
    """A content of a resource: with `text`, or with `blob` in base64."""

    uri: Text
    mime_type: Id | None = None
    text: str | None = None
    blob: str | None = None


class Contents(BaseModel):
    contents: Annotated[list[Content], Field(max_length=MAX_ITEMS)]


class ListedResource(BaseModel):
    uri: Text
    name: Text
    mime_type: Id | None = None


class Listing(BaseModel):
    resources: Annotated[list[ListedResource], Field(max_length=MAX_ITEMS)]
    templates: Annotated[list[ListedResource], Field(max_length=MAX_ITEMS)]


KINDS: Final[Mapping[str, TypeAdapter[Any]]] = {
    "tweets": TypeAdapter(Annotated[list[Tweet], Field(max_length=MAX_ITEMS)]),
    "trends": TypeAdapter(Annotated[list[TrendData], Field(max_length=MAX_ITEMS)]),
    "crypto": TypeAdapter(Annotated[list[CryptoTrend], Field(max_length=MAX_ITEMS)]),
    "vectors": TypeAdapter(Vectors),
    "transactions": TypeAdapter(Transactions),
    "heartbeat": TypeAdapter(HeartbeatData),
    "agents": TypeAdapter(Annotated[list[AgentProfile], Field(max_length=MAX_ITEMS)]),
    "json": TypeAdapter(Any),  # of the policy's schema
    "text": TypeAdapter(TextAnswer),
    "blob": TypeAdapter(BlobAnswer),
    "contents": TypeAdapter(Contents),
    "listing": TypeAdapter(Listing),
}
LISTS: Final[Mapping[str, str]] = {
    **{"vectors": "results", "transactions": "transactions", "heartbeat": "instructions"},
    **{"contents": "contents", "listing": "resources"},
}
EMPTY: Final[Mapping[str, Any]] = {
    **{kind: {LISTS[kind]: []} if kind in LISTS else [] for kind in KINDS},
    **dict.fromkeys(("json", "text", "blob")),
    "listing": {"resources": [], "templates": []},
}


def validate_payload(resource: Resource, params: Mapping[str, Any], data: Any) -> Any:
    """Return the data as the contract has them, as JSON values. Raises: UpstreamError, naming the first fault."""
    if not is_storable(data):
        raise UpstreamError(INVALID, "The answer contains NUL or half a UTF-16 pair, which is not allowed.")
    try:
        found = KINDS[resource.answers].validate_python(data)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part)[:40] for part in first["loc"]) or "the answer"
        raise UpstreamError(INVALID, f"The answer does not fit its schema: {where}: {first['msg']}.") from error
    if resource.schema and (fault := best_match(resource.validator.iter_errors(data))):
        where = ".".join(str(part)[:40] for part in fault.absolute_path) or "the answer"
        raise UpstreamError(INVALID, f"The answer does not fit its schema: {where}: it breaks {str(fault.validator)[:40]}.")
    fitting = KINDS[resource.answers].dump_python(found, mode="json", by_alias=True, exclude_none=resource.answers == "contents")
    if resource.name == "news_region_trends" and any(trend["geographic_origin"] != params["region"] for trend in fitting):
        raise UpstreamError(INVALID, "The answer is about something other than what was asked.")
    return fitting


def is_storable(data: Any) -> bool:
    """Return whether every text of JSON values can be stored: a table takes no NUL and no half a pair of UTF-16."""
    kind = type(data)
    if kind is str:
        return "\0" not in data and (data.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in data))
    if kind is dict:
        return all(map(is_storable, data)) and all(map(is_storable, data.values()))
    return all(map(is_storable, data)) if kind is list else True


def list_items(kind: str, data: Any) -> list[Any]:
    found = data[LISTS[kind]] if kind in LISTS else data
    return found if isinstance(found, list) else [found]


def convert_payload(data: Any, kind: str, wanted: str) -> Any:
    """Return the data of another resource in the shape that was asked for: a trend is a coin's trend without figures."""
    if (kind, wanted) != ("trends", "crypto"):
        return data
    return [CryptoTrend(trend=trend).model_dump(mode="json") for trend in data]


def merge_settled_transactions(answers: Iterable[Any]) -> Any:
    """Return all transactions of these answers that no longer change, newest first. An earlier answer wins over later ones."""
    rows: dict[str, Any] = {}
    for answer in answers:
        for row in answer["transactions"]:
            if row["status"] != "pending":
                rows.setdefault(row["tx_id"], row)
    newest = sorted(rows.values(), key=lambda row: (row["timestamp"], row["tx_id"]), reverse=True)
    return {"transactions": newest[:MAX_ITEMS]}

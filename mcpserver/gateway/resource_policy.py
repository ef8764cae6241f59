"""The policy: which resources there are, how often each upstream may be asked, and which resources answer in their place.

`load_policy` reads it from the TOML file that ships and the operator's (WIRE_GATEWAY_POLICY). No Django, no clock.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import quote

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic.dataclasses import dataclass
from referencing import Registry

from mcpserver.upstreams.config import FOREVER, TABLE, Duration, Upstream, add_table_names, build_pattern_check

NUMBERS: Final = ("limit", "min_interval", "ttl", "stale", "timeout", "attempts", "cost")  # what the desk may override
VERSION: Final = 1
SHIPPED: Final = Path(__file__).with_name("policy.toml")
_HOLE: Final = re.compile(r"\{(\+?)([a-z_.]+)\}")  # `{+name}` holds any characters, as in RFC 6570
ATTRIBUTE: Final = re.compile(r"\{agent\.([a-z_]+)\}")  # in an address of a chain
# What an upstream with `pass_through` offers by itself; a table of the same name changes it.
_PASSED: Final[dict[str, Any]] = {"limit": 600, "period": "1h", "ttl": "5m", "stale": "1h", "timeout": "10s"}
_ADDRESS: Final = {"type": "string", "pattern": ".+", "help": "The address of a resource of this upstream."}
Count = Annotated[int, Field(ge=1)]
PositiveDuration = Annotated[Duration, Field(gt=0)]


class PolicyError(Exception):
    """The policy cannot be used; the message names the table and the key, and says what is expected there."""


_WHOLE: Final = "a whole number is needed"
_SENTENCES: Final = {
    "unexpected_keyword_argument": "this key is unknown; mcpserver/gateway/policy.toml shows every key",
    "missing": "this key is missing",
    **{"int_from_float": _WHOLE, "int_parsing": _WHOLE, "int_type": _WHOLE},
    "greater_than": "a time longer than 0 is needed",
}


def describe_policy_error(error: ValidationError, table: str = "") -> PolicyError:
    """Return the first fault of a policy as a sentence. It repeats no value, which may be a secret."""
    fault = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(filter(None, (table, *map(str, fault["loc"]))))
    own = str(fault["ctx"]["error"]) if fault["type"] == "value_error" else _SENTENCES.get(fault["type"])
    sentence = own or fault["msg"].replace("Input", "the value").replace("tuple", "list").replace("dictionary", "table")
    return PolicyError(f"{where}: {sentence}." if where else f"{sentence}.")


def _check_pattern(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"this is not a regular expression: {error}") from error
    return pattern


@dataclass(frozen=True, config=TABLE)
class Parameter:
    name: str
    type: Literal["integer", "number", "string", "enum", "list", "window", "uuid", "numbers"]
    default: Any = None
    min: float | None = None
    max: Any = None
    values: tuple[str, ...] = ()
    internal: tuple[str, ...] = ()  # values that only a chain may use
    pattern: Annotated[str, AfterValidator(_check_pattern)] = ""
    optional: bool = False
    local: bool = False  # applied here to what was fetched, so that questions that differ in nothing else share an entry
    also: str = ""  # another name for the same; given both with different values, a question is refused
    help: str = ""

    @field_validator("values")
    @classmethod
    def _check_values(cls, values: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if info.data.get("type") == "enum" and not values:
            raise ValueError("an enum lists its values")
        return values

    @property
    def is_required(self) -> bool:
        return self.default is None and not self.optional


@dataclass(frozen=True, config=TABLE)
class Resource:
    name: Annotated[str, build_pattern_check(r"[a-z][a-z0-9_]{0,59}", "a name has small letters, digits and underscores")]
    uri: str
    upstream: str
    # fmt: off
    answers: Literal[
        "tweets", "trends", "crypto", "vectors", "transactions", "heartbeat", "agents",
        "json", "text", "blob", "contents", "listing",
    ]
    # fmt: on
    limit: Count
    period: PositiveDuration
    ttl: Duration
    timeout: PositiveDuration
    title: str = ""
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)  # JSON Schema of `json`, 2020-12
    params: Annotated[Mapping[str, Parameter], BeforeValidator(add_table_names)] = field(default_factory=dict)
    stale: Duration = 0.0
    # Other addresses that answer in its place, in order.
    chain: tuple[str, ...] = ()
    min_interval: Duration = 0.0
    limit_scope: Literal["shared", "credential", "agent"] = "shared"
    limit_per: tuple[str, ...] = ()
    private: bool = False
    tool_only: bool = False
    ttl_of: Mapping[str, Duration] = field(default_factory=dict)  # by `parameter=value`
    attempts: Count = 3
    timeout_attempts: int = 2
    retry_limit: int = 0
    exhausted: Literal["empty", "error"] = "empty"
    cost: Annotated[float, Field(ge=0, le=FOREVER)] = 0.0

    @model_validator(mode="after")
    def _expect_declared_names(self) -> Self:
        for name in (*self.holes, *self.limit_per):
            if name not in self.params:
                raise ValueError(f"there is no parameter {name!r}, which its uri or limit_per names")
        return self

    @field_validator("schema")
    @classmethod
    def _check_schema(cls, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as error:
            raise ValueError(f"this is not a JSON Schema: {error.message}") from error
        return schema

    @property
    def holes(self) -> tuple[str, ...]:
        return tuple(name for _, name in _HOLE.findall(self.uri))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        unescaped = re.sub(r"\\([{}+])", r"\1", re.escape(self.uri))
        return re.compile(_HOLE.sub(lambda hole: "(.+)" if hole[1] else "([^/?#]+)", unescaped), re.S)

    @cached_property
    def validator(self) -> Draft202012Validator:
        return Draft202012Validator(self.schema, registry=Registry())  # which fetches nothing

    def fill_uri(self, params: Mapping[str, Any]) -> str:
        return _HOLE.sub(lambda hole: str(params[hole[2]]) if hole[1] else quote(str(params[hole[2]]), safe="-._~"), self.uri)

    def get_ttl(self, params: Mapping[str, Any]) -> float:
        matching = (ttl for key, ttl in self.ttl_of.items() if str(params.get(key.partition("=")[0])) == key.partition("=")[2])
        return next(matching, self.ttl)


@dataclass(frozen=True, config=TABLE)
class Defaults:
    attempts: Count = 3
    timeout_attempts: int = 2
    waits: tuple[Duration, ...] = (5.0, 30.0)
    refresh_at: float = 0.75


@dataclass(frozen=True, config=TABLE)
class CircuitPolicy:
    opens_at: int = 3
    first_wait: Duration = 30.0
    longest_wait: Duration = 600.0


@dataclass(frozen=True, config=TABLE)
class Policy:
    version: Literal[1]
    resources: Annotated[Mapping[str, Resource], BeforeValidator(add_table_names)] = field(default_factory=dict)
    upstreams: Annotated[Mapping[str, Upstream], BeforeValidator(add_table_names)] = field(default_factory=dict)
    defaults: Defaults = field(default_factory=Defaults)
    circuit: CircuitPolicy = field(default_factory=CircuitPolicy)

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        for resource in self.resources.values():
            if resource.upstream not in self.upstreams:
                raise ValueError(f"resources.{resource.name}.upstream: there is no upstream {resource.upstream!r}")
            for uri in resource.chain:
                if uri == resource.uri or _find_chain_resource(self, uri) is None:
                    raise ValueError(f"resources.{resource.name}.chain: {uri!r} is not another resource of this policy")
        for upstream in self.upstreams.values():
            for name, adapter in upstream.adapters.items():
                if name not in self.resources:
                    raise ValueError(f"upstreams.{upstream.name}.adapters: there is no resource {name!r}")
                params = self.resources[name].params
                # An argument with a name that nobody fills would be left out of every call.
                if strange := [hole for hole in adapter.list_holes() if hole not in params and not hole.startswith("agent.")]:
                    known = ", ".join(params) or "none"
                    raise ValueError(f"upstreams.{upstream.name}.adapters.{name}: there is no parameter {strange[0]!r} ({known})")
        if len({resource.uri for resource in self.resources.values()}) < len(self.resources):
            raise ValueError("resources: two of them have the same uri")
        return self

    def with_overrides(self, numbers: Mapping[str, Mapping[str, Any]]) -> "Policy":
        """Return the policy with other numbers, by resource. Raises: PolicyError."""
        resources = dict(self.resources)
        for name, changes in numbers.items():
            if name not in resources:
                continue
            if strange := sorted(changes.keys() - set(NUMBERS)):
                raise PolicyError(f"{name}.{strange[0]} cannot be overridden; only {', '.join(NUMBERS)} can.")
            try:
                changed = replace(resources[name], **changes)
            except ValidationError as error:
                raise describe_policy_error(error, name) from error
            if changed.min_interval and "min_interval" in changes and "limit" not in changes:
                # A shorter interval lifts the limit to what it lets through: four hours make six a day of four.
                changed = replace(changed, limit=max(changed.limit, int(changed.period // changed.min_interval)))
            resources[name] = changed
        return replace(self, resources=resources)

    def list_attributes(self) -> list[str]:
        """Return the names of attributes of an agent that chains need, such as `twitter_id`."""
        chains = (uri for resource in self.resources.values() for uri in resource.chain)
        return list(dict.fromkeys(name for uri in chains for name in ATTRIBUTE.findall(uri)))

    def find_resource(self, path: str) -> tuple[Resource, Sequence[str]] | None:
        for resource in self.resources.values():
            if match := resource.pattern.fullmatch(path):
                return resource, match.groups()
        return None


def load_policy(extra: Path | None = None) -> Policy:
    """Return the policy that ships, with the operator's tables laid over it. Raises: PolicyError."""
    raw = _read_toml(SHIPPED)
    if extra is not None:
        raw = _merge_tables(raw, _read_toml(extra))
    if isinstance(raw["resources"], dict) and isinstance(raw["upstreams"], dict):
        _add_passed_resources(raw["upstreams"], raw["resources"])
    if raw.get("version") != VERSION:
        raise PolicyError(f"version: {raw.get('version')!r} is unknown; this release reads version {VERSION}.")
    try:
        policy = Policy(**raw)
    except ValidationError as error:
        raise describe_policy_error(error) from error
    general = {key: getattr(policy.defaults, key) for key in ("attempts", "timeout_attempts")}
    resources = {}
    for name, one in policy.resources.items():
        own = {key: value for key, value in general.items() if key not in raw["resources"][name]}
        resources[name] = replace(one, title=one.title or name, **own)
    return replace(policy, resources=resources)


def _add_passed_resources(upstreams: Mapping[str, Any], resources: dict[str, Any]) -> None:
    """Add two resources for each upstream that is passed through: the list of its own ones, and each of them by its address."""
    for name, upstream in upstreams.items():
        if not isinstance(upstream, dict) or not upstream.get("pass_through"):
            continue
        key, general = name.replace("-", "_"), {**_PASSED, "upstream": name}
        own = {"uri": f"mcp://{name}/{{+uri}}", "answers": "contents", "title": f"A resource of {name}"}
        listing = {"uri": f"mcp://{name}/", "answers": "listing", "title": f"Resources of {name}"}
        resources[key] = _merge_tables({**general, **own, "params": {"uri": _ADDRESS}}, resources.get(key, {}))
        resources[f"{key}_list"] = _merge_tables({**general, **listing}, resources.get(f"{key}_list", {}))
        upstream["adapters"] = {key: {"resource": "{uri}"}, **upstream.get("adapters", {})}


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise PolicyError(f"{file} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PolicyError(f"{file} is not TOML: {error}.") from error


def _merge_tables(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _merge_tables(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _find_chain_resource(policy: Policy, uri: str) -> Resource | None:
    """Return the resource of a chain's address. A hole for an attribute of the agent fits every hole of the resource."""
    for resource in policy.resources.values():
        if match := resource.pattern.fullmatch(uri):
            values = zip((resource.params[name] for name in resource.holes), match.groups(), strict=True)
            if all(value.startswith("{agent.") or _accepts_value(parameter, value) for parameter, value in values):
                return resource
    return None


def _accepts_value(parameter: Parameter, value: str) -> bool:
    if parameter.type == "enum":
        return value.lower() in {known.lower() for known in (*parameter.values, *parameter.internal)}
    return not parameter.pattern or re.fullmatch(parameter.pattern, value) is not None

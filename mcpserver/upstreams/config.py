"""The tables `upstreams.*` of the policy, and the times in it."""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator
from pydantic.dataclasses import dataclass

from config.env import text as read_variable
from config.url_secrets import CREDENTIALS_REFUSED, has_credentials

FOREVER: Final = 10.0 * 365 * 86_400  # seconds
TABLE: Final = ConfigDict(extra="forbid", validate_default=True)
CONVERSIONS: Final = ("text", "number", "time", "json")
_HOLE: Final = re.compile(r"\{(\+?[A-Za-z_.]+)\}")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}


def parse_duration(text: str) -> float:
    """Return the seconds of `90s`, `5m`, `24h`, `7d` or `forever`. Raises: ValueError."""
    if text == "forever":
        return FOREVER
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)", text)
    if match is None:
        raise ValueError(f"{text!r} is not a time such as 36s, 5m, 24h or forever")
    return float(match[1]) * _UNITS[match[2]]


def build_pattern_check(pattern: str, sentence: str) -> AfterValidator:
    """Return a validator of texts that match a pattern; the sentence says what is needed."""

    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(sentence)
        return value

    return AfterValidator(check)


def add_table_names(tables: Any) -> Any:
    if not isinstance(tables, dict):
        return tables
    return {key: {**table, "name": key} if isinstance(table, dict) else table for key, table in tables.items()}


# A number is seconds, as the desk's overrides have them.
Duration = Annotated[
    float,
    Field(ge=0, le=FOREVER),
    BeforeValidator(lambda value: parse_duration(str(value)) if isinstance(value, str | bool) else value),
]


@dataclass(frozen=True, config=TABLE)
class Adapter:
    """The translation of a resource for its upstream. With neither `tool` nor `resource`, its own address is read there."""

    tool: str = ""
    resource: str = ""
    # By argument of the tool: a value, in which `{name}` stands for a parameter and `{agent.name}` for an attribute of the agent.
    arguments: Mapping[str, Any] = field(default_factory=dict)
    at: str = ""  # where in the answer the data lie: names and numbers with dots between, "" for all of it
    # By field of an item here: where it lies in the upstream's item, and how it is converted: "created | time".
    fields: Mapping[str, str] = field(default_factory=dict)

    @field_validator("fields")
    @classmethod
    def _check_conversions(cls, fields: Mapping[str, str]) -> Mapping[str, str]:
        for name, place in fields.items():
            conversion = "" if place.startswith("=") else place.partition("|")[2].strip()
            if conversion and conversion not in CONVERSIONS:
                raise ValueError(f"{name}: {conversion!r} is not a conversion; use one of {', '.join(CONVERSIONS)}")
        return fields

    def list_holes(self) -> list[str]:
        texts = (text for text in (self.resource, *self.arguments.values()) if isinstance(text, str))
        return [hole for text in texts for hole in _HOLE.findall(text)]


@dataclass(frozen=True, config=TABLE)
class OAuth:
    """Client credentials (RFC 6749, 4.4), with which a token is asked for."""

    token_url: Annotated[str, build_pattern_check(r"https?://[^\s@]+", "an http(s) address is needed")]
    client_id: str
    client_secret: Annotated[str, build_pattern_check("env:.+", "name the variable with the secret, as 'env:NAME'")]
    scope: str = ""
    resource: str = ""  # RFC 8707


@dataclass(frozen=True, config=TABLE)
class Upstream:
    name: Annotated[str, build_pattern_check(r"[a-z][a-z0-9-]{0,59}", "a name has small letters, digits and hyphens")]
    kind: Literal["off", "wire", "stdio", "http"] = "off"
    command: tuple[str, ...] = ()
    address: str = ""
    failover: tuple[str, ...] = ()  # further addresses of the same server, for when the one before does not work
    pass_through: bool = False  # its own resources are read under mcp://NAME/
    oauth: OAuth | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    mode: Literal["auto", "legacy", "2026-07-28"] = "auto"
    networks: tuple[str, ...] = ()  # beside the public internet, such as 10.0.0.0/8
    # The key that signs heartbeats.
    public_key: Annotated[str, build_pattern_check("([0-9a-f]{64})?", "the 64 hex digits of an Ed25519 public key are needed")] = ""
    adapters: Mapping[str, Adapter] = field(default_factory=dict)

    @field_validator("command")
    @classmethod
    def _check_command(cls, command: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if info.data.get("kind") == "stdio" and not command:
            raise ValueError("a list of words is needed, such as ['uvx', 'weaviate-mcp']")
        return command

    @field_validator("address", "failover")
    @classmethod
    def _check_address(cls, value: Any, info: ValidationInfo) -> Any:
        for address in (value,) if isinstance(value, str) else value:
            if info.data.get("kind") == "http" and not re.fullmatch(r"https?://[^\s]+", address):
                raise ValueError("an http(s) address is needed")
            if has_credentials(address):
                raise ValueError(f"{CREDENTIALS_REFUSED} A secret goes into this upstream's headers, as 'env:NAME'")
        return value

    @field_validator("env", "headers")
    @classmethod
    def _check_secrets(cls, values: Mapping[str, str]) -> Mapping[str, str]:
        for key, value in values.items():
            if not value.startswith("env:") and re.search(r"key|token|secret|password|authorization", key, re.I):
                raise ValueError(f"{key}: name the variable with the secret, as 'env:NAME'")
        return values

    @field_validator("networks")
    @classmethod
    def _check_networks(cls, networks: tuple[str, ...]) -> tuple[str, ...]:
        for network in networks:
            ipaddress.ip_network(network)
        return networks

    def list_secrets(self) -> list[str]:
        values = (*self.env.values(), *self.headers.values(), *((self.oauth.client_secret,) if self.oauth else ()))
        return [value.removeprefix("env:") for value in values if value.startswith("env:")]

    def find_missing_secret(self) -> str:
        """Return a secret that the policy names and the environment does not hold; "" if none."""
        return next((name for name in self.list_secrets() if not read_variable(name)), "")


def read_secrets(values: Mapping[str, str]) -> dict[str, str]:
    return {key: read_variable(value[4:]) if value.startswith("env:") else value for key, value in values.items()}

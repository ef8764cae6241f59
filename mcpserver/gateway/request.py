"""From an address to a request: which resource, with which parameters, and under which key its answer is cached."""

import math
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlencode

from config.errors import InvalidArgument, NotFound
from mcpserver.gateway.auth import ANYBODY, Caller
from mcpserver.gateway.canonical_json import hash_json
from mcpserver.gateway.resource_policy import ATTRIBUTE, Parameter, Policy, Resource
from mcpserver.upstreams.config import parse_duration

MAX_URI: Final = 2_000  # characters
LISTED: Final = "resources/list, the tool gateway_resources and /api/gateway/resources.json list every resource."


@dataclass(frozen=True)
class GatewayRequest:
    """A question of a caller to a resource. `params` hold every parameter, defaults included."""

    resource: Resource
    params: Mapping[str, Any]
    caller: Caller = ANYBODY

    @cached_property
    def uri(self) -> str:
        """The canonical address: values as the policy spells them, parameters in its order, defaults left out."""
        return self.build_uri(with_local=True)

    def build_uri(self, *, with_local: bool) -> str:
        resource, params = self.resource, self.params
        query = {
            name: ",".join(map(str, params[name])) if isinstance(params[name], list) else str(params[name])
            for name, parameter in resource.params.items()
            if name in params
            and name not in resource.holes
            and params[name] != parameter.default
            and parameter.type != "numbers"
            and (with_local or not parameter.local)
        }
        return resource.fill_uri(params) + (f"?{urlencode(query, safe=',:')}" if query else "")

    @cached_property
    def upstream_params(self) -> Mapping[str, Any]:
        known = self.resource.params
        return {name: known[name].max if known[name].local else value for name, value in self.params.items()}

    @cached_property
    def key(self) -> str:
        """SHA-256 hex of the RFC 8785 JSON of resource, parameters with defaults, and whose answer it is."""
        params = {name: value for name, value in self.params.items() if not self.resource.params[name].local}
        content: Any = {"resource": self.resource.name, "params": params, "scope": self.owner}
        if self.attributes_sha256:
            content["attributes"] = self.attributes_sha256
        return hash_json(content)

    @cached_property
    def history_key(self) -> str:
        """The key of all that was ever seen in answers to whoever asks, whatever the question."""
        return hash_json({"seen": self.resource.name, "scope": self.owner, "attributes": self.attributes_sha256})

    @property
    def owner(self) -> str:
        """The agent that alone may be given the answer; "" for an answer that all may share."""
        return self.caller.name if self.resource.private else ""

    @cached_property
    def attributes_sha256(self) -> str:
        """SHA-256 hex of the RFC 8785 JSON of the agent's attributes; "" without any, or where all may share the answer."""
        # An agent whose attributes change is not given what was fetched for the earlier ones.
        return hash_json(dict(self.caller.attributes)) if self.resource.private and self.caller.attributes else ""

    @property
    def max_items(self) -> int | None:
        local = (name for name, parameter in self.resource.params.items() if parameter.local and name in self.params)
        return next((int(self.params[name]) for name in local), None)


def parse_request(policy: Policy, uri: str, caller: Caller = ANYBODY, *, internal: bool = False) -> GatewayRequest:
    """Return the request of an address; `internal`: names that only chains use are accepted. Raises: NotFound, InvalidArgument."""
    if len(uri) > MAX_URI:
        raise InvalidArgument(f"The address is longer than {MAX_URI} characters.", "Leave parameters out.")
    scheme, separator, rest = uri.strip().partition("://")
    address, query = f"{scheme.lower()}{separator}{rest}", ""
    found = policy.find_resource(address)
    if found is None:
        address, _, query = address.partition("?")
        found = policy.find_resource(address)
    if found is None:
        raise NotFound("There is no such resource.", LISTED)
    resource, values = found
    is_address = "{+" in resource.uri  # which ends in another one, whatever characters that has
    given = dict(zip(resource.holes, values if is_address else map(unquote, values), strict=True))
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name in given:
            raise InvalidArgument(f"{name} is given twice.", "Give each parameter once.")
        given[name] = value
    return build_request(resource, given, caller, internal=internal)


def build_request(resource: Resource, given: Mapping[str, Any], caller: Caller, *, internal: bool = False) -> GatewayRequest:
    """Return a request with these parameters, as text or as JSON has them. Raises: InvalidArgument."""
    aliases = {parameter.also for parameter in resource.params.values() if parameter.also}
    if strange := [name for name in given if name not in resource.params and name not in aliases]:
        known = ", ".join(resource.params) or "none"
        raise InvalidArgument(f"{resource.uri} takes no parameter {strange[0][:30]!r}.", f"It takes {known}.")
    params: dict[str, Any] = {}
    for name, parameter in resource.params.items():
        raw = given.get(name)
        if parameter.also and parameter.also in given:
            other = _parse_value(parameter, given[parameter.also], internal)
            if raw is not None and _parse_value(parameter, raw, internal) != other:
                raise InvalidArgument(f"{name} and {parameter.also} differ.", f"Both name the same parameter: give only {name}.")
            raw = other
        if raw not in (None, ""):
            params[name] = _parse_value(parameter, raw, internal)
        elif parameter.is_required:
            raise InvalidArgument(f"{name} is missing.", parameter.help or f"{resource.uri} needs it.")
        elif parameter.default is not None:
            params[name] = parameter.default
    request = GatewayRequest(resource, params, caller)
    if len(request.uri) > MAX_URI or any(not text.isprintable() for text in params.values() if isinstance(text, str)):
        raise InvalidArgument(
            f"The address is longer than {MAX_URI} characters, or a parameter has characters that cannot be printed.",
            "Shorten parameters; leave out line breaks and control characters.",
        )
    return request


def build_chain_request(policy: Policy, uri: str, request: GatewayRequest) -> GatewayRequest | None:
    """Return the request to a member of a chain, with shared parameters; None if the agent lacks an attribute that it names."""
    for name in ATTRIBUTE.findall(uri):
        if not (value := request.caller.attributes.get(name)):
            return None
        uri = uri.replace(f"{{agent.{name}}}", quote(value, safe=""))
    try:
        member = parse_request(policy, uri, request.caller, internal=True)
        shared = {
            name: request.params[name]
            for name, parameter in member.resource.params.items()
            if name in request.params and name not in member.resource.holes and parameter.type == request.resource.params[name].type
        }
        return build_request(member.resource, {**member.params, **shared}, request.caller, internal=True)
    except (InvalidArgument, NotFound):
        return None


def _parse_value(parameter: Parameter, raw: Any, internal: bool) -> Any:
    """Raises: InvalidArgument."""
    try:
        return _convert_value(parameter, raw, internal)
    except (ValueError, TypeError, OverflowError):
        high = parameter.max or ("7d" if parameter.type == "window" else 0)
        form = _FORMS[parameter.type].format(low=parameter.min or 0, high=high, values=", ".join(parameter.values))
        if parameter.type == "string" and parameter.pattern:
            form = f"a text like {parameter.pattern}"
        raise InvalidArgument(f"{parameter.name}: {form}.", parameter.help) from None


def _convert_value(parameter: Parameter, raw: Any, internal: bool) -> Any:
    """Raises: ValueError, TypeError, OverflowError for what the parameter does not take."""
    low, high, values = parameter.min, parameter.max, parameter.values
    match parameter.type:
        case "integer" | "number":
            is_whole = parameter.type == "integer"
            form = r"-?[0-9]{1,9}" if is_whole else r"-?[0-9]{1,9}(\.[0-9]{1,9})?"
            value = float(raw)
            is_written_right = not isinstance(raw, bool) and (not isinstance(raw, str) or re.fullmatch(form, raw))
            is_within = (-math.inf if low is None else low) <= value <= (math.inf if high is None else high)
            if is_written_right and is_within and (not is_whole or value.is_integer()):
                return int(value) if is_whole else value
        case "string":
            for text in (raw, raw.lower()) if isinstance(raw, str) else ():  # a name that is written with capitals is the same
                if re.fullmatch(parameter.pattern or r"[\w.-]{1,100}", text, re.A):
                    return text
        case "enum":
            known = {value.lower(): value for value in (*values, *(parameter.internal if internal else ()))}
            if isinstance(raw, str) and raw.lower() in known:
                return known[raw.lower()]
        case "list":
            words = {str(word).strip().lower() for word in (raw.split(",") if isinstance(raw, str) else raw)}
            if words <= {value.lower() for value in values}:
                return [value for value in values if value.lower() in words]
        case "window":  # from an hour to the longest
            match = re.fullmatch(r"0*([1-9][0-9]{0,3})([hd])", str(raw))
            if match and parse_duration(match[1] + match[2]) <= parse_duration(str(high or "7d")):
                return match[1] + match[2]
        case "uuid":
            return str(uuid.UUID(str(raw)))
        case "numbers":
            is_sized = isinstance(raw, list) and (low or 0) <= len(raw) <= (high or 4_096)
            if is_sized and not any(isinstance(value, bool | str) for value in raw) and all(map(math.isfinite, raw)):
                return [float(value) for value in raw]
    raise ValueError


_FORMS: Final[Mapping[str, str]] = {
    "integer": "a whole number from {low:g} to {high:g}",
    "number": "a number from {low:g} to {high:g}",
    "string": "letters, digits, dots and hyphens",
    "enum": "one of {values}",
    "list": "any of {values}, with commas between",
    "window": "a time such as 24h or 7d, at most {high}",
    "uuid": "a UUID",
    "numbers": "a list of {low:g} to {high:g} numbers",
}

"""From an address to a request: which resource, with which parameters, and under which key its answer is cached."""

import math
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlencode

from config.errors import InvalidArgument, NotFound
from mcpserver.gateway.auth import ANYBODY, Caller
from mcpserver.gateway.canonical_json import digest
from mcpserver.gateway.resource_policy import Parameter, Policy, Resource
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
        return self._build_uri(with_local=True)

    @cached_property
    def shared_uri(self) -> str:
        """The address of its cache entry: without parameters that are applied here."""
        return self._build_uri(with_local=False)

    def _build_uri(self, *, with_local: bool) -> str:
        resource, params = self.resource, self.params
        path = resource.fill(params)
        query = {
            name: ",".join(map(str, params[name])) if isinstance(params[name], list) else str(params[name])
            for name, parameter in resource.params.items()
            if name in params
            and name not in resource.holes
            and params[name] != parameter.default
            and parameter.type != "numbers"
            and (with_local or not parameter.local)
        }
        return f"{path}?{urlencode(query, safe=',:')}" if query else path

    @cached_property
    def upstream_params(self) -> Mapping[str, Any]:
        """The parameters for the upstream: as much as there may be of what is cut to size here."""
        known = self.resource.params
        return {name: known[name].max if known[name].local else value for name, value in self.params.items()}

    @cached_property
    def key(self) -> str:
        """SHA-256 hex of the RFC 8785 JSON of resource, parameters with defaults, and whose answer it is."""
        params = {name: value for name, value in self.params.items() if not self.resource.params[name].local}
        content: Any = {"resource": self.resource.name, "params": params, "scope": self.owner}
        if self.attributes_sha256:
            content["attributes"] = self.attributes_sha256
        return digest(content)

    @cached_property
    def history_key(self) -> str:
        """The key of all that was ever seen in answers to whoever asks, whatever the question."""
        return digest({"seen": self.resource.name, "scope": self.owner, "attributes": self.attributes_sha256})

    @property
    def owner(self) -> str:
        """The agent that alone may be given the answer; "" for an answer that all may share."""
        return self.caller.name if self.resource.private else ""

    @cached_property
    def attributes_sha256(self) -> str:
        """SHA-256 hex of the RFC 8785 JSON of the agent's attributes; "" without any, or where all may share the answer.

        A private answer is of these too: an agent whose attributes change is not given what was fetched for the earlier ones.
        """
        return digest(dict(self.caller.attributes)) if self.resource.private and self.caller.attributes else ""

    @property
    def max_items(self) -> int | None:
        """The most items of the answer, where that is applied here."""
        local = (name for name, parameter in self.resource.params.items() if parameter.local and name in self.params)
        return next((int(self.params[name]) for name in local), None)


def parse_request(policy: Policy, uri: str, caller: Caller = ANYBODY, *, internal: bool = False) -> GatewayRequest:
    """Return the request of an address. `internal`: names that only chains use are accepted.

    Raises: NotFound for no address of ours; InvalidArgument for parameters that it does not take.
    """
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
    given = dict(zip(resource.holes, values if resource.is_reserved else map(unquote, values), strict=True))
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
                raise InvalidArgument(f"{name} and {parameter.also} differ.", f"They mean the same: give {name} alone.")
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
            "Leave out parameters, line breaks and control characters.",
        )
    return request


def build_chain_request(policy: Policy, uri: str, request: GatewayRequest) -> GatewayRequest | None:
    """Return the request to a member of a chain, with the parameters that both resources have; None if the agent lacks an attribute
    that the address names.
    """
    for name in re.findall(r"\{agent\.([a-z_]+)\}", uri):
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
        return _PARSERS[parameter.type](parameter, raw, internal)
    except (ValueError, TypeError, OverflowError):
        raise InvalidArgument(f"{parameter.name}: {_describe(parameter)}.", parameter.help) from None


def _parse_number(parameter: Parameter, raw: Any, _internal: bool) -> float:
    is_whole = parameter.type == "integer"
    form = r"-?[0-9]{1,9}" if is_whole else r"-?[0-9]{1,9}(\.[0-9]{1,9})?"
    if isinstance(raw, bool) or (isinstance(raw, str) and not re.fullmatch(form, raw)):
        raise ValueError
    value = float(raw)
    low, high = (-math.inf if parameter.min is None else parameter.min), (math.inf if parameter.max is None else parameter.max)
    if not low <= value <= high or (is_whole and not value.is_integer()):
        raise ValueError
    return int(value) if is_whole else value


def _parse_string(parameter: Parameter, raw: str, _internal: bool) -> str:
    for text in (raw, raw.lower()) if isinstance(raw, str) else ():  # a name that is written with capitals is the same
        if re.fullmatch(parameter.pattern or r"[\w.-]{1,100}", text, re.A):
            return text
    raise ValueError


def _parse_enum(parameter: Parameter, raw: str, internal: bool) -> str:
    values = (*parameter.values, *parameter.internal) if internal else parameter.values
    known = {value.lower(): value for value in values}
    if not isinstance(raw, str) or raw.lower() not in known:
        raise ValueError
    return known[raw.lower()]


def _parse_list(parameter: Parameter, raw: Any, _internal: bool) -> list[str]:
    words = {str(word).strip().lower() for word in (raw.split(",") if isinstance(raw, str) else raw)}
    if not words <= {value.lower() for value in parameter.values}:
        raise ValueError
    return [value for value in parameter.values if value.lower() in words]


def _parse_window(parameter: Parameter, raw: Any, _internal: bool) -> str:
    """Return `24h` or `7d`; from an hour to the longest."""
    match = re.fullmatch(r"0*([1-9][0-9]{0,3})([hd])", str(raw))
    window = match[1] + match[2] if match else ""
    if parse_duration(window) > parse_duration(str(parameter.max or "7d")):
        raise ValueError
    return window


def _parse_numbers(parameter: Parameter, raw: Any, _internal: bool) -> list[float]:
    if not isinstance(raw, list) or not (parameter.min or 0) <= len(raw) <= (parameter.max or 4_096):
        raise ValueError
    if any(isinstance(value, bool | str) for value in raw) or not all(map(math.isfinite, raw)):
        raise ValueError
    return [float(value) for value in raw]


_PARSERS: Final[Mapping[str, Callable[[Parameter, Any, bool], Any]]] = {
    "integer": _parse_number,
    "number": _parse_number,
    "string": _parse_string,
    "enum": _parse_enum,
    "list": _parse_list,
    "window": _parse_window,
    "uuid": lambda _parameter, raw, _internal: str(uuid.UUID(str(raw))),
    "numbers": _parse_numbers,
}


def _describe(parameter: Parameter) -> str:
    low, high, values = parameter.min or 0, parameter.max or 0, ", ".join(parameter.values)
    match parameter.type:
        case "enum":
            return f"one of {values}"
        case "list":
            return f"any of {values}, with commas between"
        case "integer" | "number":
            return f"{'a whole number' if parameter.type == 'integer' else 'a number'} from {low:g} to {high:g}"
        case "window":
            return f"a time such as 24h or 7d, at most {high or '7d'}"
        case "uuid":
            return "a UUID"
        case "numbers":
            return f"a list of {low:g} to {high:g} numbers"
        case _:
            return f"a text like {parameter.pattern}" if parameter.pattern else "letters, digits, dots and hyphens"

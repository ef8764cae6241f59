"""From an address to a question: which resource, with which parameters, and under which key its answer is cached."""

import hashlib
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlencode

from config.errors import InvalidArgument, NotFound
from sources.gateway.canonical import canonical
from sources.gateway.policy import Parameter, Policy, Resource, seconds

MAX_URI: Final = 2_000  # characters
LISTED: Final = "resources/list, the tool gateway_resources and /api/gateway/resources.json list every resource."


@dataclass(frozen=True)
class Question:
    """What is asked of one resource. `params` hold every parameter, defaults included."""

    resource: Resource
    params: Mapping[str, Any]
    agent: str = ""
    """Whose answer it is, for a private resource; "" for one that all may share."""
    attributes: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def uri(self) -> str:
        """The canonical address: values as the policy spells them, parameters in its order, defaults left out."""
        return self._address(local=True)

    @cached_property
    def shared_uri(self) -> str:
        """The same without what is applied here: what an entry is of."""
        return self._address(local=False)

    def _address(self, *, local: bool) -> str:
        one = self.resource
        path = one.uri
        for name in one.holes:
            path = path.replace(f"{{{name}}}", quote(str(self.params[name]), safe="-._~"))
        given = [
            (name, _as_text(self.params[name]))
            for name, parameter in one.params.items()
            if name not in one.holes
            and name in self.params
            and self.params[name] != parameter.default
            and parameter.type != "numbers"
            and (local or not parameter.local)
        ]
        return f"{path}?{urlencode(given, safe=',:')}" if given else path

    @cached_property
    def upstream_params(self) -> Mapping[str, Any]:
        """What the upstream is asked for: as much as there may be of what is cut to size here."""
        return {
            name: self.resource.params[name].max if self.resource.params[name].local else value
            for name, value in self.params.items()
        }

    @cached_property
    def key(self) -> str:
        """SHA-256 hex of the RFC 8785 JSON of resource, parameters with defaults, and whose answer it is."""
        params = {name: value for name, value in self.params.items() if not self.resource.params[name].local}
        asked: Any = {"resource": self.resource.name, "params": params, "scope": self.agent if self.resource.private else ""}
        return hashlib.sha256(canonical(asked)).hexdigest()

    @property
    def cut(self) -> int | None:
        """The most items of the answer, where that is applied here."""
        return next(
            (int(self.params[name]) for name, one in self.resource.params.items() if one.local and name in self.params), None
        )


def question(
    policy: Policy, uri: str, agent: str = "", attributes: Mapping[str, str] | None = None, *, internal: bool = False
) -> Question:
    """The question that an address asks. `internal`: names that only chains use are accepted.

    Raises: NotFound for no address of ours; InvalidArgument for parameters that it does not take.
    """
    if len(uri) > MAX_URI:
        raise InvalidArgument(f"The address is longer than {MAX_URI} characters.", "Leave parameters out.")
    path, _, query = uri.strip().partition("?")
    scheme, sep, rest = path.partition("://")
    path = f"{scheme.lower()}{sep}{rest}"
    for pattern, one in policy.patterns:
        match = pattern.fullmatch(path)
        if match is not None:
            given = {name: unquote(value) for name, value in zip(one.holes, match.groups(), strict=True)}
            for name, value in parse_qsl(query, keep_blank_values=True):
                if name in given:
                    raise InvalidArgument(f"{name} is given twice.", "Give each parameter once.")
                given[name] = value
            return made(one, given, agent, attributes, internal=internal)
    raise NotFound("There is no such resource.", LISTED)


def made(
    one: Resource,
    given: Mapping[str, Any],
    agent: str = "",
    attributes: Mapping[str, str] | None = None,
    *,
    internal: bool = False,
) -> Question:
    """A question with these parameters. Raises: InvalidArgument."""
    names = {other.also: name for name, other in one.params.items() if other.also}
    strange = [name for name in given if name not in one.params and name not in names]
    if strange:
        raise InvalidArgument(f"{one.uri} takes no parameter {strange[0][:30]!r}.", f"It takes {', '.join(one.params) or 'none'}.")
    values: dict[str, Any] = {}
    for name, parameter in one.params.items():
        raw = given.get(name)
        if parameter.also and parameter.also in given:
            other = _value(parameter, given[parameter.also], internal=internal)
            if raw is not None and _value(parameter, raw, internal=internal) != other:
                raise InvalidArgument(f"{name} and {parameter.also} differ.", f"They mean the same: give {name} alone.")
            raw = other
        if raw is None or raw == "":
            if parameter.is_required:
                raise InvalidArgument(f"{name} is missing.", parameter.help or f"{one.uri} needs it.")
            if parameter.default is not None:
                values[name] = parameter.default
            continue
        values[name] = _value(parameter, raw, internal=internal)
    return Question(one, values, agent, attributes or {})


def _value(parameter: Parameter, raw: Any, *, internal: bool) -> Any:
    """A parameter's value of what was given, as text or as JSON has it. Raises: InvalidArgument."""
    try:
        return _READERS[parameter.type](parameter, raw, internal)
    except (ValueError, TypeError, OverflowError):
        raise InvalidArgument(f"{parameter.name}: {_expected(parameter)}.", parameter.help) from None


def _integer(one: Parameter, raw: Any, _internal: bool) -> int:
    if isinstance(raw, bool) or (isinstance(raw, str) and not re.fullmatch(r"-?[0-9]{1,9}", raw)) or int(raw) != float(raw):
        raise ValueError
    return int(_bounded(one, int(raw)))


def _float(one: Parameter, raw: Any, _internal: bool) -> float:
    if isinstance(raw, bool) or (isinstance(raw, str) and not re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]{1,9})?", raw)):
        raise ValueError
    return _bounded(one, float(raw))


def _bounded(one: Parameter, value: float) -> float:
    if value != value or (one.min is not None and value < one.min) or (one.max is not None and value > one.max):
        raise ValueError
    return value


def _string(one: Parameter, raw: Any, _internal: bool) -> str:
    pattern = one.pattern or r"[\w.-]{1,100}"
    if isinstance(raw, str):
        for text in (raw, raw.lower()):  # a name that is written with capitals is the same
            if re.fullmatch(pattern, text, re.A):
                return text
    raise ValueError


def _enum(one: Parameter, raw: Any, internal: bool) -> str:
    """Without regard to case, and as the policy spells it."""
    known = {value.lower(): value for value in (*one.values, *(one.internal if internal else ()))}
    if not isinstance(raw, str) or raw.lower() not in known:
        raise ValueError
    return known[raw.lower()]


def _list(one: Parameter, raw: Any, _internal: bool) -> list[str]:
    words = raw.split(",") if isinstance(raw, str) else list(raw)
    known = {value.lower(): value for value in one.values}
    found = [
        known[str(word).strip().lower()] if known else str(word) for word in words if str(word).strip().lower() in known or _wrong()
    ]
    return [value for value in one.values if value in found]


def _wrong() -> bool:
    raise ValueError


def _window(one: Parameter, raw: Any, _internal: bool) -> str:
    """`24h` or `7d`; from an hour to the longest."""
    match = re.fullmatch(r"0*([1-9][0-9]{0,3})([hd])", str(raw))
    if match is None:
        raise ValueError
    told = f"{match[1]}{match[2]}"
    if seconds(told) > seconds(str(one.max or "7d")):
        raise ValueError
    return told


def _uuid(_one: Parameter, raw: Any, _internal: bool) -> str:
    return str(uuid.UUID(str(raw)))


def _numbers(one: Parameter, raw: Any, _internal: bool) -> list[float]:
    if not isinstance(raw, list) or not (one.min or 0) <= len(raw) <= (one.max or 4_096):
        raise ValueError
    found = [float(value) if not isinstance(value, bool | str) else float("nan") for value in raw]
    if any(value != value or abs(value) == float("inf") for value in found):
        raise ValueError
    return found


_READERS: Final = {
    "integer": _integer,
    "number": _float,
    "string": _string,
    "enum": _enum,
    "list": _list,
    "window": _window,
    "uuid": _uuid,
    "numbers": _numbers,
}


def _expected(one: Parameter) -> str:
    """What a parameter takes, in words."""
    if one.type in ("enum", "list"):
        return f"one of {', '.join(one.values)}" if one.type == "enum" else f"any of {', '.join(one.values)}, with commas between"
    if one.type in ("integer", "number"):
        return f"{'a whole number' if one.type == 'integer' else 'a number'} from {one.min:g} to {one.max:g}"
    if one.type == "window":
        return f"a time such as 24h or 7d, at most {one.max or '7d'}"
    if one.type == "uuid":
        return "a UUID"
    if one.type == "numbers":
        return f"a list of {one.min:g} to {one.max:g} numbers"
    return f"a text like {one.pattern}" if one.pattern else "letters, digits, dots and hyphens"


def _as_text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def filled(policy: Policy, uri: str, asked: Question) -> Question | None:
    """The question of a member of a chain, with the parameters that it shares with what was asked; None where the agent lacks an
    attribute that it names.
    """
    for name in re.findall(r"\{agent\.([a-z_]+)\}", uri):
        value = asked.attributes.get(name)
        if not value:
            return None
        uri = uri.replace(f"{{agent.{name}}}", quote(value, safe=""))
    try:
        member = question(policy, uri, asked.agent, asked.attributes, internal=True)
        shared = {
            name: asked.params[name]
            for name, parameter in member.resource.params.items()
            if name in asked.params and name not in member.resource.holes and parameter.type == asked.resource.params[name].type
        }
        return made(member.resource, {**member.params, **shared}, asked.agent, asked.attributes, internal=True)
    except (InvalidArgument, NotFound):
        return None

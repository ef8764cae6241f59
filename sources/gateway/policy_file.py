"""The policy's file: one TOML file that ships, and one of the operator's whose tables are laid over it (WIRE_GATEWAY_POLICY).

Everything is checked when it is loaded. Pure: no Django, no clock.
"""

import ipaddress
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from sources.gateway.policy import Adapter, Parameter, Policy, PolicyError, Resource, Upstream, interval_lifts, member_of, seconds

VERSION: Final = 1
SHIPPED: Final = Path(__file__).with_name("policy.toml")
KINDS: Final = ("off", "wire", "stdio", "http")
SCOPES: Final = ("shared", "credential", "agent")
TYPES: Final = ("integer", "number", "string", "enum", "list", "window", "uuid", "numbers")
ANSWERS: Final = ("tweets", "trends", "crypto", "vectors", "transactions", "heartbeat", "agents")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,59}")
_UPSTREAM: Final = re.compile(r"[a-z][a-z0-9-]{0,59}")


def load(extra: Path | None = None) -> Policy:
    """The policy that ships, with the operator's tables laid over it. Raises: PolicyError."""
    raw = _read(SHIPPED)
    if extra is not None:
        raw = _over(raw, _read(extra))
    return read(raw)


def read(raw: Mapping[str, Any]) -> Policy:
    """A policy of parsed TOML. Raises: PolicyError."""
    if raw.get("version") != VERSION:
        raise PolicyError(f"version: {raw.get('version')!r} is unknown; this release reads version {VERSION}.")
    _only("the policy", raw, ("version", "defaults", "circuit", "upstreams", "resources"))
    defaults, circuit = dict(raw.get("defaults", {})), dict(raw.get("circuit", {}))
    _only("defaults", defaults, ("attempts", "timeout_attempts", "waits", "refresh_at"))
    _only("circuit", circuit, ("opens_at", "first_wait", "longest_wait"))
    upstreams = {name: _upstream(name, given) for name, given in raw.get("upstreams", {}).items()}
    resources = {name: _resource(name, given, defaults) for name, given in raw.get("resources", {}).items()}
    for one in resources.values():
        if one.upstream not in upstreams:
            raise PolicyError(f"resources.{one.name}.upstream: there is no upstream {one.upstream!r}.")
    for upstream in upstreams.values():
        for name in upstream.adapters:
            if name not in resources:
                raise PolicyError(f"upstreams.{upstream.name}.adapters: there is no resource {name!r}.")
    made = {one.uri: one for one in resources.values()}
    if len(made) < len(resources):
        raise PolicyError("resources: two of them have the same uri.")
    waits = tuple(_seconds("defaults.waits", wait) for wait in defaults.get("waits", ("5s", "30s")))
    policy = Policy(
        resources=resources,
        upstreams=upstreams,
        waits=waits,
        refresh_at=float(defaults.get("refresh_at", 0.75)),
        opens_at=int(circuit.get("opens_at", 3)),
        first_wait=_seconds("circuit.first_wait", circuit.get("first_wait", "30s")),
        longest_wait=_seconds("circuit.longest_wait", circuit.get("longest_wait", "10m")),
    )
    flat = {one.name: replace(one, chain=tuple(_flat(policy, one))) for one in resources.values()}
    return replace(policy, resources=flat)


def _flat(policy: Policy, one: Resource) -> Iterator[str]:
    """Its chain with those of its members in place, depth first. A chain that comes back to where it was ends there: no cycles."""
    seen = {one.uri}

    names = set[str]()

    def walk(chain: Sequence[str], *, is_own: bool) -> Iterator[str]:
        for uri in chain:
            member = member_of(policy, uri)
            if member is None:
                raise PolicyError(f"resources.{one.name}.chain: {uri!r} is no resource of this policy.")
            if uri in seen or (not is_own and (member is one or member.name in names)):
                continue
            seen.add(uri)
            names.add(member.name)
            yield uri
            if member is not one:
                yield from walk(member.chain, is_own=False)

    yield from walk(one.chain, is_own=True)


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise PolicyError(f"{file} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PolicyError(f"{file} is no TOML: {error}.") from error


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Tables are merged, everything else is replaced."""
    found = dict(below)
    for key, value in above.items():
        old = found.get(key)
        found[key] = _over(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return found


def _upstream(name: str, raw: Mapping[str, Any]) -> Upstream:
    where = f"upstreams.{name}"
    if not _UPSTREAM.fullmatch(name):
        raise PolicyError(f"{where}: a name has small letters, digits and hyphens.")
    _only(where, raw, ("kind", "command", "address", "env", "headers", "mode", "networks", "public_key", "adapters"))
    kind = raw.get("kind", "off")
    if kind not in KINDS:
        raise PolicyError(f"{where}.kind: {kind!r} is none of {', '.join(KINDS)}.")
    command = raw.get("command", ())
    if kind == "stdio" and not (isinstance(command, list) and command and all(isinstance(word, str) for word in command)):
        raise PolicyError(f"{where}.command: a list of words is needed, such as ['uvx', 'weaviate-mcp'].")
    address = raw.get("address", "")
    if kind == "http" and not re.fullmatch(r"https?://[^\s]+", str(address)):
        raise PolicyError(f"{where}.address: an http(s) address is needed.")
    for table in ("env", "headers"):
        for key, value in raw.get(table, {}).items():
            if not isinstance(value, str):
                raise PolicyError(f"{where}.{table}.{key}: a text is needed.")
            if not value.startswith("env:") and re.search(r"key|token|secret|password|authorization", key, re.I):
                raise PolicyError(f"{where}.{table}.{key}: a secret is named, never written here: 'env:NAME'.")
    if raw.get("mode", "auto") not in ("auto", "legacy", "2026-07-28"):
        raise PolicyError(f"{where}.mode: auto, legacy or 2026-07-28.")
    for network in raw.get("networks", ()):
        try:
            ipaddress.ip_network(network)
        except ValueError as error:
            raise PolicyError(f"{where}.networks: {error}.") from error
    key = str(raw.get("public_key", ""))
    if key and not re.fullmatch(r"[0-9a-f]{64}", key):
        raise PolicyError(f"{where}.public_key: the 64 hex digits of an Ed25519 public key are needed.")
    adapters = {}
    for resource, given in raw.get("adapters", {}).items():
        _only(f"{where}.adapters.{resource}", given, ("tool", "resource", "arguments", "at", "fields"))
        adapters[resource] = Adapter(**given)
    return Upstream(
        name,
        kind,
        tuple(command),
        str(address),
        raw.get("env", {}),
        raw.get("headers", {}),
        raw.get("mode", "auto"),
        tuple(raw.get("networks", ())),
        key,
        adapters,
    )


def _resource(name: str, raw: Mapping[str, Any], defaults: Mapping[str, Any]) -> Resource:
    where = f"resources.{name}"
    if not _NAME.fullmatch(name):
        raise PolicyError(f"{where}: a name has small letters, digits and underscores.")
    known = set(Resource.__slots__) - {"name"}
    _only(where, raw, known)
    missing = [key for key in ("uri", "upstream", "answers", "limit", "period", "ttl", "timeout") if key not in raw]
    if missing:
        raise PolicyError(f"{where}: {', '.join(missing)} is missing.")
    general = {key: defaults[key] for key in ("attempts", "timeout_attempts") if key in defaults}
    given: dict[str, Any] = {"attempts": 3, "timeout_attempts": 2, **general, **raw}
    given.setdefault("title", name)
    given.setdefault("description", "")
    for key in ("period", "ttl", "stale", "timeout", "min_interval"):
        given[key] = _seconds(f"{where}.{key}", given.get(key, "0s"))
    given["ttl_of"] = {of: _seconds(f"{where}.ttl_of", ttl) for of, ttl in raw.get("ttl_of", {}).items()}
    given["params"] = {key: _parameter(f"{where}.params.{key}", key, one) for key, one in raw.get("params", {}).items()}
    for key in ("chain", "limit_per"):
        given[key] = tuple(given.get(key, ()))
    found = Resource(name=name, **given)
    if found.answers not in ANSWERS:
        raise PolicyError(f"{where}.answers: {found.answers!r} is none of {', '.join(ANSWERS)}.")
    if found.limit_scope not in SCOPES:
        raise PolicyError(f"{where}.limit_scope: {found.limit_scope!r} is none of {', '.join(SCOPES)}.")
    if found.exhausted not in ("empty", "error"):
        raise PolicyError(f"{where}.exhausted: empty or error.")
    if strange := [hole for hole in (*found.holes, *found.limit_per) if hole not in found.params]:
        raise PolicyError(f"{where}: there is no parameter {strange[0]!r}.")
    for key in ("limit", "attempts"):
        if not isinstance(getattr(found, key), int) or getattr(found, key) < 1:
            raise PolicyError(f"{where}.{key}: a whole number of 1 or more is needed.")
    if found.timeout <= 0 or found.period <= 0:
        raise PolicyError(f"{where}: timeout and period are longer than nothing.")
    return interval_lifts(found, raw if "min_interval" in raw and "limit" not in raw else {})


def _parameter(where: str, name: str, raw: Mapping[str, Any]) -> Parameter:
    _only(where, raw, set(Parameter.__slots__) - {"name"})
    if raw.get("type") not in TYPES:
        raise PolicyError(f"{where}.type: {raw.get('type')!r} is none of {', '.join(TYPES)}.")
    given: dict[str, Any] = {key: tuple(value) if key in ("values", "internal") else value for key, value in raw.items()}
    found = Parameter(name=name, **given)
    if found.type == "enum" and not found.values:
        raise PolicyError(f"{where}.values: an enum lists its values.")
    if found.pattern:
        try:
            re.compile(found.pattern)
        except re.error as error:
            raise PolicyError(f"{where}.pattern: {error}.") from error
    return found


def _seconds(where: str, value: Any) -> float:
    try:
        return seconds(str(value))
    except ValueError:
        raise PolicyError(f"{where}: {value!r} is no time such as 36s, 5m, 24h or forever.") from None


def _only(where: str, raw: Mapping[str, Any], known: Any) -> None:
    if strange := sorted(raw.keys() - set(known)):
        raise PolicyError(f"{where}: {strange[0]!r} is unknown; known are {', '.join(sorted(known))}.")

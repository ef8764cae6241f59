"""The policy's file: the TOML file that ships, and the operator's, whose tables are laid over it (WIRE_GATEWAY_POLICY)."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from mcpserver.gateway.resource_policy import Parameter, Policy, PolicyError, Resource, explain

VERSION: Final = 1
SHIPPED: Final = Path(__file__).with_name("policy.toml")


def load(extra: Path | None = None) -> Policy:
    """Return the policy that ships, with the operator's tables laid over it. Raises: PolicyError."""
    raw = _read(SHIPPED)
    if extra is not None:
        raw = _merge(raw, _read(extra))
    if raw.get("version") != VERSION:
        raise PolicyError(f"version: {raw.get('version')!r} is unknown; this release reads version {VERSION}.")
    try:
        policy = Policy(**raw)
    except ValidationError as error:
        raise explain(error) from error
    general = {key: getattr(policy.defaults, key) for key in ("attempts", "timeout_attempts")}
    resources = {}
    for name, one in policy.resources.items():
        own = {key: value for key, value in general.items() if key not in raw["resources"][name]}
        resources[name] = replace(one, title=one.title or name, chain=tuple(_flatten_chain(policy, one)), **own)
    return replace(policy, resources=resources)


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise PolicyError(f"{file} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PolicyError(f"{file} is no TOML: {error}.") from error


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _flatten_chain(policy: Policy, resource: Resource) -> Iterator[str]:
    """Yield its chain with those of its members in place, depth first. A chain that comes back to where it was ends there."""
    uris, names = {resource.uri}, set[str]()

    def walk(chain: Sequence[str], *, is_own: bool) -> Iterator[str]:
        for uri in chain:
            member = _find_member(policy, uri)
            if member is None:
                raise PolicyError(f"resources.{resource.name}.chain: {uri!r} is no resource of this policy.")
            if uri in uris or (not is_own and (member is resource or member.name in names)):
                continue
            uris.add(uri)
            names.add(member.name)
            yield uri
            if member is not resource:
                yield from walk(member.chain, is_own=False)

    return walk(resource.chain, is_own=True)


def _find_member(policy: Policy, uri: str) -> Resource | None:
    """Return the resource of a chain's address. A hole for an attribute of the agent fits every hole of the resource."""
    for resource in policy.resources.values():
        if match := resource.pattern.fullmatch(uri):
            values = zip((resource.params[name] for name in resource.holes), match.groups(), strict=True)
            if all(value.startswith("{agent.") or _fits(parameter, value) for parameter, value in values):
                return resource
    return None


def _fits(parameter: Parameter, value: str) -> bool:
    if parameter.type == "enum":
        return value.lower() in {known.lower() for known in (*parameter.values, *parameter.internal)}
    return not parameter.pattern or re.fullmatch(parameter.pattern, value) is not None

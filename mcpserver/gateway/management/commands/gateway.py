"""The resource gateway from a terminal: check its policy, read a resource, make keys, look at the log, try what fails."""

import asyncio
import datetime as dt
import json
import os
from argparse import ArgumentParser
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.utils import timezone

from config.command_base import WireCommand
from config.database import fault_explanations
from config.url_secrets import mask_address, mask_addresses
from mcpserver.gateway import auth, cache, fault_injection, heartbeat_verification, limiter, queries, request_log, runtime
from mcpserver.gateway.auth import Caller
from mcpserver.gateway.models import Agent, Entry, RequestLog
from mcpserver.gateway.resolver import LOOK, WAIT
from mcpserver.gateway.resource_policy import Policy, PolicyError

T = TypeVar("T")
FORGETTABLE: Final = ("answers", "limits", "circuits")


class Command(WireCommand):
    help = "The resource gateway: check, reload, list, read, status, heartbeat, agent, try, log, explain, forget."

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_subparsers(dest="what", required=True)
        check = what.add_parser("check", help="Check the policy and show what is configured. Exit 1 if it cannot be used.")
        check.add_argument(
            "--live",
            action="store_true",
            help="Also ask each upstream, and report what the policy names and it does not offer.",
        )
        what.add_parser("reload", help="Make running servers reload the policy and its secrets.")
        what.add_parser("list", help="List resources with limits left, circuit and newest answer.")
        read = what.add_parser("read", help="Read one resource, as an agent would.")
        read.add_argument("uri")
        read.add_argument("--agent", default="", help="Read as this agent.")
        read.add_argument("--wait", type=float, default=WAIT, help="Seconds.")
        what.add_parser("status", help="Show the state of upstreams and heartbeats.")
        beat = what.add_parser(
            "heartbeat", help="Fetch, verify and record a heartbeat. Its instructions are printed, never executed."
        )
        beat.add_argument("agent_id")
        beat.add_argument("--agent", default="operator", help="The agent whose limit it counts towards.")
        beat.add_argument("--last", action="store_true", help="Show the last one; fetch nothing.")
        agent = what.add_parser("agent", help="Make an agent or a new key for one; without a name, list them.")
        agent.add_argument("name", nargs="?")
        agent.add_argument("--grant", action="append", default=[], help="Prefix of addresses that it may read: twitter://")
        agent.add_argument("--share", type=int, default=100, help="The most that it may use of each limit, in percent.")
        agent.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="An attribute: twitter_id=12345")
        agent.add_argument("--revoke", action="store_true", help="Revoke its key.")
        tried = what.add_parser("try", help="Run a resource's policy against a misbehaving server on this machine.")
        tried.add_argument("resource", nargs="?", default="news_global_trends", help="Its name in the policy, or an address.")
        explain = what.add_parser("explain", help="Show what was tried for a request, in the upstream's own words.")
        explain.add_argument("request_id", help="provenance.request_id of an answer.")
        log = what.add_parser("log", help="The newest requests.")
        log.add_argument("--number", type=int, default=20)
        log.add_argument("--agent", default=None)
        log.add_argument("--failed", action="store_true", help="Only those with an error.")
        forget = what.add_parser("forget", help="Delete stored answers, reset call counts, and retry upstreams that were paused.")
        forget.add_argument("--resource", default="", help="Only for this resource, by its name in the policy.")
        forget.add_argument(
            "--agent", default="", help="Only for this agent. Circuits are shared by all agents and stay as they are."
        )
        forget.add_argument("--all", action="store_true", help="For every resource and agent.")
        forget.add_argument("--only", action="append", choices=FORGETTABLE, default=[], help="Only this; repeatable.")

    def handle(self, *_args: Any, what: str, **options: Any) -> None:
        try:
            with fault_explanations.explain_errors():
                getattr(self, f"_handle_{what}")(**options)
        except PolicyError as error:
            raise CommandError(f"The policy cannot be used: {error}") from error

    def _handle_check(self, *, live: bool, **_options: Any) -> None:
        policy = runtime.load_current_policy()
        for upstream in policy.upstreams.values():
            addresses = " ".join(map(mask_address, (upstream.address, *upstream.failover)))
            where = mask_addresses(" ".join(upstream.command)) or addresses
            self.stdout.write(f"{upstream.name}: {upstream.kind} {where}".rstrip())
            for name in upstream.list_secrets():
                state = "set" if os.environ.get(name) or os.environ.get(f"{name}_FILE") else "NOT SET"
                self.stdout.write(f"  {name} is {state}")
        for resource in policy.resources.values():
            kind = policy.upstreams[resource.upstream].kind
            self.stdout.write(f"{resource.uri}: {kind}; chain: {' → '.join(resource.chain) or 'none'}")
        self.stdout.write(f"The policy is valid: {len(policy.resources)} resources, {len(policy.upstreams)} upstreams.")
        if live:
            asyncio.run(self._check_live(policy))

    async def _check_live(self, policy: Policy) -> None:
        upstreams, differ = runtime.build_upstreams(policy), []
        try:
            for upstream in policy.upstreams.values():
                if upstream.kind in ("off", "wire"):
                    continue
                own = [
                    one for one in policy.resources.values() if one.upstream == upstream.name and one.name not in upstream.adapters
                ]
                addresses = [one.uri for one in own if one.answers != "listing" and not one.tool_only]
                found = await upstreams.list_differences(upstream.name, addresses)
                self.stdout.write(f"{upstream.name}: {'; '.join(found) or 'offers everything that the policy asks for.'}")
                differ += [upstream.name] if found else []
        finally:
            await upstreams.close()
        if differ:
            raise CommandError(f"An upstream lacks what the policy asks for, or does not answer: {', '.join(differ)}.")

    def _handle_reload(self, **_options: Any) -> None:
        runtime.load_current_policy()
        request_log.announce_policy_change()
        self.stdout.write(f"Running servers reload the policy and its secrets within {LOOK:g} seconds if in use.")

    def _handle_explain(self, *, request_id: str, **_options: Any) -> None:
        row = RequestLog.objects.filter(request_id=request_id).first()
        if row is None:
            raise CommandError(f"There is no request {request_id!r} in the log.")
        self.stdout.write(f"{row.timestamp:%Y-%m-%d %H:%M:%S} {row.asked}: {row.outcome}, answered by {row.answered or 'nobody'}")
        for attempt in row.attempts:
            words = f" Its words: {attempt['words']}" if attempt.get("words") else ""
            result = f"{attempt['error']}: {attempt['detail']}" if attempt["error"] else "ok"
            self.stdout.write(f"  {attempt['resource']} at {attempt['upstream']}, {attempt['took_ms']:g} ms: {result}{words}")

    def _handle_list(self, **_options: Any) -> None:
        found = _run_and_close(lambda: queries.list_resources(Caller("operator", ("",))))
        for one in found.resources:
            left = "no limit" if one.remaining is None else f"{one.remaining} of {one.limit} left in {one.period_s:g} s"
            age = "nothing stored" if one.newest_age_s is None else f"newest {one.newest_age_s:.0f} s old"
            state = one.unavailable or f"circuit {one.circuit}"
            self.stdout.write(f"{one.uri}: {left}; {age}; {state}")

    def _handle_read(self, *, uri: str, agent: str, wait: float, **_options: Any) -> None:
        row = Agent.objects.filter(name=agent).first()
        if agent and row is None:
            raise CommandError(f"There is no agent {agent}.")
        caller = auth.to_caller(row) if row is not None else auth.ANYBODY
        answer = _run_and_close(lambda: queries.read_resource(uri, caller, wait))
        self.stdout.write(json.dumps(json.loads(answer.body), indent=2, ensure_ascii=False))

    def _handle_status(self, **_options: Any) -> None:
        found = _run_and_close(queries.get_status)
        for one in found.upstreams:
            parts = [f"{one.name}: {one.kind}"]
            parts += [f"last answer {one.answered_at}"] if one.answered_at else []
            parts += [f"last failure {one.failed_at}: {one.error}: {one.detail}"] if one.failed_at else []
            self.stdout.write("; ".join(parts))
        for beat in found.heartbeats:
            self.stdout.write(f"heartbeat of {beat.agent_id}: {beat.state}, last {beat.received_at or 'never'}")

    def _handle_heartbeat(self, *, agent_id: str, agent: str, last: bool, **_options: Any) -> None:
        if not last:
            caller = Caller(agent, ("openclaw://",))
            answer = _run_and_close(lambda: queries.read_resource(f"openclaw://heartbeat?agent_id={agent_id}", caller, 30.0))
            if answer.is_error:
                self.stdout.write(answer.note)
        self.stdout.write(json.dumps(heartbeat_verification.describe_agent_state(agent_id, timezone.now()), indent=2))

    def _handle_agent(self, *, name: str | None, grant: list[str], share: int, revoke: bool, **options: Any) -> None:
        if name is None:
            for one in Agent.objects.all():
                state = "revoked" if one.revoked_at else f"{one.share} %"
                self.stdout.write(
                    f"{one.name}: {state}; {', '.join(one.grants) or 'news:// only'}; {one.attributes or ''}".rstrip("; ")
                )
            return
        if revoke:
            if not auth.revoke_keys(Agent.objects.filter(name=name)):
                raise CommandError(f"There is no agent {name} with a key that works.")
            self.stdout.write(f"Revoked. Running servers notice within {auth.CACHE_SECONDS:g} seconds.")
            return
        if wrong := [one for one in options["set"] if "=" not in one]:
            raise CommandError(f"--set {wrong[0]}: NAME=VALUE is needed. Nothing was changed.")
        try:
            token = auth.create_agent(name, grant, share, dict(one.split("=", 1) for one in options["set"]))
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(f"The key of {name}. It is shown once and stored nowhere:\n{token}")

    def _handle_log(self, *, number: int, agent: str | None, failed: bool, **_options: Any) -> None:
        rows = RequestLog.objects.all()
        rows = rows if agent is None else rows.filter(agent_id=agent)
        rows = rows.exclude(error_code=None) if failed else rows
        for one in rows[:number]:
            when = one.timestamp.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M:%S")
            error = f" {one.error_code}" if one.error_code else ""
            who = one.agent_id or "anybody"
            self.stdout.write(f"{when} {one.request_id} {who} {one.asked} {one.outcome}{error} {one.duration_ms:.1f} ms")

    def _handle_forget(self, *, resource: str, agent: str, only: list[str], **options: Any) -> None:
        if not resource and not agent and not options["all"]:
            raise CommandError("Name what to forget: --resource NAME, --agent NAME, or --all.")
        policy, of = runtime.load_current_policy(), only or FORGETTABLE
        if resource and resource not in policy.resources and not Entry.objects.filter(resource=resource).exists():
            raise CommandError(f"No resource {resource!r}; nothing was deleted. Use one of: {', '.join(policy.resources)}.")
        if "answers" in of:
            self.stdout.write(f"{cache.delete_entries(resource=resource, agent=agent)} stored answers deleted.")
        if "limits" in of:
            names = limiter.delete_buckets(resource=resource, agent=agent)
            self.stdout.write(f"{len(names)} limits start again{': ' if names else '.'}{', '.join(names)}")
        if "circuits" in of and not agent:
            upstreams = [policy.resources[resource].upstream] if resource in policy.resources else list(policy.upstreams)
            left_alone = request_log.reset_circuits(upstreams)
            said = f" Paused or failing until now: {', '.join(left_alone)}." if left_alone else ""
            self.stdout.write(f"The circuits of {len(upstreams)} upstreams are closed.{said}")
        self.stdout.write(f"Heartbeats, log and counts stay. Running servers follow within {LOOK:g} seconds if in use.")

    def _handle_try(self, *, resource: str, **_options: Any) -> None:
        policy = runtime.load_current_policy()
        if "://" not in resource and resource not in policy.resources:
            raise CommandError(f"There is no resource {resource!r}. Use one of: {', '.join(policy.resources)}.")
        asyncio.run(self._inject_faults(policy, resource))

    async def _inject_faults(self, policy: Policy, resource: str) -> None:
        async for fault, answer in fault_injection.inject_faults(policy, resource):
            codes = ", ".join(sorted({attempt.error for attempt in answer.attempts if attempt.error})) or "no error"
            flag = ", flagged as untrusted" if answer.untrusted else ""
            self.stdout.write(f"{fault}: {answer.outcome} ({codes}){flag}")


def _run_and_close(work: Callable[[], Awaitable[T]]) -> T:
    async def whole() -> T:
        try:
            return await work()
        finally:
            await runtime.close_resolver()
            runtime.replace_resolver(None)

    return asyncio.run(whole())

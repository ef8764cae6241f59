"""A server that is a child of this process, in a process group of its own, which is killed as a whole.

The SDK's own transport ends the group of a server that does not leave by itself; of one that died it leaves what it had started.
"""

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from wire.text.plain_text import plain_line

log = logging.getLogger(__name__)

MAX_LINE: Final = 2_000_000  # bytes of one message; a longer one ends the connection
ENDED: Final = "it ended"
INHERITED: Final = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER")
LEAVE: Final = 0.5  # seconds in which a server may leave after its input closed
TERMINATE: Final = 1.0  # then, after SIGTERM; SIGKILL follows
Process = asyncio.subprocess.Process


class ChildProcess:
    """The transport of a stdio server, for `mcp.Client`. `fault` says why it ended, where that is known."""

    def __init__(self, name: str, command: Sequence[str], env: Mapping[str, str]) -> None:
        self.name = name
        self.fault = ""
        self._command = command
        self._env = {key: os.environ[key] for key in INHERITED if key in os.environ} | dict(env)
        self._process: Process | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    @property
    def has_ended(self) -> bool:
        return self._process is not None and self._process.returncode is not None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[tuple[Any, Any]]:
        """Yield the streams that the SDK's client reads from and writes to. Raises: OSError if the command cannot be started."""
        process = self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._env,
            limit=MAX_LINE,
            start_new_session=True,
        )
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None  # noqa: S101, PT018
        try:
            to_session, read_stream = anyio.create_memory_object_stream[Any](0)
            write_stream, from_session = anyio.create_memory_object_stream[Any](0)
            async with anyio.create_task_group() as group:
                group.start_soon(self._read_messages, process.stdout, to_session)
                group.start_soon(_write_messages, process.stdin, from_session)
                group.start_soon(self._log_stderr, process.stderr)
                group.start_soon(_kill_group_on_exit, process)
                try:
                    yield read_stream, write_stream
                finally:
                    for stream in (read_stream, write_stream, to_session, from_session):
                        stream.close()
                    with anyio.CancelScope(shield=True):
                        await _end_process(process, process.stdin)
                    group.cancel_scope.cancel()
        finally:
            _signal_group(process)

    async def _read_messages(self, stdout: asyncio.StreamReader, to_session: Any) -> None:
        async with to_session:
            while True:
                try:
                    line = await stdout.readline()
                except ValueError:
                    self.fault = f"a message was longer than {MAX_LINE:,} bytes"
                    return
                if not line.endswith(b"\n"):  # the end, perhaps in the middle of a message
                    self.fault = ENDED
                    return
                try:
                    message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    self.fault = "it wrote something that is not a JSON-RPC message"
                    log.warning("%s wrote no JSON-RPC: %s", self.name, plain_line(line[:200].decode(errors="replace"), 200))
                    return
                try:
                    await to_session.send(SessionMessage(message))
                except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                    return

    async def _log_stderr(self, stderr: asyncio.StreamReader) -> None:
        while True:
            with contextlib.suppress(ValueError):
                line = await stderr.readline()
                if not line:
                    return
                log.info("%s: %s", self.name, plain_line(line.decode(errors="replace"), 500))


async def _write_messages(stdin: asyncio.StreamWriter, from_session: Any) -> None:
    with contextlib.suppress(OSError, anyio.ClosedResourceError):
        async with from_session:
            async for sent in from_session:
                stdin.write(sent.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await stdin.drain()


async def _end_process(process: Process, stdin: asyncio.StreamWriter) -> None:
    """Let it leave, then make it, and whatever it started with it."""
    stdin.close()
    for patience, sign in ((LEAVE, signal.SIGTERM), (TERMINATE, signal.SIGKILL)):
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(_wait_for_exit(process), patience)
            break
        _signal_group(process, sign)
    _signal_group(process)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(_wait_for_exit(process), TERMINATE)


async def _wait_for_exit(process: Process, interval: float = 0.005) -> None:
    # Not `wait()`: that one also waits for pipes, which what it started may hold open.
    while process.returncode is None:
        await asyncio.sleep(interval)


async def _kill_group_on_exit(process: Process) -> None:
    """Kill what a server started when it dies: its pipes close, and whoever waits for an answer hears of it."""
    await _wait_for_exit(process, 0.05)
    _signal_group(process)


def _signal_group(process: Process, sign: signal.Signals = signal.SIGKILL) -> None:
    """Signal everything in its process group; no group is left when all of them are gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, sign)
    transport = getattr(process, "_transport", None)
    if sign is signal.SIGKILL and process.returncode is not None and transport is not None:
        transport.close()

"""A network of hosts in one kernel: namespaces on a bridge, which can be cut from each other."""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.faults.machines import PROGRAMS

NETWORK: Final = "10.89.64"
"""The first three bytes of every host's address, as in compose.yaml."""
CLIENT: Final = f"{NETWORK}.1"  # the clients' router
CLIENTS: Final = ("10.0.0.0/16", "11.0.0.0/16")
"""Addresses that clients may come from, all of them at this process."""
ADDRESSES: Final = {
    "edge": f"{NETWORK}.10",
    "web-1": f"{NETWORK}.11",
    "web-2": f"{NETWORK}.12",
    "ingest": f"{NETWORK}.13",
    "redis": f"{NETWORK}.14",
    "db-1": f"{NETWORK}.21",
    "db-2": f"{NETWORK}.22",
}
SCRATCH: Final = Path("/run/cluster")  # in memory, for no longer than the mount namespace
PUBLIC: Final = "wire.localhost"  # Caddy makes the certificate of such a name itself
OWN_NAMESPACES: Final = (
    "setpriv",
    "--pdeathsig",
    "KILL",
    "unshare",
    "--net",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
)
"""Run this before a program whose hosts are to vanish with it, whichever way it ends."""
_CLONE_NEWNET: Final = 0x40000000


def list_missing() -> list[str]:
    """Return what this machine lacks, a sentence each."""
    found = [] if os.geteuid() == 0 else ["Only root may make network namespaces."]
    if found or subprocess.run([*OWN_NAMESPACES, "true"], capture_output=True, check=False).returncode:
        return found or ["This kernel or container allows no network namespaces."]
    programs = {"ip": "iproute2", "nft": "nftables", "caddy": "caddy", "redis-server": "redis-server", "faketime": "faketime"}
    found = [f"There is no {name}: install Debian's {package}." for name, package in programs.items() if not shutil.which(name)]
    return found if PROGRAMS else [*found, "There is no Postgres server: install Debian's postgresql."]


def build() -> None:
    """Make all hosts; in namespaces of its own only, since it mounts over /run and /etc/hosts."""
    _run("mount", "-t", "tmpfs", "-o", "mode=755", "none", "/run")
    SCRATCH.mkdir()
    names = SCRATCH / "hosts"
    lines = [f"{address} {host}" for host, address in ADDRESSES.items()] + [f"{ADDRESSES['edge']} {PUBLIC}"]
    names.write_text("\n".join(["127.0.0.1 localhost", *lines, ""]))
    _run("mount", "--bind", str(names), "/etc/hosts")
    _run("ip", "link", "set", "lo", "up")
    _run("ip", "link", "add", "bridge", "type", "bridge")
    _run("ip", "address", "add", f"{CLIENT}/24", "dev", "bridge")
    _run("ip", "link", "set", "bridge", "up")
    for clients in CLIENTS:
        _run("ip", "route", "add", "local", clients, "dev", "lo")
    for host, address in ADDRESSES.items():
        _run("ip", "netns", "add", host)
        _run("ip", "link", "add", f"to-{host}", "type", "veth", "peer", "name", "eth0", "netns", host)
        _run("ip", "link", "set", f"to-{host}", "master", "bridge", "up")
        inside(host, "ip", "link", "set", "lo", "up")
        inside(host, "ip", "address", "add", f"{address}/24", "dev", "eth0")
        inside(host, "ip", "link", "set", "eth0", "up")
        inside(host, "ip", "route", "add", "default", "via", CLIENT)
        inside(host, "sysctl", "-qw", "net.ipv4.ip_unprivileged_port_start=0")
        inside(host, "nft", "add table inet cut; add chain inet cut input { type filter hook input priority 0; }")


def inside(host: str, *command: str) -> str:
    """Return what a command prints there. Raises: CalledProcessError."""
    return _run("ip", "netns", "exec", host, *command)


def list_processes(host: str) -> list[int]:
    return [int(pid) for pid in _run("ip", "netns", "pids", host).split()]


def unplug(host: str) -> None:
    """Nothing reaches the host any more, nor anything of it others; nobody is told."""
    _run("ip", "link", "set", f"to-{host}", "down")


def plug_in(host: str) -> None:
    _run("ip", "link", "set", f"to-{host}", "up")


def cut(host: str, *others: str) -> None:
    """Drop silently what these others send to the host."""
    for other in others:
        inside(host, "nft", f"add rule inet cut input ip saddr {ADDRESSES[other]} drop")


def join(host: str) -> None:
    """Undo all cuts at the host."""
    inside(host, "nft", "flush chain inet cut input")


@contextmanager
def entered(host: str) -> Iterator[None]:
    """Open sockets of this thread in the host; they stay there. Raises: OSError."""
    with open("/proc/thread-self/ns/net") as ours, open(f"/run/netns/{host}") as theirs:
        _enter(theirs.fileno())
        try:
            yield
        finally:
            _enter(ours.fileno())


def _enter(namespace: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)  # os.setns needs Python 3.12
    if libc.setns(namespace, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout

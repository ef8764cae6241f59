"""The files that deploy the wire: what they name exists, nothing runs as root, and the command they start serves."""

import json
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.clients.server import ROOT, environment, free_port, running, services
from tests.wire.installation import set_up
from wire.management.commands.serve import MEMORY

yaml = pytest.importorskip("yaml")

UNITS = sorted((ROOT / "deploy" / "systemd").iterdir())
WIRES_OWN = ("migrate", "web-1", "web-2", "ingest", "backup")
DESCRIBED = set(re.findall(r"`([A-Z_]+)`", (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")))
PYTHONS_OWN = {"PYTHONUTF8", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PATH"}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    return read


def setting(name: str) -> str:
    return name.removesuffix("_FILE")


def test_every_service_is_locked_up_and_watched(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert "no-new-privileges:true" in service["security_opt"], name
        assert name == "postgres" or (service["read_only"], service["cap_drop"]) == (True, ["ALL"]), name
        assert "healthcheck" in service or name.startswith("web-"), name  # theirs is the image's own
        assert re.fullmatch(r"[a-z-]+(:[\w.-]+)?", service["image"]), name  # no address of any registry


def test_what_the_services_name_exists(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert set(service["networks"]) <= compose["networks"].keys(), name
        assert set(service.get("secrets", ())) <= compose["secrets"].keys(), name
        assert set(service.get("depends_on", ())) <= compose["services"].keys(), name
        sources = [volume.split(":")[0] for volume in service.get("volumes", ())]
        assert all(source in compose["volumes"] or (ROOT / source).exists() for source in sources), name
    for name in WIRES_OWN:
        assert {setting(key) for key in compose["services"][name]["environment"]} <= DESCRIBED


def test_only_caddy_is_reached_from_outside(compose: dict[str, Any]) -> None:
    assert [name for name, service in compose["services"].items() if "ports" in service] == ["caddy"]
    assert compose["networks"]["inside"]["internal"] is True
    outside = {name for name, service in compose["services"].items() if "outside" in service["networks"]}
    assert outside == {"caddy", "ingest"}


def test_the_image_is_built_of_locked_packages_and_runs_as_nobody_special() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert {line.split()[1] for line in lines if line.startswith("FROM")} == {"python:3.11-slim"}
    assert any("--require-hashes -r" in line for line in lines)
    assert lines.index("USER wire") < next(n for n, line in enumerate(lines) if line.startswith("CMD"))
    assert {f"{name}={value}" for name, value in MEMORY.items()} <= {word for line in lines for word in line.split()}
    wanted = [line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")]
    assert all((ROOT / name).exists() for name in wanted)
    needed = {"manage.py", "config", "wire", "sources", "citations", "mcpserver", "templates", "fixtures", "docs"}
    assert needed <= set(wanted)


def test_the_proxy_asks_the_services_there_are(compose: dict[str, Any]) -> None:
    caddyfile = (ROOT / "deploy" / "Caddyfile").read_text(encoding="utf-8")
    asked = set(re.findall(r"([\w-]+):8000", caddyfile))
    assert asked == {name for name in compose["services"] if name.startswith("web")}


@pytest.mark.slow
def test_the_command_of_the_web_service_serves_and_believes_its_proxy(
    compose: dict[str, Any],
    tmp_path: Path,
    db: None,  # noqa: ARG001
) -> None:
    set_up(tmp_path)
    port = free_port()
    command = [word.replace("=8000", f"={port}") for word in compose["services"]["web-1"]["command"]]
    command = [word for word in command if word not in {"--no-access-log", "--log-level=warning"}]  # the log is as quiet without
    given = {
        "WIRE_SITE_URL": "https://wire.example",
        "WIRE_LOG": "json",
        "WIRE_RATE_LIMIT": "1/h",
        "WIRE_TRUSTED_PROXIES": "127.0.0.1",
    }
    env = environment(tmp_path, port) | services(tmp_path) | given

    def status(client: str) -> int:
        asked = urllib.request.Request(f"http://127.0.0.1:{port}/api/sources.json", headers={"X-Forwarded-For": client})
        try:
            with urllib.request.urlopen(asked, timeout=20) as answer:  # noqa: S310
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    with running(command[1:], env, tmp_path / "log", ready="/healthz"):
        assert [status("192.0.2.1"), status("192.0.2.1"), status("192.0.2.2")] == [200, 429, 200]
    lines = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert all(isinstance(json.loads(line), dict) for line in lines)
    assert not any(address in line for line in lines for address in ("192.0.2.", "127.0.0.1"))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_reads_the_units(tmp_path: Path) -> None:
    """With the paths and the user of this machine in place of those of the one they are for."""
    for unit in UNITS:
        text = (
            unit.read_text(encoding="utf-8").replace("/opt/wire/.venv/bin/python", sys.executable).replace("/opt/wire", str(ROOT))
        )
        (tmp_path / unit.name).write_text(re.sub(r"^(User|Group)=wire$", r"\1=root", text, flags=re.M), encoding="utf-8")
    command = ["systemd-analyze", "verify", "--man=no", *map(str, tmp_path.iterdir())]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_units_gain_no_privileges_and_set_what_is_described() -> None:
    for unit in (unit for unit in UNITS if unit.suffix == ".service"):
        text = unit.read_text(encoding="utf-8")
        assert "NoNewPrivileges=true" in text
        assert "ProtectSystem=strict" in text
        assert "\nUser=wire\n" in text
        environment = re.findall(r"^Environment=(.*)$", text, re.M)[0]
        assert set(re.findall(r"([A-Z_0-9]+)=", environment)) <= DESCRIBED | PYTHONS_OWN

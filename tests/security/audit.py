"""`make audit`: what is publicly known of the libraries, and what bandit finds in the code. Run by .venv-audit, without Django.

Exit 1 if there is a known fault or a finding. Libraries that the advisory service did not tell of are counted, never passed over.
"""

import json
import subprocess
import sys
from typing import Any

ROOMS = ("config", "wire", "sources", "citations", "mcpserver")
PATIENCE = 300.0  # seconds that the advisory service may take


def libraries() -> bool:
    """Whether no library that runs has a known fault, as far as is known."""
    command = ["pip_audit", "--requirement", "requirements.lock", "--disable-pip", "--require-hashes"]
    try:
        ran = _run(*command, "--format", "json", "--progress-spinner", "off")
    except subprocess.TimeoutExpired:
        print(f"NOT AUDITED: the advisory service did not answer within {PATIENCE:.0f} seconds.")  # noqa: T201
        return True
    try:
        told: list[dict[str, Any]] = json.loads(ran.stdout)["dependencies"]
    except (ValueError, KeyError):
        said = ran.stderr.strip().splitlines() or ["nothing"]
        print(f"NOT AUDITED: the advisory service could not be asked. It said: {said[-1]}")  # noqa: T201
        return True
    faults = [(one, fault) for one in told for fault in one.get("vulns", ())]
    for one, fault in faults:
        print(f"{one['name']} {one['version']}: {fault['id']}, mended in {', '.join(fault['fix_versions']) or 'no version'}")  # noqa: T201
    unknown = [one["name"] for one in told if "skip_reason" in one]
    if unknown:
        print(f"NOT AUDITED: the advisory service knows nothing of {len(unknown)} of {len(told)} libraries: {', '.join(unknown)}")  # noqa: T201
    print(f"{len(told) - len(unknown)} libraries looked up, {len(faults)} known faults.")  # noqa: T201
    return not faults


def code() -> bool:
    """Whether bandit finds nothing; what it passes over stands in pyproject.toml with the reasons."""
    ran = _run("bandit", "--quiet", "--configfile", "pyproject.toml", "--recursive", *ROOMS)
    print(ran.stdout or "bandit finds nothing.")  # noqa: T201
    return ran.returncode == 0


def _run(*module: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-m", *module], capture_output=True, text=True, check=False, timeout=PATIENCE)


if __name__ == "__main__":
    sound = [libraries(), code()]
    sys.exit(not all(sound))

"""Runs of ingest in processes that may be killed: `python -m tests.wire.ingest_forks`. A line in, its number and status out.

Forked from one that has Django loaded, so that a kill mostly hits the run and not its start.
"""

import ipaddress
import os
import sys

import django

django.setup()

from config.errors import Busy  # noqa: E402
from sources.fetch import Policy  # noqa: E402
from wire.intake.feeds import feeds_of  # noqa: E402
from wire.intake.ingest import collect  # noqa: E402


def main() -> None:
    how = Policy("killed/1", (ipaddress.ip_network("127.0.0.0/8"),), gap=0.0, deadline=2.0, read_timeout=1.0)
    for _ in sys.stdin:
        pid = os.fork()
        if not pid:
            try:
                collect(feeds_of(), by_hand=True, how=how)
            except Busy:
                os._exit(75)
            os._exit(0)
        print(pid, flush=True)  # noqa: T201
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()

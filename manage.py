#!/usr/bin/env python
"""Django's command line for the wire."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from config.command_runner import run_command

    run_command(sys.argv)


if __name__ == "__main__":
    main()

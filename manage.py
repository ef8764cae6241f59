#!/usr/bin/env python
"""Django's command line for the wire."""

import gc
import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import execute_from_command_line

    gc.set_threshold(10_000)  # looking for garbage every 700 objects took a tenth of a load, and found next to none
    try:
        execute_from_command_line(sys.argv)
    finally:
        gc.freeze()  # nothing is looked through once more at the end: a fifth of a short command


if __name__ == "__main__":
    main()

from wire.management.commands import serve


class Command(serve.Command):
    """`serve` by the name that a package's user tries first: `chatbotnews-wire run`."""

"""The state of a database's tables beside this program: migrations that it lacks, and those of a newer program."""

import pkgutil
from pathlib import Path

from django.apps import apps
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from config.errors import InvalidArgument

Migration = tuple[str, str]  # an app's label and a migration's name


def list_missing() -> list[str]:
    executor = MigrationExecutor(connection)
    return [str(migration) for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes())]


def list_applied() -> set[Migration]:
    return set(MigrationRecorder(connection).applied_migrations())


def list_newer(applied: set[Migration]) -> list[str]:
    """Return the names of applied migrations that this program does not have, sorted."""
    # By the names of files: Django's loader imports all of them, which takes a fifth of a second at each command.
    folders = {app.label: str(Path(app.path) / "migrations") for app in apps.get_app_configs()}
    known = {(app, file.name) for app, folder in folders.items() for file in pkgutil.iter_modules([folder])}
    return sorted(".".join(migration) for migration in applied - known)


def refuse_newer() -> None:
    """Raise InvalidArgument if a newer program changed the tables; a database that does not answer is left to the command."""
    if connection.vendor == "sqlite" and not Path(str(connection.settings_dict["NAME"])).exists():  # to ask would make it
        return
    try:
        newer = list_newer(list_applied())
    except Error:
        return
    if newer:
        raise InvalidArgument(
            f"A newer release was here: it applied {newer[0]}. Nothing was read or changed.",
            "Run that release, or restore a backup that was made before it.",
        )

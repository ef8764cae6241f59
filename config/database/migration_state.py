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
    return sorted(".".join(migration) for migration in applied - _list_known())


def _list_known() -> set[Migration]:
    # By the names of files: Django's loader imports all of them, which takes a fifth of a second at each command.
    folders = {app.label: str(Path(app.path) / "migrations") for app in apps.get_app_configs()}
    return {
        (app, file.name) for app, folder in folders.items() for file in pkgutil.iter_modules([folder]) if file.name[0] not in "_~"
    }


def refuse_other_release(*, is_migrating: bool) -> None:
    """Raise InvalidArgument if the tables are those of a newer program: of what this one wrote, that one's logs would not tell. Or
    of an older one, unless the command migrates them first. A database that is not there or does not answer is left to the command.
    """
    if connection.vendor == "sqlite" and not Path(str(connection.settings_dict["NAME"])).exists():  # to ask would make it
        return
    try:
        applied = list_applied()
        newer = list_newer(applied)
        missing = list_missing() if _list_known() - applied and not is_migrating else []
    except Error:
        return
    if newer:
        raise InvalidArgument(
            f"A newer release has used this database: it applied {newer[0]}. Nothing was read or changed.",
            "Run that release, or restore a backup that was made before it.",
        )
    if missing:
        raise InvalidArgument(
            f"The database is not migrated: {len(missing)} migrations are not applied, {missing[0]} is the first. "
            "Nothing was read or changed.",
            "Run manage.py migrate.",
        )

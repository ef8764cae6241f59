"""The full-text index: FTS5 kept in step by triggers on SQLite, a GIN index over the same tokens on Postgres."""

from django.db import migrations

SQLITE = [
    "CREATE VIRTUAL TABLE wire_searchindex USING fts5(tokens, content='wire_searchdocument', content_rowid='story_id', "
    "tokenize='ascii', detail='none', prefix='2 3')",
    "CREATE TRIGGER wire_searchindex_insert AFTER INSERT ON wire_searchdocument BEGIN "
    "INSERT INTO wire_searchindex(rowid, tokens) VALUES (new.story_id, new.tokens); END",
    "CREATE TRIGGER wire_searchindex_delete AFTER DELETE ON wire_searchdocument BEGIN "
    "INSERT INTO wire_searchindex(wire_searchindex, rowid, tokens) VALUES ('delete', old.story_id, old.tokens); END",
    "CREATE TRIGGER wire_searchindex_update AFTER UPDATE ON wire_searchdocument BEGIN "
    "INSERT INTO wire_searchindex(wire_searchindex, rowid, tokens) VALUES ('delete', old.story_id, old.tokens); "
    "INSERT INTO wire_searchindex(rowid, tokens) VALUES (new.story_id, new.tokens); END",
]
SQLITE_BACK = ["DROP TRIGGER wire_searchindex_update", "DROP TRIGGER wire_searchindex_delete",
               "DROP TRIGGER wire_searchindex_insert", "DROP TABLE wire_searchindex"]
POSTGRES = ["CREATE INDEX wire_searchindex ON wire_searchdocument USING gin (array_to_tsvector(string_to_array(tokens, ' ')))"]
POSTGRES_BACK = ["DROP INDEX wire_searchindex"]


def run(sqlite, postgres):
    def apply(_apps, schema_editor):
        for statement in {"sqlite": sqlite, "postgresql": postgres}[schema_editor.connection.vendor]:
            schema_editor.execute(statement)

    return apply


class Migration(migrations.Migration):
    dependencies = [("wire", "0001_initial")]
    operations = [migrations.RunPython(run(SQLITE, POSTGRES), run(SQLITE_BACK, POSTGRES_BACK))]

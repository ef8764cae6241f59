"""Lists and search that stay fast at a million stories: search documents in the order of time, and the indexes of lists."""

import django.db.models.deletion
from django.db import migrations, models

from wire.publishing.indexing import build_document
from wire.models.search import get_position

OLD_SQLITE = ["DROP TRIGGER wire_searchindex_update", "DROP TRIGGER wire_searchindex_delete",
              "DROP TRIGGER wire_searchindex_insert", "DROP TABLE wire_searchindex"]
OLD_POSTGRES = ["DROP INDEX wire_searchindex"]
SQLITE = [
    # Newest first, since FTS5 reads forward at twice the speed.
    "CREATE VIEW wire_searchsource AS SELECT -place AS entry, tokens, marks FROM wire_searchdocument ORDER BY place DESC",
    "CREATE VIRTUAL TABLE wire_searchindex USING fts5(tokens, marks, content='wire_searchsource', content_rowid='entry', "
    "tokenize='ascii', detail='none', prefix='3 4 5 6')",
    "INSERT INTO wire_searchindex(rowid, tokens, marks) SELECT entry, tokens, marks FROM wire_searchsource ORDER BY entry",
    "CREATE TRIGGER wire_searchindex_insert AFTER INSERT ON wire_searchdocument BEGIN "
    "INSERT INTO wire_searchindex(rowid, tokens, marks) VALUES (-new.place, new.tokens, new.marks); END",
    "CREATE TRIGGER wire_searchindex_delete AFTER DELETE ON wire_searchdocument BEGIN "
    "INSERT INTO wire_searchindex(wire_searchindex, rowid, tokens, marks) VALUES ('delete', -old.place, old.tokens, old.marks); END",
    "CREATE TRIGGER wire_searchindex_update AFTER UPDATE ON wire_searchdocument BEGIN "
    "INSERT INTO wire_searchindex(wire_searchindex, rowid, tokens, marks) VALUES ('delete', -old.place, old.tokens, old.marks); "
    "INSERT INTO wire_searchindex(rowid, tokens, marks) VALUES (-new.place, new.tokens, new.marks); END",
]
POSTGRES = [
    # What the words of a text begin with, of three to six letters.
    "CREATE FUNCTION wire_beginnings(tokens text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN ("
    "SELECT coalesce(array_agg('〃' || left(word, letters)), '{}') FROM unnest(string_to_array(tokens, ' ')) AS word, "
    "generate_series(3, 6) AS letters WHERE length(word) >= letters)",
    "CREATE INDEX wire_searchindex ON wire_searchdocument USING gin (array_to_tsvector("
    "array_remove(string_to_array(tokens || ' ' || marks, ' '), '') || wire_beginnings(tokens) || ARRAY['6a' || (place >> 37), "
    "'6b' || (place >> 39), '6c' || (place >> 41), '6d' || (place >> 43), '6e' || (place >> 45), '6f' || (place >> 47)]))",
]


def run(sqlite, postgres):
    def apply(_apps, schema_editor):
        for statement in {"sqlite": sqlite, "postgresql": postgres}[schema_editor.connection.vendor]:
            schema_editor.execute(statement)

    return migrations.RunPython(apply)


def index_again(apps, _schema_editor):
    Document = apps.get_model("wire", "SearchDocument")
    shown = apps.get_model("wire", "Story").objects.filter(current__isnull=False).exclude(status="withdrawn")
    taken, batch = set(), []
    for story in shown.select_related("current").order_by("pk").iterator(500):
        at = get_position(story.published_at, story.chatbotnews_id)
        while at in taken:
            at -= 1
        taken.add(at)
        batch.append(Document(place=at, **build_document(story, story.current)))
        if len(batch) == 500:
            Document.objects.bulk_create(batch)
            batch = []
    Document.objects.bulk_create(batch)


class Migration(migrations.Migration):
    dependencies = [
        ('sources', '0003_try_feed'),
        ('wire', '0006_search_names'),
    ]
    operations = [
        run(OLD_SQLITE, OLD_POSTGRES),
        migrations.DeleteModel(name='SearchDocument'),
        migrations.CreateModel(
            name='SearchDocument',
            fields=[
                ('place', models.BigAutoField(help_text='Place in the order of time; lists show the greatest first.', primary_key=True, serialize=False)),
                ('story', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='search_document', to='wire.story')),
                ('tokens', models.TextField(help_text='wire.search.tokens of headline and summary, separated by single spaces.')),
                ('headline_length', models.PositiveSmallIntegerField(help_text='How many of the tokens belong to the headline.')),
                ('marks', models.TextField(help_text='Its category, topics, publication and tier, and pairs of words, as tokens.')),
            ],
        ),
        migrations.RemoveIndex(
            model_name='story',
            name='story_newest',
        ),
        migrations.RemoveIndex(
            model_name='story',
            name='story_category',
        ),
        migrations.RemoveIndex(
            model_name='story',
            name='story_guid',
        ),
        migrations.RemoveIndex(
            model_name='storytopic',
            name='topic_newest',
        ),
        migrations.AlterField(
            model_name='story',
            name='publication',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='stories', to='sources.publication'),
        ),
        migrations.AlterField(
            model_name='storyrevision',
            name='story',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='wire.story'),
        ),
        migrations.AlterField(
            model_name='storytopic',
            name='story',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='story_topics', to='wire.story'),
        ),
        migrations.AddIndex(
            model_name='snapshot',
            index=models.Index(fields=['revision', '-wire_date'], name='snapshot_day'),
        ),
        migrations.AddIndex(
            model_name='story',
            index=models.Index(fields=['-published_at', 'chatbotnews_id', 'status', 'current'], name='story_newest'),
        ),
        migrations.AddIndex(
            model_name='story',
            index=models.Index(fields=['category', '-published_at', 'chatbotnews_id', 'status', 'current'], name='story_category'),
        ),
        migrations.AddIndex(
            model_name='story',
            index=models.Index(fields=['publication', 'guid'], name='story_guid'),
        ),
        migrations.AddIndex(
            model_name='storyrevision',
            index=models.Index(condition=models.Q(models.Q(('reason', ''), _negated=True), models.Q(('reason', 'Read again with newer rules.'), _negated=True), ('revision__gt', 1)), fields=['-id'], name='revision_by_editor'),
        ),
        migrations.AddIndex(
            model_name='storytopic',
            index=models.Index(fields=['topic', '-published_at', 'story'], name='topic_newest'),
        ),
        migrations.AddIndex(
            model_name='usagecount',
            index=models.Index(fields=['minute'], name='usage_minute'),
        ),
        run([], POSTGRES),  # before there are rows: their foreign keys are looked at only when all is done
        migrations.RunPython(index_again),
        run(SQLITE, []),
    ]

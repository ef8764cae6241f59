"""Stories in scripts without spaces between words are found by each two characters side by side."""

from django.db import migrations

from wire.publishing.indexing import build_document
from wire.text.tokens import has_unspaced_runs


def index_again(apps, _schema_editor):
    Document = apps.get_model("wire", "SearchDocument")
    for row in Document.objects.select_related("story__current").order_by("pk").iterator(500):
        revision = row.story.current
        if has_unspaced_runs(f"{revision.headline} {revision.summary_medium}"):
            Document.objects.filter(pk=row.pk).update(**build_document(row.story, revision))


class Migration(migrations.Migration):
    dependencies = [("wire", "0021_storylines")]
    operations = [migrations.RunPython(index_again, migrations.RunPython.noop)]

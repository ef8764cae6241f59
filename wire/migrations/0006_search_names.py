"""Every story is found by the names in it too, such as GPT-5, and by all the words that its text holds today."""

from django.db import migrations

from wire.text.tokens import tokenize


def index_again(apps, _schema_editor):
    documents = apps.get_model("wire", "SearchDocument").objects.select_related("story__current")
    for document in documents.iterator(500):
        headline = tokenize(document.story.current.headline)
        document.tokens = " ".join(headline + tokenize(document.story.current.summary_medium))
        document.headline_length = len(headline)
        document.save(update_fields=["tokens", "headline_length"])


class Migration(migrations.Migration):
    dependencies = [("wire", "0005_event_pinned")]
    operations = [migrations.RunPython(index_again, migrations.RunPython.noop)]

"""Events and items of the catalogue are found by their ids, and events by their short names."""

import orjson
from django.db import migrations

from wire.corpora.timeline.store import build_columns


def index_again(apps, _schema_editor):
    for table, name in (("events", "TimelineEvent"), ("items", "CatalogItem")):
        model = apps.get_model("timeline", name)
        for pk, body in model.objects.order_by("pk").values_list("pk", "body").iterator(500):
            model.objects.filter(pk=pk).update(words=build_columns(table, orjson.loads(body))["words"])


class Migration(migrations.Migration):
    dependencies = [("timeline", "0004_character_pairs")]
    operations = [migrations.RunPython(index_again, migrations.RunPython.noop)]

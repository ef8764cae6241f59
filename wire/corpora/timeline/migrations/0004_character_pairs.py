"""Rows in scripts without spaces between words are found by each two characters side by side."""

import orjson
from django.db import migrations

from wire.corpora.timeline.search import rank_index_name, list_report_tokens
from wire.corpora.timeline.store import build_columns
from wire.search import postings_index
from wire.text.tokens import has_unspaced_runs

SEARCHED = {"motifs": "Motif", "events": "TimelineEvent", "threads": "Thread", "items": "CatalogItem"}


def index_again(apps, _schema_editor):
    for corpus in apps.get_model("timeline", "Corpus").objects.all():
        released = apps.get_model("timeline", "Report").objects.filter(corpus=corpus, since__isnull=False).order_by("number")
        rows = released.values_list("number", "body")
        if any(has_unspaced_runs(body) for _, body in rows.iterator(500)):
            documents = ((number, list_report_tokens(orjson.loads(body))) for number, body in rows.iterator(500))
            postings_index.rebuild_index(rank_index_name(corpus.pk), documents)
    for table, name in SEARCHED.items():
        model = apps.get_model("timeline", name)
        for pk, body in model.objects.order_by("pk").values_list("pk", "body").iterator(500):
            if has_unspaced_runs(body):
                model.objects.filter(pk=pk).update(words=build_columns(table, orjson.loads(body))["words"])


class Migration(migrations.Migration):
    dependencies = [("timeline", "0003_drop_claims_and_frames"), ("wire", "0016_postings")]
    operations = [migrations.RunPython(index_again, migrations.RunPython.noop)]

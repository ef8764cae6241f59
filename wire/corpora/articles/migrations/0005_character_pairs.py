"""Articles in scripts without spaces between words are found by each two characters side by side."""

from django.db import migrations

from wire.corpora.articles.search import build_index_name, weigh_tokens
from wire.search import postings_index
from wire.text.tokens import has_unspaced_runs


def index_again(apps, _schema_editor):
    Article = apps.get_model("articles", "Article")
    for publisher in apps.get_model("articles", "Publisher").objects.filter(removed_at=None):
        live = Article.objects.filter(publisher=publisher, state="live").order_by("number")
        rows = live.values_list("number", "title", "description")
        if any(has_unspaced_runs(f"{title} {description}") for _, title, description in rows.iterator(500)):
            documents = ((number, weigh_tokens(title, description)) for number, title, description in rows.iterator(500))
            postings_index.rebuild_index(build_index_name(publisher), documents)


class Migration(migrations.Migration):
    dependencies = [("articles", "0004_seal"), ("wire", "0016_postings")]
    operations = [migrations.RunPython(index_again, migrations.RunPython.noop)]

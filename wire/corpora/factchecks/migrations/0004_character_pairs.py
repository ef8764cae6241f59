"""Claims in scripts without spaces between words are found by each two characters side by side."""

from django.db import migrations
from django.db.models import F

from wire.corpora.factchecks.index_terms import INDEX, build_filter_token, weigh_claim_tokens, select_words
from wire.search import postings_index
from wire.text.tokens import has_unspaced_runs


def index_again(apps, _schema_editor):
    Claim, Word = apps.get_model("factchecks", "Claim"), apps.get_model("factchecks", "Word")
    texts = Claim.objects.order_by("number").values_list("synopsis", "rating_summary", "rating_statement", "facts")
    if not any(has_unspaced_runs(" ".join(map(str, row))) for row in texts.iterator(500)):
        return
    Postings = apps.get_model("wire", "Postings")
    statuses = Postings.objects.filter(index=INDEX, token__startswith=build_filter_token("status", "")).values_list("token", flat=True)
    indexed = {int(number) for numbers, _ in postings_index.get_weights(INDEX, list(statuses)).values() for number in numbers}
    claims = Claim.objects.order_by("number").iterator(500)
    words = set()

    def weigh_claims():
        for claim in claims:
            if claim.number in indexed:
                tokens = weigh_claim_tokens(claim)
                words.update(select_words(tokens))
                yield claim.number, tokens

    postings_index.rebuild_index(INDEX, weigh_claims())
    Word.objects.bulk_create([Word(token=token) for token in sorted(words)], ignore_conflicts=True, batch_size=5_000)
    apps.get_model("factchecks", "FactcheckState").objects.filter(pk=1).update(version=F("version") + 1)


class Migration(migrations.Migration):
    dependencies = [("factchecks", "0003_seal"), ("wire", "0016_postings")]
    operations = [migrations.RunPython(index_again, migrations.RunPython.noop)]

from django.db import migrations, models

from config.database.row_seal import build_seal_migration


class Migration(migrations.Migration):
    """Rows that readers see get a seal; those that are there are sealed as they are."""

    dependencies = [
        ("articles", "0003_payment_identity"),
    ]

    operations = [
        migrations.AddField("publisher", "seal", models.BinaryField(editable=False, null=True)),
        migrations.AddField("article", "seal", models.BinaryField(editable=False, null=True)),
        migrations.AddField("articlealias", "seal", models.BinaryField(editable=False, null=True)),
        migrations.AddField("articlerevision", "seal", models.BinaryField(editable=False, null=True)),
        migrations.RunPython(build_seal_migration("articles", "Publisher", "Article", "ArticleAlias", "ArticleRevision"), migrations.RunPython.noop),
    ]

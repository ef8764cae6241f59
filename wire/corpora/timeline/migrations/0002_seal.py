from django.db import migrations, models

from config.database.row_seal import build_seal_migration


class Migration(migrations.Migration):
    """Rows that readers see get a seal; those that are there are sealed as they are."""

    dependencies = [
        ("timeline", "0001_initial"),
    ]

    operations = [
        migrations.AddField("corpusrelease", "seal", models.BinaryField(editable=False, null=True)),
        migrations.RunPython(build_seal_migration("timeline", "CorpusRelease"), migrations.RunPython.noop),
    ]

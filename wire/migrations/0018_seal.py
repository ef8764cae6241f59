from django.db import migrations, models

from config.database.row_seal import build_seal_migration


class Migration(migrations.Migration):
    """Changes and witnessed logs get a seal; the rows that are there are sealed as they are."""

    dependencies = [
        ("wire", "0017_trust"),
    ]

    operations = [
        migrations.AddField("change", "seal", models.BinaryField(editable=False, null=True)),
        migrations.AddField("witnessed", "seal", models.BinaryField(editable=False, null=True)),
        migrations.RunPython(build_seal_migration("wire", "Change", "Witnessed"), migrations.RunPython.noop),
    ]

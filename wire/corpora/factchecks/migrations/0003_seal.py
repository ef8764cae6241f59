from django.db import migrations, models

from config.database.row_seal import build_seal_migration


class Migration(migrations.Migration):
    """Rows that readers see get a seal; those that are there are sealed as they are."""

    dependencies = [
        ("factchecks", "0002_claim_revisions"),
    ]

    operations = [
        migrations.AddField("claim", "seal", models.BinaryField(editable=False, null=True)),
        migrations.AddField("claimrevision", "seal", models.BinaryField(editable=False, null=True)),
        migrations.AddField("ratingname", "seal", models.BinaryField(editable=False, null=True)),
        migrations.AddField("storylink", "seal", models.BinaryField(editable=False, null=True)),
        migrations.RunPython(build_seal_migration("factchecks", "Claim", "ClaimRevision", "RatingName", "StoryLink"), migrations.RunPython.noop),
    ]

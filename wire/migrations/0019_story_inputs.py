"""What each story was read from. Of stories that are there already nobody knows it: they have none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("wire", "0018_seal")]

    operations = [
        migrations.AddField(
            model_name="story",
            name="inputs",
            field=models.TextField(
                blank=True, default="", help_text="Digests of the publisher's items it was made from: `wire.ingest.item_digests`."
            ),
            preserve_default=False,
        )
    ]

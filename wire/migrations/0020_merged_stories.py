"""Stories that were merged name the one that stands, addresses say since when they lead to a story, and guids whose they are.

Of older addresses nobody knows it, and of older guids only which feed the story follows today.
"""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F


def take_over_feeds(apps: Any, _schema_editor: Any) -> None:
    apps.get_model("wire", "Story").objects.exclude(feed=None).update(guid_feed=F("feed"))


class Migration(migrations.Migration):
    dependencies = [("wire", "0019_story_inputs")]

    operations = [
        migrations.AddField(
            model_name="story",
            name="merged_into",
            field=models.CharField(
                blank=True,
                help_text="Id of the older story of the same article, which replaces this one.",
                max_length=16,
                null=True,
            ),
        ),
        migrations.AddIndex(
            model_name="story",
            index=models.Index(
                condition=models.Q(("merged_into__isnull", False)), fields=["merged_into"], name="story_merged"
            ),
        ),
        migrations.AddField(
            model_name="story",
            name="guid_feed",
            field=models.ForeignKey(
                blank=True,
                help_text="The feed that `guid` comes from; none for archives.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="sources.feed",
            ),
        ),
        migrations.RunPython(take_over_feeds, migrations.RunPython.noop),
        migrations.AddField(
            model_name="storyalias",
            name="seen_at",
            field=models.DateTimeField(
                help_text="When it was recorded; null if earlier than this column.", null=True
            ),
        ),
        migrations.AlterField(
            model_name="storyalias", name="url", field=models.CharField(help_text="Canonical.", max_length=2048)
        ),
        migrations.AddConstraint(
            model_name="storyalias",
            constraint=models.UniqueConstraint(fields=("url", "story"), name="alias_once"),
        ),
    ]

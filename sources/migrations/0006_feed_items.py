from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sources', '0005_aliases'),
    ]

    operations = [
        migrations.AddField(
            model_name='feedhealth',
            name='charset_doubt',
            field=models.CharField(blank=True, help_text="How the latest body's charset was guessed, if it was.", max_length=200),
        ),
        migrations.AddField(
            model_name='feedhealth',
            name='empty_since',
            field=models.DateTimeField(help_text='The feed has had no items since then, though it had some before.', null=True),
        ),
        migrations.AddField(
            model_name='feedhealth',
            name='recent_items',
            field=models.JSONField(blank=True, default=dict, help_text='The last three items of each outcome: [{headline, address, why, at}], newest first.'),
        ),
    ]

from django.db import migrations, models

# As fixtures/roster.json has them on the day of this migration; `found` gives them to a new wire.
OWNERS = {
    'google-ai-blog': ('Google', None),
    'openai-blog': ('OpenAI', None),
    'anthropic-blog': ('Anthropic', None),
    'nvidia-blog': ('NVIDIA', None),
    'microsoft-ai-blog': ('Microsoft', None),
    'meta-ai-blog': ('Meta', None),
    'aws-ai-blog': ('Amazon', None),
    'techcrunch': ('Regent', '2025-03-21'),
    'the-verge': ('Vox Media', None),
    'wired': ('Condé Nast', None),
    'ars-technica': ('Condé Nast', None),
    'reuters': ('Thomson Reuters', None),
    'bloomberg': ('Bloomberg L.P.', None),
    'financial-times': ('Nikkei', '2015-11-30'),
    'mit-technology-review': ('Massachusetts Institute of Technology', None),
    'the-register': ('Situation Publishing', None),
    'engadget': ('Yahoo', '2021-09-01'),
    'google-news': ('Google', None),
}


def name_owners(apps, schema_editor):
    publications = apps.get_model('sources', 'Publication').objects.using(schema_editor.connection.alias)
    for slug, (owner, since) in OWNERS.items():
        publications.filter(slug=slug).update(owner=owner, owner_since=since)


class Migration(migrations.Migration):

    dependencies = [
        ('sources', '0003_try_feed'),
    ]

    operations = [
        migrations.AddField(
            model_name='publication',
            name='owner',
            field=models.CharField(blank=True, help_text='The group that owns it, written the same way for each of its publications.', max_length=120),
        ),
        migrations.AddField(
            model_name='publication',
            name='owner_since',
            field=models.DateField(blank=True, help_text='UTC date; empty if the wire knows of no earlier owner.', null=True),
        ),
        migrations.RunPython(name_owners, migrations.RunPython.noop),
    ]

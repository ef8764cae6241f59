from django.db import migrations

# What fixtures/roster.json gained on the day of this migration; `found` gives them to a new wire.
ALIASES = {
    'aws-ai-blog': ('AWS AI & ML Blog', 'AWS AI/ML Blog'),
    'wired': ('Feed: Artificial Intelligence Latest',),
    'zdnet': ('Latest topics for ZDNet in Artificial Intelligence',),
    'reuters': ('Reuters News Agency',),
    'mit-technology-review': ('MIT TR',),
    'the-register': ('The Reg',),
    'axios': ('Axios Media Inc.',),
}


def add_aliases(apps, schema_editor):
    """Those that no publication of the wire has, for editors may have given them to another."""
    publications = list(apps.get_model('sources', 'Publication').objects.using(schema_editor.connection.alias).all())
    taken = {text.casefold() for publication in publications for text in (publication.name, *publication.aliases)}
    for publication in publications:
        new = [alias for alias in ALIASES.get(publication.slug, ()) if alias.casefold() not in taken]
        if new:
            publication.aliases = [*publication.aliases, *new]
            publication.save(update_fields=['aliases'])


class Migration(migrations.Migration):

    dependencies = [
        ('sources', '0004_owner'),
    ]

    operations = [
        migrations.RunPython(add_aliases, migrations.RunPython.noop),
    ]

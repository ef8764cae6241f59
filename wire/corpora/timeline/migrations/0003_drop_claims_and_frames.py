"""Claims of reports and frames of threads stand in the rows themselves; no query read these tables."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("timeline", "0002_seal")]
    operations = [migrations.DeleteModel("Claim"), migrations.DeleteModel("Frame")]

"""The lexicon: the words that decide a story's category and topics. Editors tune it; fixtures/taxonomy.json ships it."""

from django.core.exceptions import ValidationError
from django.db import models

from wire.vocabulary import Category, Topic


class LexiconTerm(models.Model):
    """One term that speaks for, or with a negative weight against, a category or a topic."""

    class Kind(models.TextChoices):
        CATEGORY = "category", "Category"
        TOPIC = "topic", "Topic"

    class Origin(models.TextChoices):
        SHIPPED = "shipped", "Shipped with the wire"
        EDITOR = "editor", "Set by an editor"

    kind = models.CharField(max_length=8, choices=Kind.choices)
    target = models.CharField(max_length=10, choices=sorted({*Category.choices, *Topic.choices}))
    term = models.CharField(
        max_length=100,
        help_text="A word or phrase. A capital letter makes it case-sensitive; a final * takes any ending.",
    )
    weight = models.FloatField(default=1.0, help_text="Negative weights speak against; 0 switches the term off.")
    origin = models.CharField(max_length=7, choices=Origin.choices, default=Origin.EDITOR)

    class Meta:
        ordering = ["kind", "target", "term"]
        constraints = [models.UniqueConstraint(fields=["kind", "target", "term"], name="term_once")]

    def __str__(self) -> str:
        return f"{self.target}: {self.term} ({self.weight:+g})"

    def clean(self) -> None:
        """Raises: ValidationError when the target is not of this kind."""
        known = Category.values if self.kind == self.Kind.CATEGORY else Topic.values
        if self.target not in known:
            raise ValidationError({"target": f"Not a {self.kind}; choose one of {', '.join(known)}."})

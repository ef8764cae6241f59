"""The lexicon: the words that decide a story's category and topics, and whether it is about AI; and which publications are makers'.

Editors tune it; fixtures/taxonomy.json ships it.
"""

import math
from typing import Final

from django.core.exceptions import ValidationError
from django.db import models

from wire.text.choices import Category, Topic

AI: Final = "ai"  # the only target of relevance terms: what an item of a feed for all kinds of news must be about
TARGETS: Final = {  # each target once, under the kinds that may have it
    "Topic": [choice for choice in Topic.choices if choice[0] not in Category.values],
    "Category": [choice for choice in Category.choices if choice[0] not in Topic.values],
    "Topic and category": [choice for choice in Topic.choices if choice[0] in Category.values],
    "Relevance": [(AI, "AI")],
}


class LexiconTerm(models.Model):
    """A term that speaks for, or with a negative weight against, a category, a topic, or a story's being about AI at all."""

    class Kind(models.TextChoices):
        CATEGORY = "category", "Category"
        TOPIC = "topic", "Topic"
        RELEVANCE = "relevance", "Relevance"
        MAKER = "maker", "Maker's publication"

    class Origin(models.TextChoices):
        SHIPPED = "shipped", "Shipped with the wire"
        EDITOR = "editor", "Set by an editor"

    kind = models.CharField(max_length=9, choices=Kind.choices)
    target = models.CharField(max_length=10, choices=TARGETS)
    term = models.CharField(
        max_length=100,
        help_text=(
            "A word or phrase. A word with a capital letter matches only that spelling; word* takes any ending; … stands for up to "
            "five words, # for one with a digit in it; ^ is where the headline starts or ends; : ? | % $ € £ count as words. For "
            "a maker's publication, give its name: all its stories have the maker's topic."
        ),
    )
    weight = models.FloatField(default=1.0, help_text="A negative weight counts against the target; 0 switches the term off.")
    origin = models.CharField(max_length=7, choices=Origin.choices, default=Origin.EDITOR)

    class Meta:
        ordering = ["kind", "target", "term"]
        constraints = [models.UniqueConstraint(fields=["kind", "target", "term"], name="term_once")]

    def __str__(self) -> str:
        return f"{self.target}: {self.term} ({self.weight:+g})"

    def clean(self) -> None:
        """Raises: ValidationError: a target not of this kind, a weight that is no number, a term with what nobody sees."""
        if self.weight is not None and not math.isfinite(self.weight):
            raise ValidationError({"weight": "Give a plain number, such as 1 or -0.5."})
        if not self.term.isprintable():
            raise ValidationError({"term": "Use visible characters."})
        if self.kind not in self.Kind.values:
            return  # said of the kind already; there is nothing yet to hold the target against
        known = {
            self.Kind.CATEGORY: Category.choices,
            self.Kind.TOPIC: Topic.choices,
            self.Kind.RELEVANCE: [(AI, "AI")],
            self.Kind.MAKER: Topic.choices,
        }[self.Kind(self.kind)]
        if self.target not in dict(known):
            raise ValidationError({"target": f"Not a {self.kind}; choose one of {', '.join(label for _, label in known)}."})

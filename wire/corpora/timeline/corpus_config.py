"""corpus.json: the name of a corpus, its terms, its words and its rules."""

from functools import lru_cache
from typing import Annotated, Final

from ninja import Schema
from pydantic import AfterValidator, ConfigDict, Field

from wire.corpora.timeline import answer_phrases
from wire.corpora.timeline.row_schemas import Line, Text, Url, plain
from wire.corpora.timeline.vocabulary import Name, Vocabularies

RESERVED: Final = frozenset({"corpora"})  # slugs that would be addresses: /api/timeline/corpora.json


def _check_free(slug: str) -> str:
    if slug in RESERVED:
        raise ValueError(f"{slug} is an address of the API; choose another")
    return slug


class LeftOutName(Schema):
    """A name that the corpus leaves out: how many words it has, and its HMAC under this installation's key."""

    model_config = ConfigDict(extra="forbid")

    words: int = Field(ge=1, le=6)
    hmac: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class CorpusFile(Schema):
    """The content of corpus.json."""

    model_config = ConfigDict(extra="forbid")

    slug: Annotated[Name, Field(max_length=40), AfterValidator(_check_free)]
    name: Line
    version: Line = "1"
    about: Text = (
        "Dated reports in which fact, report and interpretation are kept apart. It records what was said, by whom and when."
    )
    never_claims: Text = "That a report is true because it is filed here, or that an interpretation explains an official event."
    licence: Text = "All rights reserved."
    attribution: Line | None = None
    homepage: Url | None = None
    contribute: Line | None = None
    vocabularies: Vocabularies = Field(default_factory=Vocabularies)
    say: list[Line] = Field(default_factory=lambda: list(answer_phrases.SAY))
    avoid: list[Line] = Field(default_factory=lambda: list(answer_phrases.AVOID))
    rules: list[Line] = Field(default_factory=lambda: list(answer_phrases.RULES))
    search_words: Annotated[str, Field(max_length=100), AfterValidator(plain)] = answer_phrases.FORUM
    left_out_names: list[LeftOutName] = []

    def language_rules(self) -> list[str]:
        """Return what may be said and what not, one rule a line."""
        names = [answer_phrases.NAMES_RULE] if self.left_out_names else []
        return [f"Say: {' · '.join(self.say)}", f"Never say: {' · '.join(self.avoid)}", *self.rules, *names]


@lru_cache(maxsize=64)
def parse_corpus(written: str) -> CorpusFile:
    """Parse corpus.json. Raises: pydantic.ValidationError."""
    return CorpusFile.model_validate_json(written)

"""corpus.json: the name of a corpus, its terms, its words and its rules. What it leaves out is as usual for its kind."""

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import orjson
from django.conf import settings
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from wire.corpora.timeline.row_schemas import Line, Text, Url, expect_plain_text

RESERVED: Final = frozenset({"corpora"})  # slugs that would be addresses: /api/timeline/corpora.json
KINDS: Final[dict[str, dict[str, Any]]] = orjson.loads((Path(settings.BASE_DIR) / "fixtures" / "timeline-kinds.json").read_bytes())

Kind = Literal["folklore", "news", "incidents", "standards"]
Lane = Literal["official", "community"]
Label = Literal["report", "reports", "motif", "motifs", "threads", "catalog"]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
Domain = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$", max_length=253)]


def _refuse_reserved_slug(slug: str) -> str:
    if slug in RESERVED:
        raise ValueError(f"{slug} is an address of the API; choose another")
    return slug


class StrictModel(BaseModel):
    """Base of the parts of corpus.json: nothing unknown is accepted."""

    model_config = ConfigDict(extra="forbid")


class Layer(StrictModel):
    """A layer of the timeline: its lane, and what may be said of what lies in it."""

    id: Name
    lane: Lane
    rule: str = Field(min_length=1, max_length=300)


class Vocabularies(StrictModel):
    phenomenon_types: list[Name]
    source_types: list[Name]
    claim_types: list[Name]
    claim_statuses: list[Name]
    event_statuses: list[Name]
    layers: list[Layer]
    anchor_layers: list[Name]  # layers that an anchor may name beside those of events
    relations: list[Name]
    author_policies: list[Name]
    safety_flags: list[Name]
    families: list[Name]
    categories: list[Name]
    item_statuses: list[Name]

    def lanes(self) -> dict[str, str]:
        return {layer.id: layer.lane for layer in self.layers}


class Phrases(StrictModel):
    """Fixed sentences of answers: what a model should keep in mind while it reads them."""

    language: Line
    catalogue: Line
    motifs: Line
    wording: Line
    directions: Line
    unsourced_thread: Line
    say_of_report: Line
    avoid_of_report: Line
    left_out_names: Line
    omitted_source: Line
    citation: Line
    questions: list[Line]
    image: Line
    caption: Line
    original: Line
    reaction: Line
    checks: list[Line]
    flagged: Line
    unflagged: Line
    official_cause: Line


class LeftOutName(StrictModel):
    """A name that the corpus leaves out: how many words it has, and HMACs under this installation's key."""

    words: int = Field(ge=1, le=6)
    hmac: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    initials: Annotated[list[Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]], Field(max_length=64)] = []


class CorpusFile(StrictModel):
    slug: Annotated[Name, Field(max_length=40), AfterValidator(_refuse_reserved_slug)]
    name: Line
    kind: Kind = "folklore"
    version: Line = "1"
    about: Text = (
        "Dated reports in which fact, account and interpretation are kept apart. They record what was said, by whom and when."
    )
    never_claims: Text = "That a report is true because it is filed here, or that an interpretation explains an official event."
    licence: Text = "All rights reserved."
    attribution: Line | None = None
    homepage: Url | None = None
    contribute: Line | None = None
    official_domains: list[Domain] | None = None  # hosts, each with its subdomains; without it any may be official
    vocabularies: Vocabularies
    lanes: dict[Lane, Line]  # their names for people
    labels: dict[Label, Line]  # headings of pages
    phrases: Phrases
    say: list[Line]
    avoid: list[Line]
    rules: list[Line]
    search_words: Annotated[str, Field(max_length=100), AfterValidator(expect_plain_text)]
    left_out_names: list[LeftOutName] = []

    @model_validator(mode="before")
    @classmethod
    def _fill_in_defaults(cls, written: Any) -> Any:
        """Fill in what the kind has; parts of vocabularies, lanes, labels and phrases too."""
        if not isinstance(written, dict):
            return written
        usual = KINDS.get(str(written.get("kind")), KINDS["folklore"])
        return {
            **usual,
            **{
                name: {**usual[name], **value} if isinstance(value, dict) and isinstance(usual.get(name), dict) else value
                for name, value in written.items()
            },
        }

    def language_rules(self, *, has_omitted_source: bool) -> list[str]:
        """Return what may be said and what not, one rule a line."""
        first, *others = self.rules or [""]
        omitted = [self.phrases.omitted_source] if has_omitted_source else []
        names = [self.phrases.left_out_names] if self.left_out_names else []
        rules = filter(None, [first, *omitted, *others, *names])
        return [f"Say: {' · '.join(self.say)}", f"Never say: {' · '.join(self.avoid)}", *rules]


@lru_cache(maxsize=64)
def parse_corpus(written: str) -> CorpusFile:
    """Parse corpus.json. Raises: pydantic.ValidationError."""
    return CorpusFile.model_validate_json(written)

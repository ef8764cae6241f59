"""The wire's tables. May import wire.stories.

`story`: what was reported and every revision of it · `record`: what was published, signed and chained · `rendered`: stories as
they are shown · `taxonomy`: the lexicon that classifies · `search`: what full-text search reads · `vectors`: what stories mean ·
`postings`: other indexes' · `log`: proofs and changes · `archive`: loads under way · `usage`: how often what was asked for.
"""

from wire.models.archive import Load
from wire.models.log import Change, LogEntry, LogNode, Witnessed
from wire.models.postings import Postings
from wire.models.record import EditorTake, SigningKey, Snapshot, WireState
from wire.models.rendered import StoryJson
from wire.models.search import SearchDocument
from wire.models.story import Event, Story, StoryAlias, StoryRevision, StoryTopic
from wire.models.taxonomy import LexiconTerm
from wire.models.usage import UsageCount
from wire.models.vectors import StoryVector

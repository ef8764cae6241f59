"""The wire's tables. May import wire.text.

`story`: stories, revisions, events and rendered JSON · `snapshot`: published days and keys · `taxonomy`: the lexicon · `search`:
documents, postings and embeddings · `pairs`: doubtful pairs · `transparency`: proofs and changes · `load_job`: loads under way ·
`usage`: call counts.
"""

from wire.models.load_job import Load
from wire.models.pairs import StoryPair
from wire.models.search import Postings, SearchDocument, StoryVector
from wire.models.snapshot import EditorTake, SigningKey, Snapshot, WireState
from wire.models.story import Event, Story, StoryAlias, StoryJson, StoryRevision, StoryTopic
from wire.models.taxonomy import LexiconTerm
from wire.models.transparency import Change, LogEntry, LogNode, Witnessed
from wire.models.usage import UsageCount

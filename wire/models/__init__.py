"""The wire's tables. May import wire.text.

`story`: stories, revisions, events, doubtful pairs and rendered JSON · `snapshot`: published days and keys · `lexicon`: the
lexicon · `entity`: companies, people and products · `search`: documents, postings and embeddings · `transparency`: proofs and
changes · `operations`: loads, counts, hub.
"""

from wire.models.entity import Entity, StoryEntity
from wire.models.lexicon import LexiconTerm
from wire.models.operations import HubState, Load, UsageCount
from wire.models.search import Postings, SearchDocument, StoryVector
from wire.models.snapshot import EditorTake, SigningKey, Snapshot, WireState
from wire.models.story import Event, Story, StoryAlias, StoryJson, StoryPair, StoryRevision, StoryTopic
from wire.models.transparency import Change, LogEntry, LogNode, Witnessed

"""memorist: a memory store and hybrid search engine for AI agents, as a library.

:class:`Store` keeps memories and searches them by meaning and by word. :class:`VectorIndex` is its vector index alone.
Adapters for agent frameworks are in :mod:`memorist.langchain` and :mod:`memorist.llama_index`.
"""

from ._memorist import __version__
from ._wire import UNSET
from .errors import (
    Cancelled,
    Closed,
    Conflict,
    Corrupt,
    Error,
    Full,
    InvalidInput,
    Locked,
    ModelError,
    ModelMismatch,
    NotFound,
    Refused,
    StoreError,
)
from .index import IdSet, IndexStats, Neighbours, VectorIndex
from .store import Store
from .types import (
    Added,
    Brief,
    Entry,
    EntryType,
    Exported,
    Hit,
    Imported,
    Link,
    LinkType,
    Recall,
    Recalled,
    SearchMode,
    SearchResult,
    Stats,
    SyncReport,
    Undone,
    Updated,
    Version,
)

__all__ = [
    "UNSET",
    "Added",
    "Brief",
    "Cancelled",
    "Closed",
    "Conflict",
    "Corrupt",
    "Entry",
    "EntryType",
    "Error",
    "Exported",
    "Full",
    "Hit",
    "IdSet",
    "Imported",
    "IndexStats",
    "InvalidInput",
    "Link",
    "LinkType",
    "Locked",
    "ModelError",
    "ModelMismatch",
    "Neighbours",
    "NotFound",
    "Recall",
    "Recalled",
    "Refused",
    "SearchMode",
    "SearchResult",
    "Stats",
    "Store",
    "StoreError",
    "SyncReport",
    "Undone",
    "Updated",
    "VectorIndex",
    "Version",
    "__version__",
]

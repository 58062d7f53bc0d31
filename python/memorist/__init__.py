"""memorist: a memory store and hybrid search engine for AI agents, as a library.

:class:`Store` keeps memories, with hybrid search (semantic and keyword); :class:`AsyncStore` does so beside an event loop.
:class:`VectorIndex` is its vector index alone. Adapters for agent frameworks are in :mod:`memorist.anthropic`,
:mod:`memorist.google_adk`, :mod:`memorist.langchain`, :mod:`memorist.langgraph`, :mod:`memorist.llama_index` and
:mod:`memorist.openai_agents`.
"""

# Of `typing`, whose import takes longer than a command.
TYPE_CHECKING = False

__all__ = [
    "UNSET",
    "Added",
    "AsyncStore",
    "Cancelled",
    "Closed",
    "Conflict",
    "Corrupt",
    "Embed",
    "EntryType",
    "Error",
    "Exported",
    "Full",
    "Hit",
    "IdSet",
    "Importance",
    "Imported",
    "IndexStats",
    "InvalidInput",
    "Layout",
    "Link",
    "LinkType",
    "Locked",
    "Memory",
    "MemorySummary",
    "Metric",
    "ModelError",
    "ModelMismatch",
    "Neighbors",
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
    "Vector",
    "VectorIndex",
    "Version",
    "When",
    "Where",
    "WrongType",
    "__version__",
]

if TYPE_CHECKING:
    from ._arrays import Embed, Vector
    from ._memorist import __version__
    from ._wire import UNSET
    from .async_store import AsyncStore
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
        WrongType,
    )
    from .index import IdSet, IndexStats, Layout, Metric, Neighbors, VectorIndex
    from .store import Importance, Store, When, Where
    from .types import (
        Added,
        EntryType,
        Exported,
        Hit,
        Imported,
        Link,
        LinkType,
        Memory,
        MemorySummary,
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
else:
    _MODULES = ("_arrays", "_memorist", "_wire", "async_store", "errors", "index", "store", "types")

    def __getattr__(name):
        """Imports the library when something of it is first used: the command line does without."""
        if name in __all__ or not name.startswith("_"):
            from importlib import import_module

            for module in _MODULES:
                found = vars(import_module(f"{__name__}.{module}"))
                globals().update({one: found[one] for one in __all__ if one in found})
            if name in globals():
                return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__})

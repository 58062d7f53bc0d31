"""A store for programs with an event loop."""

from __future__ import annotations

import builtins
import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, SupportsIndex, TypeVar, overload

from ._wire import UNSET, Unset
from .store import PAGE, Include, Store, Where
from .types import Memory, MemorySummary

P = ParamSpec("P")
R = TypeVar("R")


def _in_thread(
    method: Callable[Concatenate[Store, P], R],
) -> Callable[Concatenate[AsyncStore, P], Coroutine[Any, Any, R]]:
    async def call(self: AsyncStore, /, *args: P.args, **kwargs: P.kwargs) -> R:
        import asyncio  # a program without an event loop does not need it

        return await asyncio.to_thread(method, self.store, *args, **kwargs)

    functools.update_wrapper(call, method)
    return call


def _pages(
    method: Callable[Concatenate[Store, P], Any],
) -> Callable[Concatenate[AsyncStore, P], AsyncIterator[MemorySummary]]:
    async def call(self: AsyncStore, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[MemorySummary]:
        import asyncio

        memories = method(self.store, *args, **kwargs)
        while page := await asyncio.to_thread(lambda: list(islice(memories, PAGE))):
            for one in page:
                yield one

    functools.update_wrapper(call, method)
    return call


class AsyncStore:
    """The methods of :class:`Store`, to be awaited: each runs in a thread, so that the event loop goes on.

    >>> async def main() -> None:
    ...     async with AsyncStore(Store("memories", embed=None)) as store:
    ...         await store.add("User prefers dark mode for all applications")
    ...         print((await store.search("dark mode"))[0].content)

    A task that is cancelled stops waiting; what its thread has begun is finished. The parameters, results and
    exceptions are those of :class:`Store`. The iterator of ``add_many`` and its ``progress`` run in the thread.

    :param store: an open store. It may be used beside this one.
    """

    def __init__(self, store: Store) -> None:
        #: The store.
        self.store = store

    async def __aenter__(self) -> AsyncStore:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        import asyncio

        # Also where the task is cancelled once more.
        await asyncio.shield(self.close())

    def __repr__(self) -> str:
        return f"<AsyncStore {self.store!r}>"

    add = _in_thread(Store.add)
    add_many = _in_thread(Store.add_many)
    close = _in_thread(Store.close)
    embed = _in_thread(Store.embed)
    export = _in_thread(Store.export)
    flush = _in_thread(Store.flush)
    history = _in_thread(Store.history)
    import_ = _in_thread(Store.import_)
    link = _in_thread(Store.link)
    list = _pages(Store.list)
    #: Earlier name of :meth:`list`.
    entries = list
    recall = _in_thread(Store.recall)
    roll_back = _in_thread(Store.roll_back)
    #: Another name of :meth:`roll_back`.
    rollback = roll_back
    search = _in_thread(Store.search)
    search_many = _in_thread(Store.search_many)
    stats = _in_thread(Store.stats)
    sync = _in_thread(Store.sync)
    undo = _in_thread(Store.undo)
    unlink = _in_thread(Store.unlink)
    update = _in_thread(Store.update)

    # What `_in_thread` makes of them has their overloads at run time alone.
    if TYPE_CHECKING:

        @overload
        async def get(
            self,
            id: SupportsIndex,
            *,
            include: Sequence[Include] = (),
            project: str | Unset | None = UNSET,
            agent: str | Unset | None = UNSET,
        ) -> Memory | None: ...
        @overload
        async def get(
            self,
            id: Iterable[SupportsIndex],
            *,
            include: Sequence[Include] = (),
            project: str | Unset | None = UNSET,
            agent: str | Unset | None = UNSET,
        ) -> builtins.list[Memory | None]: ...
        async def get(self, id: Any, **scope: Any) -> Any: ...
        @overload
        async def delete(
            self, id: SupportsIndex, *, project: str | Unset | None = UNSET, agent: str | Unset | None = UNSET
        ) -> bool: ...
        @overload
        async def delete(
            self,
            id: Iterable[SupportsIndex] | None = None,
            *,
            where: Where | None = None,
            project: str | Unset | None = UNSET,
            agent: str | Unset | None = UNSET,
        ) -> int: ...
        async def delete(self, id: Any = None, **options: Any) -> Any: ...
    else:
        delete = _in_thread(Store.delete)
        get = _in_thread(Store.get)

"""Claude's memory tool over a store of memorist. Needs ``pip install memorist[anthropic]``."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from .errors import Conflict, Full, InvalidInput, Locked, NotFound
from .store import Store

__all__ = ["AsyncMemoryTool", "MemoryTool"]

_Command = (
    BetaMemoryTool20250818ViewCommand
    | BetaMemoryTool20250818CreateCommand
    | BetaMemoryTool20250818StrReplaceCommand
    | BetaMemoryTool20250818InsertCommand
    | BetaMemoryTool20250818DeleteCommand
    | BetaMemoryTool20250818RenameCommand
)


class _Files:
    """The files of a store."""

    def __init__(self, store: Store | str | os.PathLike[str]) -> None:
        self.store = store if isinstance(store, Store) else Store(store)
        self.is_owner = self.store is not store

    def run(self, command: _Command) -> str:
        with _told_to_the_model():
            return self.store._memory_files("memory_files", command.to_dict(warnings=False))

    def clear(self) -> str:
        return self.store._memory_files("clear_memory_files", {})

    def close(self) -> None:
        if self.is_owner:
            self.store.close()


@contextmanager
def _told_to_the_model() -> Iterator[None]:
    """A command that cannot be done is an answer for the model."""
    try:
        yield
    except (InvalidInput, NotFound, Conflict, Locked, Full) as error:
        raise ToolError(str(error)) from error


class MemoryTool(BetaAbstractMemoryTool):
    """Files below ``/memories`` that Claude views, writes and edits. Each is a memory of the store: it has versions, what was
    deleted can come back, passwords are refused, and every other agent's search finds it.

    The files are those of the store's project and agent: ``MemoryTool(Store(project="atlas"))`` has a folder of its own.

    :param store: an open store, or the folder of one.
    :param cache_control: as of every tool.
    """

    def __init__(
        self,
        store: Store | str | os.PathLike[str],
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._files = _Files(store)

    def _run(self, command: _Command) -> str:
        return self._files.run(command)

    view = create = str_replace = insert = delete = rename = _run

    def clear_all_memory(self) -> str:
        """Deletes all files. For 30 days they can come back. Memories that are no files stay."""
        return self._files.clear()

    def close(self) -> None:
        """Closes the store, if this has opened it."""
        self._files.close()


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for ``AsyncAnthropic``. Each command runs in a thread."""

    def __init__(
        self,
        store: Store | str | os.PathLike[str],
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._files = _Files(store)

    async def _run(self, command: _Command) -> str:
        return await asyncio.to_thread(self._files.run, command)

    view = create = str_replace = insert = delete = rename = _run

    async def clear_all_memory(self) -> str:
        """As :meth:`MemoryTool.clear_all_memory`."""
        return await asyncio.to_thread(self._files.clear)

    async def close(self) -> None:
        """As :meth:`MemoryTool.close`."""
        await asyncio.to_thread(self._files.close)

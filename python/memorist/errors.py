"""What can go wrong. Every exception of this package is an :class:`Error`; its text says what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from ._names import in_snake_case

if TYPE_CHECKING:
    from .types import Added

__all__ = [
    "Cancelled",
    "Closed",
    "Conflict",
    "Corrupt",
    "Error",
    "Full",
    "InvalidInput",
    "Locked",
    "ModelError",
    "ModelMismatch",
    "NotFound",
    "Refused",
    "StoreError",
    "WrongType",
]


class Error(Exception):
    """The base of all."""

    def __init__(self, message: str = "") -> None:
        super().__init__(in_snake_case(message))

    def __reduce__(self) -> tuple[object, ...]:
        # Pools of processes pickle exceptions: not all are made of their text.
        return _again, (type(self), self.args, self.__dict__)


def _again(kind: type[Error], args: tuple[object, ...], state: Mapping[str, object]) -> Error:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class InvalidInput(Error, ValueError):
    """A value is out of bounds, of the wrong type or shape, or a text holds a secret. Another call may succeed."""

    #: Of :meth:`Store.add_many`: what became of the items that were taken before.
    added: Sequence[Added | None] = ()


class WrongType(InvalidInput, TypeError):
    """A value is of a type that its parameter does not take."""

    def __init__(self, name: str, expected: str, given: object) -> None:
        super().__init__(f"{name}: must be {expected}, not {type(given).__name__}")


def not_pickled(given: object, instead: str) -> WrongType:
    """What an open store or index raises when it is pickled."""
    message = f"a {type(given).__name__} cannot be pickled; open it by its path where it is needed: {instead}"
    return cast("WrongType", _again(WrongType, (message,), {}))


class Refused(InvalidInput):
    """Some of many memories were refused. The others are saved."""

    def __init__(self, errors: Mapping[int, str], added: Sequence[Added | None]) -> None:
        first, why = next(iter(errors.items()))
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(f"{len(errors)} of {len(added)} were refused; number {first}: {why}{more}")
        #: Why, by the number of the item.
        self.errors = {at: in_snake_case(why) for at, why in errors.items()}
        # Of each item; ``None`` for a refused one.
        self.added = tuple(added)


class NotFound(Error, LookupError):
    """There is no such memory that this viewer sees, no such file, or no index in a folder."""


class Conflict(Error):
    """Another memory has this text already, or there is an index already."""


class Locked(Error):
    """Others hold a lock for longer than anybody waits, or the function that embeds uses the store that calls it."""


class Corrupt(Error):
    """The database or an index is damaged, or was written by a newer version."""


class Full(Error, OSError):
    """The disk is full."""


class StoreError(Error, OSError):
    """The store cannot be used, or the operating system refused."""


class ModelError(Error):
    """There is no embedding model, or it failed."""


class ModelMismatch(ModelError):
    """The store's vectors are another model's."""


class Cancelled(Error):
    """Work was stopped."""


class Closed(Error):
    """The store or the index is closed, or was opened before this process was forked."""

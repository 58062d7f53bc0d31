"""What a program gives as vectors and ids, as arrays that the engine reads without a copy."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, TypeAlias

from .errors import InvalidInput, ModelError, WrongType

StrPath: TypeAlias = str | os.PathLike[str]

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.number[Any]] | Sequence[Sequence[float]] | Sequence[NDArray[np.number[Any]]]
    Ids: TypeAlias = NDArray[np.integer[Any]] | Sequence[int] | AbstractSet[int]

#: A vector: an array with one axis, or numbers.
Vector: TypeAlias = "NDArray[np.number[Any]] | Sequence[float]"
#: A function of texts to an array with a row for each.
Embed: TypeAlias = "Callable[[list[str]], NDArray[np.number[Any]] | Sequence[Sequence[float]]]"


def _unmasked(name: str, given: object) -> None:
    import numpy as np

    if isinstance(given, np.ma.MaskedArray):
        raise WrongType(name, "an array without a mask (see numpy.ma.compressed and numpy.ma.filled)", given)


def floats(name: str, given: Vector | Vectors, axes: int) -> NDArray[np.float32]:
    """A contiguous array of ``float32`` as it is, anything else of numbers as a copy."""
    import numpy as np

    _unmasked(name, given)
    if isinstance(given, (bytes, bytearray, memoryview)):
        raise WrongType(name, "numbers (see numpy.frombuffer)", given)
    try:
        made = np.asarray(given)
        if made.dtype.kind == "O":
            # A column of arrays, or numbers of other kinds.
            made = np.asarray(list(made), dtype=np.float32) if made.ndim else made
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name}: must be numbers, as many in each row: {error}") from None
    if made.dtype.kind not in "fiu":
        raise WrongType(name, f"numbers, as many in each row ({made.dtype})", given)
    if made.ndim == 1 and axes == 2 and made.size == 0:
        made = made.reshape(0, 0)
    if made.ndim == 0:
        raise InvalidInput(f"{name}: must have {'1 axis' if axes == 1 else f'{axes} axes'}, not 0")
    with np.errstate(over="ignore"):  # an infinity is refused by its row
        return np.require(made, np.float32, ["C_CONTIGUOUS", "ALIGNED"])


def integers(name: str, given: Ids) -> NDArray[np.int64]:
    """Ids as 64-bit integers, whatever kind of integers they are."""
    import numpy as np

    _unmasked(name, given)
    if isinstance(given, range):
        try:
            return np.arange(given.start, given.stop, given.step, dtype=np.int64)
        except OverflowError:
            raise InvalidInput(f"{name}: {given} has more than an id can be") from None
    made = np.asarray(list(given) if isinstance(given, AbstractSet) else given)
    if made.size == 0:
        return np.empty(0, dtype=np.int64)
    if not np.issubdtype(made.dtype, np.integer):
        raise WrongType(name, f"integers ({made.dtype})", given)
    if made.ndim != 1:
        raise InvalidInput(f"{name}: must have 1 axis, not {made.ndim}")
    if made.dtype == np.uint64 and int(made.max()) > np.iinfo(np.int64).max:
        raise InvalidInput(f"{name}: {int(made.max())} is more than an id can be")
    made = np.ascontiguousarray(made, dtype=np.int64)
    return np.sort(made) if isinstance(given, AbstractSet) else made


def integer(name: str, given: object) -> int:
    """An integer, also one of numpy."""
    try:
        if not isinstance(given, bool):
            return operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        pass
    raise WrongType(name, "an integer", given)


def path(name: str, given: StrPath) -> str:
    """A path as a string."""
    if not isinstance(given, (str, os.PathLike)):
        raise WrongType(name, "a path", given)
    return os.fspath(given)


def embedder(embed: Any, dimensions: int | None) -> tuple[Any, int]:
    """The function of a program, with what it returns checked, and the number of its dimensions."""
    import numpy as np

    def checked(given: Any, count: int) -> NDArray[np.float32]:
        made = floats("what the function embed returns", given, 2)
        if made.ndim != 2 or made.shape[0] != count:
            raise InvalidInput(
                f"the function embed returned an array of shape {made.shape} for {count} texts; "
                "it must return a row for each"
            )
        if dimensions and made.shape[1] != dimensions:
            raise InvalidInput(f"the function embed returned {made.shape[1]} dimensions, not {dimensions}")
        return made

    if not dimensions:
        try:
            made = embed(["How many dimensions has this?"])
        except Exception as error:
            raise ModelError(f"the function embed raised {type(error).__name__}: {error}") from error
        dimensions = int(checked(made, 1).shape[1])
    return lambda texts: checked(embed(texts), len(texts)), dimensions

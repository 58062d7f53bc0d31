"""Parameters from Python's values to those of the tools."""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from ._names import camel, snake
from .errors import InvalidInput, WrongType


class Unset(enum.Enum):
    """The type of :data:`UNSET`."""

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"


#: Not given, where ``None`` means something: to remove a field, or no project.
UNSET: Final = Unset.UNSET

#: What parameters take, by their names.
_TAKES: Final[dict[str, tuple[type | tuple[type, ...], str]]] = {
    name: (types, expected)
    for types, expected, names in (
        (
            str,
            "a string",
            "agent agent_id content context cursor detail entry_type link_type mode project query reason scale session "
            "source status user_message",
        ),
        (int, "an integer", "before from_id id limit max_results max_tokens neighbors neighbours to_id turn version"),
        (
            (int, float),
            "a number",
            "confidence keyword_weight min_confidence min_relevance min_score min_similarity vector_weight",
        ),
        ((int, str), "an integer or a string", "expect importance min_importance"),
        (bool, "True or False", "explain include_superseded newest_first rerank"),
        (
            (str, int),
            "a time",
            "created_after created_before due expires_at happens_after happens_before updated_after updated_before "
            "valid_from valid_to",
        ),
        (list, "a sequence of strings", "add_tags entry_types recent_messages remove_tags sources tags"),
        (list, "a sequence of integers", "contradicts related supersedes"),
        (dict, "a mapping", "body metadata where"),
    )
    for name in names.split()
}


def is_absent(value: object) -> bool:
    """Whether a value stands for a missing one in numpy or pandas: NaN, NaT, NA or masked."""
    kind = type(value).__name__
    if kind in ("NaTType", "NAType", "MaskedConstant"):
        return True
    return (isinstance(value, float) or kind.startswith("float") or kind == "datetime64") and bool(value != value)


def _value(value: object) -> object:
    if is_absent(value) or isinstance(value, float) and math.isinf(value):
        raise InvalidInput(f"{value} is not a finite number or a time")
    if isinstance(value, date):  # a datetime, too
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): _value(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_value(inner) for inner in value]
    if type(value).__name__ == "datetime64":
        at: Any = value
        # A day stays a day. Nanoseconds would become a number.
        made = at.item()
        return _value(made if isinstance(made, date) else at.astype("datetime64[us]").item())
    if isinstance(value, (str, int)) or not hasattr(value, "tolist"):
        return value
    # A number or an array of numpy, or a column of pandas.
    array: Any = value
    made = array.tolist()
    return _value(float(array) if type(made) is type(value) else made)


def _checked(name: str, given: object) -> object:
    """The value of a parameter as JSON has it, if it is of the right type."""
    value = _value(given)
    types, expected = _TAKES.get(name, (object, ""))
    takes_integers = types is int or isinstance(types, tuple) and int in types
    if takes_integers and isinstance(value, float) and value.is_integer():
        value = int(value)  # pandas makes floats of a column with gaps
    if value is None or isinstance(value, types) and (types is bool or not isinstance(value, bool)):
        return value
    if types is list and isinstance(value, str):
        return [value]  # one alone
    raise WrongType(name, expected, given)


def named(
    given: Mapping[str, object], *, nullable: frozenset[str] = frozenset(), from_table: bool = False
) -> dict[str, object]:
    """Parameters by the names of the tools, without those that are not given. ``None`` is one of ``nullable`` only.
    ``from_table``: NaN, NaT and NA are not given either."""
    return {
        camel(name): _checked(snake(name), value)
        for name, value in given.items()
        if value is not UNSET and (value is not None or name in nullable) and not (from_table and is_absent(value))
    }


def to_json(value: object) -> str:
    """As JSON; what has no form there is refused."""
    try:
        made = json.dumps(value, allow_nan=False, ensure_ascii=False)
        if not made.isascii():
            made.encode()  # half of a surrogate pair has no form
        return made
    except (TypeError, ValueError) as error:
        raise InvalidInput(str(error)) from None

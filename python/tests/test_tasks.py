"""Twelve tasks of a Python user: the document is run, and no task is longer than with other libraries."""

from __future__ import annotations

import doctest
import io
import re
import tokenize
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = TESTS.parent.parent / "docs" / "src" / "python-tasks.md"
#: What is no token of a program's text.
LAYOUT = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER}


def tokens(code: str) -> int:
    return sum(token.type not in LAYOUT for token in tokenize.generate_tokens(io.StringIO(code).readline))


def blocks(text: str) -> str:
    return "".join(re.findall(r"^```python\n(.*?)^```", text, re.S | re.M))


def ours() -> dict[int, str]:
    """The statements of each task."""
    parts = re.split(r"^## (\d+)\. ", PAGE.read_text(), flags=re.M)[1:]
    parse = doctest.DocTestParser().get_examples
    return {int(number): "".join(e.source for e in parse(blocks(part))) for number, part in zip(parts[::2], parts[1::2])}


def test_the_tasks_do_what_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(blocks(PAGE.read_text()), {}, PAGE.name, str(PAGE), 0)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert not said, "".join(said)


@pytest.mark.parametrize(("peer", "shorter_there"), [("chroma", set()), ("lance", {7, 9})])
def test_no_task_is_longer_than_with_others(peer: str, shorter_there: set[int]) -> None:
    parts = re.split(r"^# (\d+)$", (TESTS / "tasks" / f"{peer}.py").read_text(), flags=re.M)[1:]
    theirs = {int(number): part for number, part in zip(parts[::2], parts[1::2])}
    assert list(ours()) == list(theirs) == list(range(1, 13))
    lengths = {number: (tokens(code), tokens(theirs[number])) for number, code in ours().items()}
    assert {number for number, (here, there) in lengths.items() if here > there} == shorter_there, lengths

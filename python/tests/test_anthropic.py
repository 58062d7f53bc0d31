"""Claude's memory tool, beside the one on the local disk that Anthropic's SDK has."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2 as httpx
import memorist
import pytest
from anthropic import Anthropic
from anthropic.lib.tools import ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool
from memorist.anthropic import AsyncMemoryTool, MemoryTool

from helpers import embed


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with memorist.Store(tmp_path / "store", embed=embed, model="letters") as opened:
        yield opened


def answer(tool: Any, command: dict[str, Any]) -> str:
    try:
        return str(tool.call(command))
    except ToolError as error:
        return f"error: {error.content}"


#: One after the other, on one folder.
COMMANDS: list[dict[str, Any]] = [
    {"command": "create", "path": "/memories/notes.md", "file_text": "first\nsecond\nthird\n"},
    {"command": "create", "path": "/memories/notes.md", "file_text": "other"},
    {"command": "view", "path": "/memories/notes.md"},
    {"command": "view", "path": "/memories/notes.md", "view_range": [2, 3]},
    {"command": "view", "path": "/memories/notes.md", "view_range": [2, -1]},
    {"command": "view", "path": "/memories/notes.md", "view_range": [0, 1]},
    {"command": "view", "path": "/memories/notes.md", "view_range": [9, 12]},
    {"command": "view", "path": "/memories/notes.md", "view_range": [1]},
    {"command": "view", "path": "/memories/notes.md", "view_range": None},
    {"command": "view", "path": "/memories/nothing.md"},
    {"command": "view", "path": "/memories/no/thing"},
    {"command": "view", "path": "/etc/passwd"},
    {"command": "view", "path": "notes.md"},
    {"command": "str_replace", "path": "/memories/notes.md", "old_str": "second", "new_str": "2nd"},
    {"command": "str_replace", "path": "/memories/notes.md", "old_str": "second", "new_str": "x"},
    {"command": "str_replace", "path": "/memories/notes.md", "old_str": "ir", "new_str": "x"},
    {"command": "str_replace", "path": "/memories/notes.md", "old_str": "first\n2nd\n", "new_str": "1\n2\n"},
    {"command": "str_replace", "path": "/memories/notes.md", "old_str": "1\n", "new_str": ""},
    {"command": "str_replace", "path": "/memories/nothing.md", "old_str": "a", "new_str": "b"},
    {"command": "insert", "path": "/memories/notes.md", "insert_line": 0, "insert_text": "top"},
    {"command": "insert", "path": "/memories/notes.md", "insert_line": 1, "insert_text": "under the top\n"},
    {"command": "insert", "path": "/memories/notes.md", "insert_line": 4, "insert_text": "a\nb\n\n"},
    {"command": "insert", "path": "/memories/notes.md", "insert_line": 99, "insert_text": "x"},
    {"command": "insert", "path": "/memories/notes.md", "insert_line": -1, "insert_text": "x"},
    {"command": "insert", "path": "/memories/nothing.md", "insert_line": 0, "insert_text": "x"},
    {"command": "view", "path": "/memories/notes.md"},
    {"command": "create", "path": "/memories/a/b/deep.md", "file_text": "no line break"},
    {"command": "view", "path": "/memories/a/b/deep.md"},
    {"command": "insert", "path": "/memories/a/b/deep.md", "insert_line": 1, "insert_text": "the end"},
    {"command": "view", "path": "/memories/a/b/deep.md"},
    {"command": "create", "path": "/memories/a/crlf.txt", "file_text": "one\r\ntwo\r\nthree"},
    {"command": "str_replace", "path": "/memories/a/crlf.txt", "old_str": "two", "new_str": "2"},
    {"command": "insert", "path": "/memories/a/crlf.txt", "insert_line": 1, "insert_text": "one and a half"},
    {"command": "view", "path": "/memories/a/crlf.txt"},
    {"command": "create", "path": "/memories/日本.md", "file_text": "日本語\nübermäßig\n"},
    {"command": "str_replace", "path": "/memories/日本.md", "old_str": "ü", "new_str": "Ü"},
    {"command": "view", "path": "/memories/日本.md"},
    {"command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories/a/notes.md"},
    {"command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories/x.md"},
    {"command": "rename", "old_path": "/memories/a/notes.md", "new_path": "/memories/日本.md"},
    {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/moved/here"},
    {"command": "view", "path": "/memories/moved/here/notes.md"},
    {"command": "view", "path": "/memories/moved/here/b/deep.md"},
    {"command": "view", "path": "/memories/a"},
    {"command": "str_replace", "path": "/memories/moved", "old_str": "a", "new_str": "b"},
    {"command": "insert", "path": "/memories/moved", "insert_line": 0, "insert_text": "b"},
    {"command": "create", "path": "/memories/moved", "file_text": "a file for a folder"},
    {"command": "delete", "path": "/memories/moved/here/b"},
    {"command": "view", "path": "/memories/moved/here/b/deep.md"},
    {"command": "delete", "path": "/memories/nothing.md"},
    {"command": "delete", "path": "/memories"},
    {"command": "rename", "old_path": "/memories", "new_path": "/memories/x"},
    {"command": "delete", "path": "/memories/日本.md"},
    {"command": "create", "path": "/memories/日本.md", "file_text": "again"},
    {"command": "view", "path": "/memories/日本.md"},
    {"command": "create", "path": "/memories/null", "file_text": "null"},
    {"command": "view", "path": "/memories/null"},
    {"command": "str_replace", "path": "/memories/null", "old_str": "null", "new_str": "None"},
    {"command": "view", "path": "/memories/null"},
    {"command": "delete", "path": "/memories/moved"},
    {"command": "view", "path": "/memories/moved"},
]


def test_it_answers_what_the_tool_of_the_sdk_answers(store: memorist.Store, tmp_path: Path) -> None:
    ours, theirs = MemoryTool(store), BetaLocalFilesystemMemoryTool(str(tmp_path / "disk"))
    for command in COMMANDS:
        assert answer(ours, command) == answer(theirs, command), command
    assert len(COMMANDS) >= 60
    assert ours.to_dict() == theirs.to_dict() == {"type": "memory_20250818", "name": "memory"}


def test_what_differs_is_on_purpose(store: memorist.Store, tmp_path: Path) -> None:
    ours, theirs = MemoryTool(store), BetaLocalFilesystemMemoryTool(str(tmp_path / "disk"))

    def both(**command: Any) -> tuple[str, str]:
        return answer(ours, command), answer(theirs, command)

    # A folder has the size of its files, not that of a folder on the disk, and all memories can be searched.
    both(command="create", path="/memories/a/x.md", file_text="x" * 1_700)
    both(command="create", path="/memories/a/node_modules/y.md", file_text="y")
    listed, on_disk = (text.split("\n") for text in both(command="view", path="/memories"))
    assert listed[0].replace(" and node_modules", "") == on_disk[0]
    assert listed[1:] == [
        "1.7K\t/memories",
        "1.7K\t/memories/a/",
        "1.7K\t/memories/a/x.md",
        "(view /memories/search/WORDS to search 2 memories)",
    ]
    assert [line.split("\t")[1] for line in on_disk[1:]] == [
        "/memories",
        "/memories/a/",
        "/memories/a/node_modules/",
        "/memories/a/x.md",
    ]
    # A text is one memory, and not empty.
    again, on_disk_too = both(command="create", path="/memories/y.md", file_text="x" * 1_700)
    assert again.startswith("error: /memories/a/x.md has exactly this text already")
    assert on_disk_too.startswith("File created")
    assert "cannot be empty" in both(command="create", path="/memories/z.md", file_text="")[0]
    # Paths are those of no disk.
    for path in ["/memories/../x", "/memories/a/../x.md", "/memories/%2e%2e/x", "/memories/a\\b", "/memories/search"]:
        assert answer(ours, {"command": "create", "path": path, "file_text": "z"}).startswith("error: ")
    # A password is refused.
    secret = f"password = {'Tr0ub4'}{'dor&3'}"
    assert answer(ours, {"command": "create", "path": "/memories/s", "file_text": secret}).startswith("error: ")
    # Where places overlap, it is not plain which is meant.
    both(command="create", path="/memories/o.md", file_text="aaa")
    refused, replaced = both(command="str_replace", path="/memories/o.md", old_str="aa", new_str="b")
    assert refused.startswith("error: No replacement was performed. Multiple") and replaced.startswith("The memory file")
    # The file that is missing is said before the one that is there.
    both(command="create", path="/memories/p.md", file_text="p")
    missing, there = both(command="rename", old_path="/memories/none.md", new_path="/memories/p.md")
    assert missing.endswith("none.md does not exist") and there.endswith("p.md already exists")


def test_a_file_is_found_by_every_agent(store: memorist.Store) -> None:
    tool = MemoryTool(store)
    tool.call({"command": "create", "path": "/memories/harbour/ferry.md", "file_text": "It leaves from pier nine."})
    store.add("The lighthouse is white.")
    store.flush()
    assert store.search("pier", mode="keyword")[0].content == "It leaves from pier nine."
    assert "The lighthouse is white." in answer(tool, {"command": "view", "path": "/memories/search/lighthouse"})
    assert tool.clear_all_memory() == "All memory cleared"
    assert "ferry" not in answer(tool, {"command": "view", "path": "/memories"})
    assert [entry.content for entry in store.list()] == ["The lighthouse is white."]


def test_files_belong_to_a_project(tmp_path: Path) -> None:
    create = {"command": "create", "path": "/memories/plan.md", "file_text": "Land on the moon."}
    for project in ["apollo", "hermes", None]:
        with memorist.Store(tmp_path / "store", project=project, embed=embed, model="letters") as store:
            assert answer(MemoryTool(store), create).startswith("File created")
            assert answer(MemoryTool(store), create) == "error: File /memories/plan.md already exists"


def test_files_are_exported_and_imported(store: memorist.Store, tmp_path: Path) -> None:
    MemoryTool(store).call({"command": "create", "path": "/memories/a/x.md", "file_text": "one\n"})
    store.export(tmp_path / "memories.jsonl")
    with memorist.Store(tmp_path / "copy", embed=embed, model="letters") as copy:
        copy.import_(tmp_path / "memories.jsonl")
        view = {"command": "view", "path": "/memories/a/x.md"}
        assert answer(MemoryTool(copy), view) == answer(MemoryTool(store), view)


def test_what_no_command_is(store: memorist.Store) -> None:
    tool = MemoryTool(store)
    odd: list[dict[str, Any]] = [
        {"command": "create", "path": "/memories/a.md"},
        {"command": "create", "path": "/memories/a.md", "file_text": None},
        {"command": "create", "path": "/memories/a.md", "file_text": {"x": 1}},
        {"command": "insert", "path": "/memories/a.md", "insert_line": "x", "insert_text": "y"},
        {"command": "view", "path": None},
        {"command": "create", "path": "/memories/a.md", "file_text": "half \ud800"},
        {"command": "create", "path": "/memories/\ud800", "file_text": "half"},
    ]
    for command in odd:
        assert answer(tool, command).startswith("error: "), command
    with pytest.raises(NotImplementedError):
        tool.call({"command": "format"})
    assert answer(tool, {"command": "view", "path": "/memories"}).endswith("0B\t/memories")


WRITER = """
import sys, memorist
from memorist.anthropic import MemoryTool
with memorist.Store(sys.argv[1], embed=None) as store:
    for number in range(50):
        command = {"command": "insert", "path": "/memories/log.md", "insert_line": 1}
        MemoryTool(store).call(command | {"insert_text": f"{sys.argv[2]} {number}"})
"""


def test_two_processes_lose_no_edit(tmp_path: Path) -> None:
    with memorist.Store(tmp_path / "store", embed=None) as store:
        MemoryTool(store).call({"command": "create", "path": "/memories/log.md", "file_text": "begin\n"})
    folder = str(tmp_path / "store")
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, folder, name]) for name in "ab"]
    assert [writer.wait() for writer in writers] == [0, 0]
    with memorist.Store(tmp_path / "store", embed=None) as store:
        lines = [line.split("\t")[1] for line in answer(MemoryTool(store), {"command": "view", "path": "/memories/log.md"}).split("\n")[1:-1]]
    assert lines[0] == "begin" and sorted(lines[1:]) == sorted(f"{name} {number}" for name in "ab" for number in range(50))


async def test_the_asynchronous_tool_does_the_same(store: memorist.Store, tmp_path: Path) -> None:
    ours, theirs = AsyncMemoryTool(store), BetaLocalFilesystemMemoryTool(str(tmp_path / "disk"))
    for command in COMMANDS:
        try:
            got = str(await ours.call(command))
        except ToolError as error:
            got = f"error: {error.content}"
        assert got == answer(theirs, command), command
    several = [
        ours.call({"command": "create", "path": f"/memories/many/{number}.md", "file_text": f"number {number}"})
        for number in range(20)
    ]
    await asyncio.gather(*several)
    assert await ours.clear_all_memory() == "All memory cleared"


def test_claude_uses_it_in_the_runner_of_the_sdk(store: memorist.Store) -> None:
    """The API is played: it asks for two commands, and gets their results."""
    asked: list[dict[str, Any]] = []
    calls = [
        {"command": "create", "path": "/memories/tea.md", "file_text": "The user likes green tea."},
        {"command": "view", "path": "/memories/coffee.md"},
    ]

    def reply(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content))
        step = len(asked) - 1
        block: dict[str, Any] = {"type": "text", "text": "Noted."}
        if step < len(calls):
            block = {"type": "tool_use", "id": f"toolu_{step}", "name": "memory", "input": calls[step]}
        message = {
            "id": f"msg_{step}",
            "type": "message",
            "role": "assistant",
            "model": "claude-test",
            "content": [block],
            "stop_reason": "tool_use" if step < len(calls) else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return httpx.Response(200, json=message)

    client = Anthropic(api_key="none", http_client=httpx.Client(transport=httpx.MockTransport(reply)))
    runner = client.beta.messages.tool_runner(
        max_tokens=100,
        model="claude-test",
        messages=[{"role": "user", "content": "I like green tea."}],
        tools=[MemoryTool(store)],
    )
    final = runner.until_done()
    assert final.content[0].type == "text"
    assert asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    results = [request["messages"][-1]["content"][0] for request in asked[1:]]
    assert results[0]["content"] == "File created successfully at: /memories/tea.md"
    assert results[1]["is_error"] and "does not exist" in results[1]["content"]
    assert [entry.content for entry in store.list()] == ["The user likes green tea."]

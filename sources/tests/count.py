#!/usr/bin/env python3
"""Counts the messages of the made transcripts in tests/corpus/, by itself: it shares no code with the parsers.

Prints a line a message, with tabs: file, role, first line, time in Unix milliseconds (or -). `cargo test -p memorist-sources
corpus` compares that with what the parsers make of the same files.
"""

import json
import re
import sys
from datetime import datetime
from pathlib import Path

from count_agents import AGENTS, millis, typed
from count_databases import DATABASES, opened

CORPUS = Path(__file__).resolve().parent / "corpus"


def conversations(path):
    """The objects of a list, or the only one, each with the line on which it begins."""
    text = path.read_text(encoding="utf-8")
    decoder = json.JSONDecoder()
    at = 0
    while (at := text.find("{", at)) >= 0:
        talk, end = decoder.raw_decode(text, at)
        yield talk, text.count("\n", 0, at) + 1
        at = end


def thread(parents, last):
    """The names from the first message to the last."""
    names = []
    while last in parents:
        names.append(last)
        last = parents[last]
    return names[::-1]


def chatgpt(path):
    for talk, line in conversations(path):
        mapping = talk.get("mapping") or {}
        last = talk.get("current_node")
        if last not in mapping:
            # The corpus has such conversations without branches alone.
            last = next((name for name, node in mapping.items() if not node["children"]), None)
        for name in thread({name: node["parent"] for name, node in mapping.items()}, last):
            message = mapping[name]["message"]
            if not message or message["author"]["role"] not in ("user", "assistant"):
                continue
            if message["recipient"] != "all" or message["metadata"].get("is_visually_hidden_from_conversation"):
                continue
            content = message["content"]
            if content["content_type"] in ("thoughts", "reasoning_recap", "code"):
                continue
            said = [part if isinstance(part, str) else part.get("text", "") for part in content.get("parts", [])]
            if any(text.strip() for text in said):
                seconds = message["create_time"] or talk["create_time"]
                yield message["author"]["role"], line, round(seconds * 1000)


def claude_ai(path):
    for talk, line in conversations(path):
        messages = {message["uuid"]: message for message in talk["chat_messages"]}
        chosen = list(messages)
        if any("parent_message_uuid" in message for message in messages.values()):
            parents = {name: message["parent_message_uuid"] for name, message in messages.items()}
            newest = max(messages, key=lambda name: messages[name]["created_at"])
            chosen = thread(parents, talk.get("current_leaf_message_uuid", newest))
        for name in chosen:
            message = messages[name]
            blocks = [block["text"] for block in message.get("content", []) if block["type"] == "text"]
            if not message.get("content"):
                blocks = [message["text"]]
            role = {"human": "user", "assistant": "assistant"}.get(message["sender"])
            if role and any(typed(text) for text in blocks):
                yield role, line, millis(message["created_at"])


def specstory(path):
    text = path.read_text(encoding="utf-8")
    clock = r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?(?:Z|[+-]\d{4})"
    stamps = re.findall(r"^(?:# |<!-- ).*?(" + clock + r")", text, re.M)
    begun = stamps[-1] if stamps else None
    # Blocks become blank lines, so that the numbers of lines stay.
    blank = lambda found: "\n" * found[0].count("\n")
    text = re.sub(r"^<tool-use .*?</tool-use>$", blank, text, flags=re.M | re.S)
    text = re.sub(r"^<think>.*?</think>$", blank, text, flags=re.M | re.S)
    if "Markdown v2" not in text:
        text = re.sub(r"^<details>.*?</details>$", blank, text, flags=re.M | re.S)
    parts = re.split(r"^(_\*\*.*\*\*_)$", text, flags=re.M)
    line = 1 + parts[0].count("\n")
    for header, body in zip(parts[1::2], parts[2::2]):
        own = re.search(clock, header)
        at = own[0] if own else begun
        if typed(re.sub(r"(?m)^---$", "", body)):
            yield "user" if header.startswith("_**User") else "assistant", line, millis(at) if at else "-"
        line += body.count("\n")


def aider(path):
    role, at, is_output, is_fenced, found = None, "-", False, False, []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        kind = "assistant"
        if started := re.match(r"# aider chat started at (.*)", line):
            # In the zone of the machine.
            at, role, is_output = int(datetime.fromisoformat(started[1]).timestamp() * 1000), None, False
            continue
        if line.startswith("#### "):
            kind, is_output = "user", False
            if role != "user" and re.match(r"/[a-z-]+( |$)", line[5:]) and not re.match(r"/(ask|code|architect|context)\b", line[5:]):
                kind = None
        elif line.startswith(">") and not is_fenced:
            kind, is_output = None, True
        elif not line.strip():
            is_output = False
            continue
        elif is_output:
            continue
        if line.startswith("```"):
            is_fenced = not is_fenced
        if kind and kind != role:
            found.append((kind, number, at))
        role = kind
    yield from found


FILES = AGENTS | {
    "chatgpt": ("**/conversations*.json", chatgpt),
    "claude_ai": ("**/conversations*.json", claude_ai),
    "specstory": ("**/*.md", specstory),
    "aider": ("**/.aider.chat.history.md", aider),
}


def main():
    for folder, (pattern, count) in FILES.items():
        paths = (CORPUS / folder).glob(pattern)
        for path in sorted(path for path in paths if path.is_file() and path.suffix not in (".turns", ".bak") and ".checkpoint." not in path.name):
            for role, line, at in count(path):
                print(path.relative_to(CORPUS).as_posix(), role, line, at, sep="\t")
    for script, count in DATABASES.items():
        for role, row, at in count(opened(CORPUS / script)):
            print(script, role, row, at, sep="\t")


if __name__ == "__main__":
    sys.exit(main())

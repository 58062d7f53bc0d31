"""Counts the messages of agents' databases for `count.py`, which the scripts in tests/corpus/ make. It shares no code with the
parsers. The line of a message is its row.
"""

import json
import sqlite3

from count_agents import ROLES, member, texts, time, typed


def loads(value):
    """The object or list in a column; nothing, if there is none."""
    try:
        return json.loads(value.decode(errors="replace") if isinstance(value, bytes) else value)
    except (TypeError, ValueError):
        return None


def opened(script):
    database = sqlite3.connect(":memory:")
    database.text_factory = lambda text: text.decode(errors="replace")
    database.executescript(script.read_text(encoding="utf-8"))
    return database


def opencode(database):
    if database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'session_message'").fetchone():
        query = "SELECT rowid, type, data, time_created FROM session_message ORDER BY session_id, seq"
        for row, kind, data, at in database.execute(query).fetchall():
            data = loads(data)
            if not isinstance(data, dict):
                continue
            blocks = [block for block in data.get("content") or [] if isinstance(block, dict)]
            said = {"user": [data.get("text")], "compaction": [data.get("summary")]}.get(kind, [])
            if kind == "assistant":
                said = [block.get("text") for block in blocks if block["type"] == "text" and not block.get("synthetic")]
            role = {"compaction": "summary"}.get(kind, kind)
            if any(said):
                yield role, row, time(member(data, "time").get("created"), at)
            yield from answers(kind == "assistant" and blocks, row, time(member(data, "time").get("created"), at))
        return
    query = "SELECT rowid, id, data, time_created FROM message ORDER BY session_id, time_created, id"
    for row, name, data, at in database.execute(query).fetchall():
        message = loads(data)
        if not isinstance(message, dict) or message.get("role") not in ROLES:
            continue
        parts = [loads(part) for (part,) in database.execute("SELECT data FROM part WHERE message_id = ? ORDER BY id", [name])]
        parts = [part for part in parts if isinstance(part, dict)]
        own = [part for part in parts if part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored")]
        role = "summary" if message.get("summary") is True else message["role"]
        at = time(member(message, "time").get("created"), at)
        if any(isinstance(part.get("text"), str) and typed(part["text"]) for part in own):
            yield role, row, at
        yield from answers(parts, row, at)


def answers(parts, row, at):
    """What a person says in the results of tools, all of it at once."""
    for part in parts or []:
        state = member(part, "state")
        error = state.get("error")
        shown = [state.get("output"), *(block["text"] for block in state.get("content") or [])]
        is_answer = (part.get("tool") or part.get("name")) == "question" and str(shown[0] or shown[-1]).startswith("User has")
        if is_answer or "with the following feedback: " in str(error):
            yield "user", row, at
            return


def goose(database):
    query = """SELECT m.rowid, role, content_json, created_timestamp, metadata_json, session_type
        FROM messages m LEFT JOIN sessions s ON s.id = m.session_id ORDER BY m.rowid"""
    for row, role, content, at, shown, kind in database.execute(query).fetchall():
        shown, content = loads(shown), loads(content)
        shown = shown if isinstance(shown, dict) else {}
        said = list(texts(content))
        is_seen, is_sent = shown.get("userVisible", True), shown.get("agentVisible", True)
        is_notice = not is_seen and any("compacted" in text for text in said)
        if role in ROLES and said and (is_seen or is_sent) and kind != "hidden" and not is_notice:
            seconds = at if isinstance(at, int) else None
            at = "-" if seconds is None else seconds * 1000 if seconds < 10**11 else seconds
            yield role if is_seen else "summary", row, at


def openclaw(database):
    from count_agents import openclaw_events

    query = "SELECT rowid, event_json, created_at FROM transcript_events ORDER BY session_id, seq"
    for row, event, at in database.execute(query).fetchall():
        event = loads(event)
        if isinstance(event, dict):
            for role, _, said in openclaw_events([(row, event)]):
                yield role, row, at if said == "-" else said


def cursor(database):
    values = dict(database.execute("SELECT key, value FROM cursorDiskKV").fetchall())
    rows = dict(database.execute("SELECT key, rowid FROM cursorDiskKV").fetchall())
    for key in sorted(values, key=rows.get):
        chat = loads(values[key])
        if not key.startswith("composerData:") or not isinstance(chat, dict):
            continue
        name = key.split(":")[1]
        headers = [header for header in chat.get("fullConversationHeadersOnly") or [] if isinstance(header, dict)]
        bubbles = [(f"bubbleId:{name}:{header.get('bubbleId')}", None) for header in headers]
        bubbles += [(None, bubble) for bubble in chat.get("conversation") or [] if bubble]
        inline = 0
        for place, bubble in bubbles:
            inline += place is None
            bubble = loads(values.get(place)) if place else bubble
            role = {1: "user", 2: "assistant"}.get((bubble or {}).get("type"))
            if role and bubble.get("text") and not bubble.get("isThought") and not bubble.get("capabilityType"):
                yield role, rows[place] if place else inline, time_of_bubble(bubble)


def time_of_bubble(bubble):
    values = [value for value in (bubble.get("createdAt"), bubble.get("timestamp")) if not isinstance(value, bool)]
    return time(*values)


def crush(database):
    for row, role, parts, at, is_summary in database.execute(
        "SELECT rowid, role, parts, created_at, is_summary_message FROM messages ORDER BY rowid"
    ).fetchall():
        parts = [part for part in loads(parts) or [] if isinstance(part, dict)]
        said = [part["data"].get("text") for part in parts if part["type"] == "text"]
        said = [text for text in said if isinstance(text, str) and typed(text)]
        result = " ".join(str(member(part, "data").get("content")) for part in parts if part["type"] == "tool_result")
        if role in ROLES and said:
            yield "summary" if is_summary else role, row, at * 1000 if at < 10**11 else at
        elif role == "tool" and "User selected:" in result:
            yield "user", row, at * 1000


def zed(database):
    # A thread that has changed earlier is read earlier.
    every = database.execute("SELECT rowid, updated_at, data_type, data, created_at FROM threads").fetchall()
    for row, _, kind, data, begun in sorted(every, key=lambda one: time(one[1]) if time(one[1]) != "-" else 0):
        # The corpus has frames of one block, which is not packed.
        thread = loads(data[9:] if kind == "zstd" else data)
        for message in thread["messages"] if thread else ():
            message = message if isinstance(message, dict) else {}
            role = "user" if "User" in message else "assistant" if "Agent" in message else message.get("role")
            parts = (member(message, "User") or member(message, "Agent")).get("content", [])
            said = [part["Text"] for part in parts if "Text" in part] + [message.get("text", "")]
            said += [part["text"] for part in message.get("segments", []) if part["type"] == "text"]
            if role in ROLES and any(typed(text) for text in said):
                yield role, row, time(begun)


def kiro(database):
    for table in ("conversations_v2", "conversations"):
        for row, value in database.execute(f"SELECT rowid, value FROM {table} ORDER BY rowid").fetchall():
            talk, at = loads(value), "-"
            for pair in talk["history"] if isinstance(talk, dict) else ():
                pair = pair if isinstance(pair, dict) else {}
                at = time(member(pair, "user").get("timestamp"), None if at == "-" else at)
                asked = list(member(member(pair, "user"), "content").values())
                if any(typed(one.get("prompt") or "") for one in asked):
                    yield "user", row, at
                if any(one.get("content") for one in member(pair, "assistant").values()):
                    yield "assistant", row, at


DATABASES = {
    "crush/crush.sql": crush,
    "cursor/state.sql": cursor,
    "goose/sessions.sql": goose,
    "kiro/data.sql": kiro,
    "openclaw/agent.sql": openclaw,
    "opencode/v1.sql": opencode,
    "opencode/v2.sql": opencode,
    "zed/threads.sql": zed,
}

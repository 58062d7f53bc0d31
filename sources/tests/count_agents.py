"""Counts the messages of agents' transcripts of lines, for `count.py`, with no code of the parsers."""

import json
import re
from datetime import datetime

BLOCK = re.compile(r"\A\s*<(system-reminder|memorist-recall|relevant-memories)\b[^>]*>.*?</\1>\s*", re.S)
ROLES = ("user", "assistant")


def millis(text):
    return round(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000 // 1)


def typed(text):
    """What is left of a text without blocks of programs before it."""
    while BLOCK.match(text):
        text = BLOCK.sub("", text, count=1)
    return text.strip()


def time(*values):
    """The first of the values that is a time."""
    for value in values:
        if isinstance(value, int):
            return value
        try:
            return millis(value)
        except (TypeError, AttributeError, ValueError):
            pass
    return "-"


def records(path):
    """The objects of a file of lines, each with its line."""
    for number, line in enumerate(path.read_bytes().decode(errors="replace").split("\n"), 1):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield number, record


def texts(content):
    """The texts of a message, without what is thought and what tools do."""
    kinds = (None, "text", "input_text", "output_text")
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, dict):
            part = part.get("text") if part.get("type") in kinds and not part.get("thought") else None
        if isinstance(part, str) and part.strip():
            yield part


def member(record, name):
    """An object in an object; an empty one, if there is none."""
    found = record.get(name)
    return found if isinstance(found, dict) else {}


def goose(path):
    for line, record in records(path):
        shown = member(record, "metadata")
        is_seen, is_sent = shown.get("userVisible", True), shown.get("agentVisible", True)
        if record.get("role") in ROLES and any(texts(record.get("content"))) and (is_seen or is_sent):
            at = record["created"] * 1000 if isinstance(record.get("created"), int) else "-"
            yield record["role"] if is_seen else "summary", line, at


def cursor(path):
    for line, record in records(path):
        said = "\n".join(texts(member(record, "message").get("content")))
        if record.get("role") == "user" and "<user_query>" not in said:
            said = re.sub(r"<(\w+)>.*?</\1>", "", said, flags=re.S)
        if record.get("role") in ROLES and said.strip():
            yield record["role"], line, "-"


def gimli(path):
    for line, record in records(path):
        message = member(record, "message") or record
        said = any(typed(text) for text in texts(message.get("content")))
        if record.get("type", "message") == "message" and message.get("role") in ROLES and said:
            yield message["role"], line, time(record.get("timestamp"), message.get("timestamp"))


def openclaw(path):
    yield from openclaw_events(records(path))


def openclaw_events(every):
    machine = r"Read HEARTBEAT\.md|HEARTBEAT_OK|NO_REPLY|\[cron:|System:|\[Inter-session message"
    for line, record in every:
        message = member(record, "message")
        at = time(record.get("timestamp"), message.get("timestamp"))
        if record.get("type") in ("compaction", "branch_summary") and isinstance(record.get("summary"), str):
            yield "summary", line, at
        if record.get("type") != "message" or message.get("role") not in ROLES:
            continue
        if member(message, "provenance").get("kind") in ("inter_session", "internal_system"):
            continue
        said = [typed(text) for text in texts(message.get("content"))]
        if any(text and not re.match(machine, text) for text in said):
            yield message["role"], line, at


def gemini(path):
    kept = {}
    if path.suffix == ".json":
        messages = json.loads(path.read_text(encoding="utf-8"))["messages"]
        kept = {number: (message, number) for number, message in enumerate(messages, 1)}
    for line, record in records(path) if path.suffix == ".jsonl" else ():
        if back := record.get("$rewindTo"):
            names = list(kept)
            for name in names[names.index(back) if back in kept else 0 :]:
                del kept[name]
        elif "id" in record:
            kept[record["id"]] = record, line
        elif isinstance(every := member(record, "$set").get("messages"), list):
            kept = {one["id"]: (one, line) for one in every if one and "id" in one}
    for message, line in kept.values():
        said = list(texts(message.get("displayContent") or message.get("content")))
        role = {"user": "user", "gemini": "assistant", "model": "assistant"}.get(message["type"])
        if role == "user":
            said = [text for text in said if not re.match(r"/|\?|<session_context>|<hook_context>", text)]
        if role and said:
            yield role, line, time(message.get("timestamp"))
        asked = [call["resultDisplay"] for call in message.get("toolCalls", []) if call["name"] == "ask_user"]
        if any("answered" in text for text in asked):
            yield "user", line, time(message.get("timestamp"))


def claude_code(path):
    ide = re.compile(r"<(ide_\w+)>.*?</\1>", re.S)
    machine = r"<(local-command-\w+|bash-\w+|task-notification|teammate-message)|\[Request interrupted by user[^\]]*\]\Z"
    no = "The user doesn't want to proceed with this tool use."
    for line, record in records(path):
        message = member(record, "message")
        content = message.get("content")
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        role = record.get("type")
        said = []
        if role == "user" and not record.get("isMeta"):
            said = [typed(ide.sub("", text)) for text in texts(content)]
            said = [text for text in said if not re.match(machine, text)]
            for block in blocks:
                for text in texts(block.get("content")) if block["type"] == "tool_result" else ():
                    if text.startswith(no):
                        said += re.findall(r"(?:the user said:|reason for the rejection:)\s*(.+)", text)
            said += member(member(record, "toolUseResult"), "answers").values()
            role = "summary" if record.get("isCompactSummary") else role
        elif role == "assistant" and not record.get("isApiErrorMessage"):
            said = list(texts(content))
            said += [block["name"] for block in blocks if block.get("name") in ("AskUserQuestion", "ExitPlanMode")]
        elif role == "attachment" and not member(record, "attachment").get("isMeta"):
            queued = record["attachment"]
            is_human = member(queued, "origin").get("kind", "human") == "human"
            if queued["type"] == "queued_command" and queued["commandMode"] == "prompt" and is_human:
                role, said = "user", list(texts(queued["prompt"]))
        elif role == "system" and "<command-name>" in record["content"]:
            role, said = "user", [record["content"]]
        if any(said):
            yield role, line, time(record.get("timestamp"))


def copilot(path):
    for line, record in records(path):
        data = member(record, "data")
        said = data.get("summaryContent") if record.get("type") == "session.compaction_complete" else data.get("content")
        kinds = {"user.message": "user", "assistant.message": "assistant", "session.compaction_complete": "summary"}
        is_skill = str(data.get("source")).startswith("skill-")
        if record.get("type") in kinds and isinstance(said, str) and typed(said) and not is_skill:
            yield kinds[record["type"]], line, time(record.get("timestamp"))


def vscode_chat(path):
    requests = []
    if path.suffix == ".json":
        every = json.loads(path.read_text(encoding="utf-8"))["requests"]
        requests = [(request, 1, 1) for request in every if request]
    for line, record in records(path) if path.suffix == ".jsonl" else ():
        kind, where, new = record.get("kind"), record.get("k"), record.get("v")
        if kind == 0:
            requests, new = [], new["requests"]
        if kind == 0 or where == ["requests"]:
            del requests[record.get("i", 0 if kind == 1 else len(requests)) :]
            requests += [(request, line, line) for request in new if isinstance(request, dict)]
        elif kind and where and where[0] == "requests" and where[2:] == ["response"] and where[1] < len(requests):
            request, first, begun = requests[where[1]]
            old = request.get("response") or []
            old = old[: 0 if kind == 1 else record.get("i", len(old))]
            requests[where[1]] = request | {"response": old + new}, first, begun if any(prose(old)) else line
    for request, first, begun in requests:
        message = request.get("message")
        if typed(message if isinstance(message, str) else member(request, "message").get("text") or ""):
            yield "user", first, time(request.get("timestamp"))
        if any(prose(request.get("response") or [])):
            yield "assistant", begun, time(request.get("timestamp"))


def prose(parts):
    for part in (part for part in parts if isinstance(part, dict)):
        names = {None: part.get("value"), "markdownContent": member(part, "content").get("value")}
        yield (names | {"inlineReference": part.get("name")}).get(part.get("kind"))


PLAN = re.compile(r"<proposed_plan>.*?</proposed_plan>", re.S)
OF_PROGRAM = re.compile(r"\s*(# AGENTS\.md instructions|<(environment_context|user_instructions|turn_aborted|user_action)>)")


def copied(every):
    """The lines of a Codex rollout that are another session's."""
    metas = [(line, record["payload"]) for line, record in every if record.get("type") == "session_meta"]
    start = metas[0][1].get("subagent_history_start_ordinal") if metas else None
    if start is not None:
        return {line for line, record in every if record.get("ordinal", line - 1) < start}
    if len(metas) < 2 or metas[1][1]["id"] == metas[0][1]["id"]:
        return set()
    begun = metas[0][1]["id"]
    own = [line for line, record in every if member(record, "payload").get("turn_id", "").startswith(begun[:11])]
    at = time(every[0][1]["timestamp"])
    return {line for line, record in every if (line < own[0] if own else time(record.get("timestamp")) < at + 1000)}


def codex(path):
    every = list(records(path))
    others = copied(every)
    header = every[0][1].get("timestamp")
    # What the agent said since the last message of the user: by an event alone, and by a message alone.
    events, items, asked = [], [], set()
    plain = lambda text: " ".join(PLAN.sub("", text).split())
    for line, record in every:
        is_bare = "payload" not in record
        item = record if is_bare else member(record, "payload")
        kind = record.get("type") if is_bare or record["type"] != "response_item" else item.get("type")
        at = time(header if is_bare else record.get("timestamp"))
        said = list(texts(item.get("content")))
        if line in others:
            continue
        if kind == "compacted" and item["message"]:
            yield "summary", line, at
        elif kind == "message" and item.get("role") == "user":
            if any(not OF_PROGRAM.match(text) for text in said):
                events, items = [], []
                yield "user", line, at
        elif kind == "message" and item.get("role") == "assistant" and said:
            whole = "\n\n".join(said)
            same = next((text for text in events if plain(text) == plain(whole)), None)
            if same is not None:
                events.remove(same)
            else:
                items += said
            if same is None or bool(PLAN.search(same)) != bool(PLAN.search(whole)):
                yield "assistant", line, at
        elif kind == "event_msg" and item.get("type") == "agent_message":
            same = next((text for text in items if plain(text) == plain(item["message"])), None)
            if same is not None:
                items.remove(same)
            else:
                events.append(item["message"])
                yield "assistant", line, at
        elif kind == "function_call" and item["name"] == "request_user_input" and item["arguments"].startswith("{"):
            asked.add(item["call_id"])
            yield "assistant", line, at
        elif kind == "function_call_output" and item["call_id"] in asked and '"answers":["' in item["output"]:
            yield "user", line, at


def cline(path):
    whole = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(whole, dict):
        yield from cline_session(whole["messages"])
        return
    shown = [one for one in whole if isinstance(one, dict)]
    kinds = {"text": "assistant", "task": "user", "user_feedback": "user", "completion_result": "assistant"}
    kinds |= {"followup": "assistant", "plan_mode_respond": "assistant", "condense": "summary"}
    for number, one in enumerate(shown, 1):
        kind, said, at = one.get("say") or one.get("ask"), one.get("text"), time(one.get("ts"))
        role = "user" if number == 1 else kinds.get(kind)
        if kind == "condense_context":
            role, said = "summary", one["contextCondense"]["summary"]
        if role and isinstance(said, str) and (typed(said) if role == "user" else said):
            yield role, number, at
        if kind == "followup" and '"selected"' in said:
            yield "user", number, at


def cline_session(messages):
    for number, one in enumerate((one for one in messages if one), 1):
        about, at = member(one, "metadata"), time(one.get("ts"))
        if about.get("kind") == "compaction_summary":
            yield "summary", number, at
        if one["role"] not in ROLES or "displayRole" in about:
            continue
        blocks = one["content"] if isinstance(one["content"], list) else [{"type": "text", "text": one["content"]}]
        said = [block["text"] for block in blocks if block["type"] == "text" and "[TASK RESUMPTION]" not in block["text"]]
        for block in blocks:
            is_question = block.get("name") == "ask_question"
            is_answer = is_question and not block.get("is_error")
            if is_answer or "<feedback>" in str(block.get("content", "")):
                said.append("an answer, or a question")
        if said:
            yield one["role"], number, at


def qwen_code(path):
    for line, record in records(path):
        kind, about, payload = record.get("type"), record.get("subtype"), member(record, "systemPayload")
        parts = [part for part in member(record, "message").get("parts", []) if isinstance(part, dict)]
        said = [part["text"] for part in parts if "text" in part and not part.get("thought")]
        tools = [call["functionCall"]["name"] for call in parts if "functionCall" in call]
        results = json.dumps([part["functionResponse"] for part in parts if "functionResponse" in part])
        is_typed = about in (None, "mid_turn_user_message", "agent_launch_prompt")
        role = None
        if kind == "user" and is_typed and any(typed(text) for text in said):
            role = "user"
        elif kind == "assistant" and (said or {"ask_user_question", "exit_plan_mode"} & set(tools)):
            role = "assistant"
        elif kind == "tool_result" and "User has provided the following answers:" in results:
            role = "user"
        elif about == "chat_compression" and "<state_snapshot>" in json.dumps(payload):
            role = "summary"
        if role:
            yield role, line, time(record.get("timestamp"))


def continue_dev(path):
    whole = json.loads(path.read_text(encoding="utf-8"))
    every = json.loads((path.parent / "sessions.json").read_text(encoding="utf-8"))
    begun = [int(one["dateCreated"]) for one in every if one["sessionId"] == whole["sessionId"]]
    at = begun[0] if begun else "-"
    for number, item in enumerate((item for item in whole["history"] if item), 1):
        message = member(item, "message")
        asked = [state for state in item.get("toolCallStates", []) if state["toolCall"]["function"]["name"] == "AskQuestion"]
        if message.get("role") in ROLES and (any(texts(message["content"])) or asked):
            yield message["role"], number, at
        for state in asked:
            yield "user", number, at
        if "conversationSummary" in item:
            yield "summary", number, at


def amp(path):
    whole = json.loads(path.read_text(encoding="utf-8"))
    at = whole["created"]
    for number, one in enumerate((one for one in whole["messages"] if isinstance(one, dict)), 1):
        sent = member(one, "meta").get("sentAt")
        at = sent if isinstance(sent, int) else at
        kinds = [block["type"] for block in one["content"] if typed(block.get("text", "x"))]
        if one["role"] in ROLES and "text" in kinds:
            yield one["role"], number, at
        if one["role"] == "info" and "summary" in kinds:
            yield "summary", number, at


def kiro(path):
    at = "-"
    for line, record in records(path):
        data = member(record, "data")
        parts = [part for part in data.get("content", []) if isinstance(part, dict) and part["kind"] == "text"]
        seconds = member(data, "meta").get("timestamp")
        if record.get("kind") == "Prompt":
            at = "-" if seconds is None else round(seconds * 1000)
        role = {"Prompt": "user", "AssistantMessage": "assistant"}.get(record.get("kind"))
        if role and any(typed(part["data"]) for part in parts):
            yield role, line, at


def kiro_ide(path):
    if path.suffix == ".jsonl":
        for line, record in records(path):
            event = member(record, "payload")
            is_said = event.get("type") in ROLES and event.get("operationType", "Say") != "Reasoning"
            if is_said and any(typed(text) for text in texts(event["content"])):
                yield event["type"], line, time(record.get("timestamp"))
        return
    whole = json.loads(path.read_text(encoding="utf-8"))
    if "history" in whole:
        every = json.loads((path.parent / "sessions.json").read_text(encoding="utf-8"))
        at = int(next(one["dateCreated"] for one in every if one["sessionId"] == whole["sessionId"]))
        for number, item in enumerate((item for item in whole["history"] if item), 1):
            message = member(item, "message")
            said = list(texts(message.get("content")))
            if message.get("role") in ROLES and said and said != ["On it."]:
                yield message["role"], number, at
    elif "actions" in whole:
        for number, action in enumerate((one for one in whole["actions"] if isinstance(one, dict)), 1):
            if action["actionType"] == "say" and action["output"]["message"].strip():
                yield "assistant", number, time(action.get("emittedAt"), whole["startTime"])
    else:
        names = {"human": "user", "bot": "assistant"}
        for number, one in enumerate((one for one in whole["chat"] if one), 1):
            said = re.sub(r"<(identity|EnvironmentContext)>.*?</\1>|## Included Rules.*", "", one["content"], flags=re.S)
            if one["role"] in names and said.strip() and said != "I will follow these instructions.":
                yield names[one["role"]], number, whole["metadata"]["startTime"]


def zed_text(path):
    whole = json.loads(path.read_text(encoding="utf-8"))
    text = whole["text"].encode()
    sections = [section["range"] for section in whole.get("slash_command_output_sections", [])]
    begins = sorted((one for one in whole["messages"] if isinstance(one, dict)), key=lambda one: one["start"])
    ends = [one["start"] for one in begins[1:]] + [len(text)]
    for number, (one, end) in enumerate(zip(begins, ends), 1):
        about = one.get("metadata") or member(whole, "message_metadata").get(str(one["id"]), {})
        own = range(one["start"], end)
        left = [at for at in own if not any(part["start"] <= at < part["end"] for part in sections)]
        if about.get("role") in ROLES and typed(bytes(text[at] for at in left).decode()):
            yield about["role"], number, "-"


AGENTS = {
    "amp": ("**/threads/T-*.json", amp),
    "claude_code": ("**/*.jsonl", claude_code),
    "cline": ("**/*messages.json", cline),
    "codex": ("**/*.jsonl", codex),
    "continue": ("**/sessions/[0-9o]*.json", continue_dev),
    "copilot": ("**/*.jsonl", copilot),
    "cursor": ("**/*.jsonl", cursor),
    "gemini": ("**/chats/**/[es][xe]*.json*", gemini),
    "gimli": ("**/sessions/*.jsonl", gimli),
    "goose": ("**/*.jsonl", goose),
    "kiro": ("**/*.jsonl", kiro),
    "kiro_ide": ("**/[7me9]*[0-9a-z][0-9a-z]", kiro_ide),
    "openclaw": ("**/sessions/**/[A-Z2]*.jsonl*", openclaw),
    "qwen_code": ("**/*.jsonl", qwen_code),
    "vscode_chat": ("**/chatSessions/*.json*", vscode_chat),
    "zed_text": ("**/*.zed.json", zed_text),
}

"""Calls of Gimli's document, on a server that replaces it: every result whole, field by field.

    gimli.py PATH_TO_MEMORIST

A check's name begins with the rows of the specification that it proves. The server is started in a workspace with notes,
and a home folder with a transcript.
"""

import json
import os
from pathlib import Path

from session import parameter, run_script, stdio_session

DOCUMENTED = {
    "memory_search": {
        "query": parameter("string", required=True), "maxResults": parameter("number", default=6),
        "minScore": parameter("number", default=0.35),
    },
    "memory_get": {
        "path": parameter("string", required=True), "from": parameter("number"), "lines": parameter("number"),
    },
    "memory_recall": {
        "userMessage": parameter("string", required=True), "agentId": parameter("string"),
        "maxResults": parameter("number", default=5), "maxTokens": parameter("number", default=500),
        "minScore": parameter("number", default=0.3),
    },
    "memory_sync": {"force": parameter("boolean", default=False)},
    "apply_recency_buffer": {
        "messages": parameter("object[]", required=True), "size": parameter("number", default=10),
        "save": parameter("boolean", default=False), "session": parameter("string"),
    },
}

MEMORY = """# Preferences

Ana likes green lanterns above all.

# Decisions

We keep the harbour database in SQLite, because one file is easy to copy.
"""
DAY = "# Log\n\nThe ferry to Gdynia was late by two hours.\n"
TURNS = [("user", "what was our   discussion about\nbackups?"),
         ("assistant", "We said that backups run at night, and that each is tried once a month.")]


def message(role, text):
    return json.dumps({"type": "message", "message": {"role": role, "content": [{"type": "text", "text": text}]}})


def transcript_in(folder):
    return folder / "home" / ".gimli" / "agents" / "main" / "sessions" / "one.jsonl"


def prepare(folder):
    """A workspace and a home folder. The server gets both from this process."""
    workspace, home = folder / "workspace", folder / "home"
    transcript = transcript_in(folder)
    for path in (workspace / "memory" / "deep", transcript.parent):
        path.mkdir(parents=True)
    (workspace / "MEMORY.md").write_text(MEMORY)
    (workspace / "memory" / "deep" / "2026-01-05.md").write_text(DAY)
    (workspace / "README.md").write_text("The walrus is in no memory file.\n")
    transcript.write_text("".join(message(*turn) + "\n" for turn in TURNS))
    # The model stays where it is.
    os.environ.setdefault("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    os.environ["HOME"] = str(home)
    # Transcripts are an experiment.
    (folder / "gimli.yaml").write_text("memorySearch:\n  experimental:\n    sessionMemory: true  # H4\n")
    # What is read, and when, is what the checks say.
    settings = folder / "memorist.toml"
    settings.write_text("[sync]\nenabled = false\n")
    os.environ["MEMORIST_CONFIG"] = str(settings)
    os.chdir(workspace)


async def check_sync(checks, session):
    synced = await session.call("memory_sync")
    checks.equal("T52 the names of a report", sorted(synced), ["added", "changed", "removed", "sources"])
    names = [[source["source"], Path(source["path"]).name, source["files"], source["read"]]
             for source in synced["sources"]]
    checks.equal("T52 both sources are read", sorted(names), [["notes", "MEMORY.md", 1, 1], ["notes", "memory", 1, 1],
                                                                ["sessions", ".gimli", 1, 1]])
    checks.equal("T52 what that added", [synced["changed"], synced["removed"], synced["added"] >= 4], [0, 0, True])
    again = await session.call("memory_sync", {"force": None})
    checks.equal("T52 once read, nothing is new", [again["added"], sum(source["read"] for source in again["sources"])],
                 [0, 0])
    force = await session.call("memory_sync", {"force": True})
    checks.equal("T52 force reads all, and adds nothing twice",
                 [force["added"], sum(source["read"] for source in force["sources"])], [0, 3])


async def check_search(checks, session, transcript):
    await session.embedded()
    answer = await session.search("which lanterns does Ana like")
    checks.equal("T50 the names of an answer", sorted(answer), ["model", "provider", "results"])
    checks.equal("T50 where embeddings are made", answer["provider"], "local")
    first = answer["results"][0]
    score = first.pop("score")
    checks.that("T50 Q20 a score of 0 to 1 above the least", 0.35 <= score <= 1, score)
    snippet = first.pop("snippet")
    checks.that("T50 the passage", "Ana likes green lanterns" in snippet and len(snippet) <= 700, snippet)
    checks.that("T50 Z12 lines of a file, relative to the workspace",
                first["path"] == "MEMORY.md" and 1 <= first["startLine"] <= 3 <= first["endLine"] <= 7, first)
    checks.equal("T50 the names of a result", [sorted(first), first["source"]],
                 [["endLine", "path", "source", "startLine"], "memory"])
    answer = await session.search("what was our discussion about backups")
    turns = {hit["snippet"][:5]: hit for hit in answer["results"] if hit["source"] == "sessions"}
    checks.equal("T50 F12 a turn says who spoke, with one space between words", turns["User:"]["snippet"],
                 "User: what was our discussion about backups?")
    checks.equal("T50 F12 the answer", [turns["Assis"]["snippet"], turns["Assis"]["path"], turns["Assis"]["startLine"]],
                 [f"Assistant: {TURNS[1][1]}", "agents/main/sessions/one.jsonl", 2])
    answer = await session.search("walrus", minScore=0)
    checks.that("T50 other files of the workspace are not read",
                not any("walrus" in hit["snippet"] for hit in answer["results"]), answer)
    answer = await session.search("ferry Gdynia", minScore=1)
    checks.equal("Q20 a threshold drops nothing that the words find", answer["results"][0]["path"],
                 "memory/deep/2026-01-05.md")
    for number in range(9):
        session.command("add", f"Ferry number {number} goes to Gdynia")
    await session.embedded()
    answer = await session.search("ferry to Gdynia", minScore=0)
    places = [(hit["path"], hit["startLine"], hit["endLine"]) for hit in answer["results"]]
    checks.equal("Q20 six results, each once", [len(places), len(set(places))], [6, 6])
    answer = await session.search("ferry to Gdynia", minScore=0, maxResults=2)
    checks.equal("Q20 maxResults", len(answer["results"]), 2)
    await session.refused("T50 the query must be there", "memory_search", {}, "query")


async def check_get(checks, session, transcript):
    path = "memory/deep/2026-01-05.md"
    whole = await session.call("memory_get", {"path": path})
    checks.equal("Z12 a file", whole, {"path": path, "text": DAY.strip(), "from": 1, "lines": 3})
    line = await session.call("memory_get", {"path": "2026-01-05.md", "from": 3, "lines": 1})
    checks.equal("Z12 a line of it, by the end of its path", line,
                 {"path": "2026-01-05.md", "text": DAY.splitlines()[2], "from": 3, "lines": 1})
    for name in ("agents/main/sessions/one.jsonl", str(transcript.resolve())):
        turns = await session.call("memory_get", {"path": name})
        checks.equal("F12 Z12 the turns of a transcript", turns["text"],
                     f"User: what was our discussion about backups?\nAssistant: {TURNS[1][1]}")
    saved = session.command("add", "The moon rises in the east")["id"]
    hit = (await session.search("moon rises east", maxResults=1))["results"][0]
    checks.equal("T50 a memory without a file", [hit["path"], hit["source"]], [f"memory:{saved}", "memory"])
    read = await session.call("memory_get", {"path": hit["path"]})
    checks.equal("Z12 it is read by that path", read["text"], "The moon rises in the east")
    for other in ("README.md", "../home/.gimli/agents/main/sessions/one.jsonl", "/etc/hostname", "memory/../README.md"):
        await session.refused(f"Z12 {other} was not read", "memory_get", {"path": other}, "path", "not an indexed file")
    Path(path).unlink()
    gone = await session.call("memory_get", {"path": path})
    checks.that("Z12 a file that is gone is answered from its records", "Gdynia" in gone["text"] and "missing" in gone["warning"],
                gone)
    synced = await session.call("memory_sync")
    checks.equal("T52 then its lines go, too", synced["removed"] >= 1, True)
    answer = await session.search("ferry was late by two hours")
    checks.that("T52 and are not found", not any(hit["path"] == path for hit in answer["results"]), answer)


async def check_recall(checks, session):
    asked = {"userMessage": "what was our discussion about backups that run at night?", "maxResults": 5, "maxTokens": 500,
             "minScore": 0.3}
    given = await session.call("memory_recall", asked)
    checks.that("T51 a turn is given what it needs", "backups run at night" in (given["context"] or ""), given)
    silent = await session.call("memory_recall", {**asked, "userMessage": "go on"})
    checks.equal("T51 or nothing", silent["context"], None)


async def check_workspaces(checks, session):
    """Another workspace, with the same store and without a file."""
    here, other = Path.cwd(), session.store.parent / "other"
    other.mkdir()
    (other / "MEMORY.md").write_text("The walrus of the other workspace likes green lanterns.\n")
    os.chdir(other)
    options = ["--profile", "gimli", "--quiet"]
    async with stdio_session(checks, session.binary, session.store, "auto", *options) as another:
        await another.read_tools()
        synced = await another.call("memory_sync")
        checks.equal("R25 H4 a workspace has its notes alone", [source["path"] for source in synced["sources"]],
                     [str((other / "MEMORY.md").resolve())])
        await another.embedded()
        answer = await another.search("green lanterns, backups at night", minScore=0)
        places = [[hit["path"], hit["source"]] for hit in answer["results"] if not hit["path"].startswith("memory:")]
        checks.equal("R25 H4 another's notes and transcripts are not found", places, [["MEMORY.md", "memory"]])
        checks.that("R25 nor in its file of the same name", "walrus" in answer["results"][0]["snippet"], answer)
        await another.refused("R25 nor read", "memory_get", {"path": "agents/main/sessions/one.jsonl"}, "path")
    os.chdir(here)
    answer = await session.search("walrus of the other workspace", minScore=0)
    checks.that("R25 nor the other way", not any("walrus" in hit["snippet"] for hit in answer["results"]), answer)


async def check_recency(checks, session):
    messages = [{"role": "user", "content": f"Heron {number} waits"} for number in range(12)]
    messages[2:2] = [{"role": "assistant", "tool_calls": [{"id": "c", "type": "function"}]},
                     {"role": "tool", "tool_call_id": "c", "content": "done"}]
    cut = await session.call("apply_recency_buffer", {"messages": messages})
    checks.equal("H2 ten messages are preserved", [cut["preserved"], cut["toSummarize"]], [messages[4:], messages[:4]])
    cut = await session.call("apply_recency_buffer", {"messages": messages, "size": 11, "save": True, "session": "herons"})
    checks.equal("H2 a call stays with its result, and what was said is saved",
                 [cut["preserved"], cut["toSummarize"], cut["saved"]], [messages[2:], messages[:2], 2])


async def check_settings(checks, session):
    """The tree of the document as a file, of two agents."""
    folder = session.store.parent
    file = folder / "gimli.json"
    tree = {"agents": {"defaults": {"memorySearch": {
        "provider": "auto", "sources": ["memory", "sessions"], "experimental": {"sessionMemory": False},
        "store": {"path": str(folder / "state" / "{agentId}.sqlite"), "vector": {"enabled": True}},
        "sync": {"onSessionStart": True, "watchDebounceMs": 1500}, "query": {"maxResults": 1},
        "cache": {"enabled": True}}}, "list": [{"id": "quiet", "memorySearch": {"enabled": False}}]}}
    file.write_text(json.dumps(tree))
    options = ["--profile", "gimli", "--memory-search", str(file)]
    # An empty variable counts as not set: the file names the store.
    async with stdio_session(checks, session.binary, "", "auto", "--quiet", *options) as other:
        await other.read_tools()
        synced = await other.call("memory_sync")
        checks.equal("H3 H4 without the experiment transcripts are no source",
                     sorted({source["source"] for source in synced["sources"]}), ["notes"])
        answer = await other.search("Ana harbour", minScore=0)
        checks.equal("H3 the most results of the file", len(answer["results"]), 1)
    checks.that("R25 R29 the store of the agent", (folder / "state" / "main.memorist" / "memory.db").exists(),
                sorted(folder.iterdir()))
    async with stdio_session(checks, session.binary, "", "auto", "--agent", "quiet", "--quiet", *options) as other:
        await other.read_tools()
        off = await other.search("Ana harbour")
        checks.equal("H3 R25 an agent whose memory is off", [off["results"], off["disabled"], off["unavailable"],
                                                             all(off[name] for name in ("error", "warning", "action"))],
                     [[], True, True, True])
    checks.that("R25 another agent has another store", (folder / "state" / "quiet.memorist").exists(),
                sorted((folder / "state").iterdir()))


async def script(checks, session):
    transcript = transcript_in(session.store.parent)
    checks.equal("T50 an empty store has no results", (await session.search("anything"))["results"], [])
    await check_sync(checks, session)
    await check_search(checks, session, transcript)
    await check_get(checks, session, transcript)
    await check_recall(checks, session)
    await check_workspaces(checks, session)
    await check_recency(checks, session)
    await check_settings(checks, session)


if __name__ == "__main__":
    run_script("gimli", DOCUMENTED, script, "--memory-search", "../gimli.yaml", prepare=prepare)

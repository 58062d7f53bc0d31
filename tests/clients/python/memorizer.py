"""Calls of Memorizer's document, on a server that replaces it: every result whole, field by field.

    memorizer.py PATH_TO_MEMORIST

A check's name begins with the rows of the specification that it proves. Where the document names a tool alone, its
parameters and results have the names that the system has.
"""

import json
import re
import time
from datetime import datetime, timedelta, timezone

from session import TIMEOUT_SECONDS, parameter, run_script, stdio_session

CATEGORIES = ["preference", "background", "pattern", "project", "contact", "decision"]
AGENT = parameter("string", default="main")
TEXT = parameter("string", required=True)
CATEGORY = parameter("string", of=CATEGORIES)
DOCUMENTED = {
    "store_fact": {
        "agent_id": AGENT, "fact": TEXT, "category": parameter("string", required=True, of=CATEGORIES),
        "source": parameter("string"), "confidence": parameter("number", default=1.0, least=0, most=1),
    },
    "list_facts": {"agent_id": AGENT, "category": CATEGORY, "limit": parameter("number", default=50)},
    "update_fact": {"agent_id": AGENT, "fact_id": parameter("number", required=True), "fact": TEXT,
                    "category": CATEGORY},
    "delete_fact": {"agent_id": AGENT, "fact_id": parameter("number", required=True)},
    "retrieve_memories": {
        "agent_id": AGENT, "query": TEXT, "limit": parameter("number", default=5),
        "include_conversations": parameter("boolean", default=True),
    },
    "backfill_embeddings": {"batch_size": parameter("number", default=50, least=1, most=200)},
    "store_conversation": {
        "agent_id": AGENT, "session_id": parameter("string"), "user_message": TEXT, "agent_response": TEXT,
        "tags": parameter("string[]"),
    },
    "search_conversations": {
        "agent_id": AGENT, "query": TEXT, "limit": parameter("number", default=10), "date_from": parameter("string"),
        "date_to": parameter("string"),
    },
    "export_memory": {"agent_id": AGENT, "file": parameter("string")},
    "import_memory": {"agent_id": AGENT, "file": TEXT},
}

FACTS = [
    ("preference", "Prefers dark mode in every editor"),
    ("background", "Lives in Krakow near the river"),
    ("pattern", "Goes running before breakfast"),
    ("project", "Builds a catalogue of lighthouses"),
    ("contact", "Manager is Anna Nowak"),
    ("decision", "Chose tabs over spaces"),
]
TIMES = ("created_at", "updated_at", "last_accessed_at", "stored_at")


class Timed:
    """Takes the times out of results, once they have been checked to be texts of this run."""

    def __init__(self, checks):
        self.checks = checks
        self.since = datetime.now(timezone.utc) - timedelta(seconds=1)

    def __call__(self, result):
        if isinstance(result, list):
            return [self(item) for item in result]
        if not isinstance(result, dict):
            return result
        for name, value in result.items():
            if name in TIMES and value is not None:
                sound = re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value) and (
                    self.since <= datetime.fromisoformat(value.replace("Z", "+00:00"))
                    <= datetime.now(timezone.utc) + timedelta(seconds=1))
                if not sound:
                    self.checks.that(f"R7 {name} is a time of this run as text", False, value)
        return {name: self(value) for name, value in result.items() if name not in TIMES or value is None}


async def check_store(checks, session, timed):
    for number, (category, fact) in enumerate(FACTS, 1):
        stored = await session.call("store_fact", {"fact": fact, "category": category})
        checks.equal(f"T30 R8 a {category}", [timed(stored), sorted(stored)],
                     [{"fact_id": number}, ["fact_id", "stored_at"]])
    again = await session.call("store_fact", {"fact": FACTS[0][1], "category": "preference"})
    checks.equal("T30 D2 the same fact of the same agent", timed(again),
                 {"fact_id": 1, "message": "Fact already exists, updated timestamp"})
    other = await session.call("store_fact", {
        "agent_id": "scout", "fact": FACTS[0][1], "category": "preference", "source": "interview", "confidence": 0.8})
    checks.equal("T30 D2 R23 the same fact of another agent is new", timed(other), {"fact_id": 7})
    await session.refused("R8 another category is rejected", "store_fact", {"fact": "x", "category": "rumour"},
                          "category",
                          "rumour", *CATEGORIES)
    await session.refused("R8 the category must be there", "store_fact", {"fact": "x"}, "category")
    await session.refused("T30 the fact must be there", "store_fact", {"category": "decision"}, "fact")
    await session.refused("T30 the fact is not empty", "store_fact", {"fact": "", "category": "decision"}, "empty")
    await session.refused("T30 confidence is 0 to 1", "store_fact",
                          {"fact": "x", "category": "decision", "confidence": 2}, "confidence")


async def check_list(checks, session, timed):
    def listed(number, category, fact, **fields):
        return {"id": number, "agent_id": "main", "fact": fact, "category": category, "source": "manual",
                "confidence": 1.0, "last_accessed_at": None, **fields}

    facts = await session.call("list_facts")
    first = facts["facts"][-1]
    checks.that("D2 the fact stored again was updated later", first["updated_at"] > first["created_at"], first)
    wanted = [listed(number, *fact) for number, fact in reversed(list(enumerate(FACTS, 1)))]
    checks.equal("T31 R7 the facts, the newest first", timed(facts), {"facts": wanted, "total_count": 6})
    checks.equal("T31 of one category", timed(await session.call("list_facts", {"category": "contact"})),
                 {"facts": [listed(5, *FACTS[4])], "total_count": 1})
    checks.equal("T31 a limit", timed(await session.call("list_facts", {"limit": 2})),
                 {"facts": wanted[:2], "total_count": 6})
    wanted = listed(7, *FACTS[0], agent_id="scout", source="interview", confidence=0.8)
    checks.equal("T31 R7 R23 of another agent", timed(await session.call("list_facts", {"agent_id": "scout"})),
                 {"facts": [wanted], "total_count": 1})
    checks.equal("T31 R23 of an agent without facts", await session.call("list_facts", {"agent_id": "nobody"}),
                 {"facts": [], "total_count": 0})


def check_fit(checks, row, found):
    """Takes out of a result how well it fits, once it has been checked."""
    fit = [found.pop(name) for name in ("relevance", "vector_score", "keyword_score")]
    checks.that(f"{row} the relevance, and the cosine and BM25 beside it",
                0 <= fit[0] <= 100 and -1 <= fit[1] <= 1 and fit[2] >= 0, fit)


async def check_backfill(checks, session):
    """Whatever the server has embedded by itself meanwhile: at last nothing remains, and then nothing is done."""
    for _ in range(20):
        done = await session.call("backfill_embeddings", {"batch_size": 2})
        checks.that("T37 a call embeds no more than requested", 0 <= done["processed"] <= 2, done)
        if done["remaining"] == 0:
            break
    checks.equal("T37 again, it does nothing", await session.call("backfill_embeddings"), {"processed": 0, "remaining": 0})
    await session.refused("T37 the size is a number", "backfill_embeddings", {"batch_size": "many"}, "batch_size")


async def check_conversations(checks, session, timed):
    turn = {"session_id": "monday", "user_message": "When does the ferry leave?",
            "agent_response": "At nine, from pier two.",
            "tags": ["travel"]}
    stored = await session.call("store_conversation", turn)
    checks.equal("T35 a turn", [timed(stored), sorted(stored)],
                 [{"conversation_id": 8}, ["conversation_id", "stored_at"]])
    again = await session.call("store_conversation", turn)
    checks.equal("T35 R9 the same turn again is another", timed(again), {"conversation_id": 9})
    bare = {"user_message": "Is the pharmacy open?", "agent_response": "Until six."}
    checks.equal("T35 a turn without session and tags", timed(await session.call("store_conversation", bare)),
                 {"conversation_id": 10})
    await session.refused("T35 what was answered must be there", "store_conversation", {"user_message": "x"},
                          "agent_response")
    await session.embedded()
    found = timed(await session.call("search_conversations", {"query": "ferry"}))
    wanted = {"agent_id": "main", **turn}
    for one in found["conversations"]:
        check_fit(checks, "T36", one)
    checks.equal("T36 R9 the turns that are found, whole", sorted(found["conversations"],
                                                                  key=lambda one: one["id"])[:2],
                 [{"id": 8, **wanted}, {"id": 9, **wanted}])
    checks.equal("T36 their number", found["total_count"], len(found["conversations"]))
    found = timed(await session.call("search_conversations", {"query": "pharmacy", "limit": 1}))
    check_fit(checks, "T36", found["conversations"][0])
    checks.equal("T36 R9 a turn without session and tags, and how many more there are", found, {
        "conversations": [{"id": 10, "agent_id": "main", "session_id": None, **bare, "tags": None}], "total_count": 3})
    today = time.strftime("%Y-%m-%d", time.gmtime())
    since = await session.call("search_conversations", {"query": "ferry", "date_from": today, "date_to": today})
    checks.that("T36 the days are part of the range", since["total_count"] >= 2, since)
    never = {"conversations": [], "total_count": 0}
    checks.equal("T36 days before", await session.call("search_conversations", {"query": "ferry",
                                                                                "date_to": "2020-01-01"}),
                 never)
    checks.equal("T36 days after", await session.call("search_conversations", {"query": "ferry",
                                                                               "date_from": "2100-01-01"}),
                 never)
    await session.refused("T36 an invalid day is refused", "search_conversations", {"query": "x",
                                                                                    "date_from": "monday"},
                          "date_from", "YYYY-MM-DD")
    checks.equal("T36 R23 another agent's", await session.call("search_conversations", {"agent_id": "scout",
                                                                                        "query": "ferry"}),
                 never)


async def check_retrieve(checks, session, timed):
    def found(number):
        category, fact = FACTS[number - 1]
        return {"id": number, "fact": fact, "category": category, "confidence": 1.0, "source": "manual"}

    async def retrieve(query, **more):
        answer = await session.call("retrieve_memories", {"query": query, **more})
        for one in answer["facts"] + answer["conversations"]:
            check_fit(checks, "T34", one)
            # Shows the previous use, if there was one.
            stamp = one.pop("last_accessed_at", None)
            if stamp is not None:
                timed({"last_accessed_at": stamp})
        return timed(answer)

    answer = await retrieve("where does the user live")
    checks.equal("T34 Q10 by meaning", answer["facts"][0], found(2))
    checks.equal("T34 five of each sort at most", [len(answer["facts"]), len(answer["conversations"])], [5, 3])
    checks.equal("T34 Q13 Z17 by the stem of a word", (await retrieve("run", limit=1))["facts"], [found(3)])
    answer = await retrieve("ferry", limit=1)
    checks.that("T34 conversations too", [sorted(one) for one in answer["conversations"]] == [
        ["agent_response", "id", "user_message"]] and answer["conversations"][0]["id"] in (8, 9), answer)
    answer = await retrieve("ferry", include_conversations=False)
    checks.equal("T34 without conversations", answer["conversations"], [])
    scouts = await retrieve("dark mode", agent_id="scout")
    checks.equal("T34 R23 an agent finds its own alone", scouts, {
        "facts": [{"id": 7, "fact": FACTS[0][1], "category": "preference", "confidence": 0.8, "source": "interview"}],
        "conversations": []})
    checks.equal("T34 R23 another agent finds nothing", await retrieve("dark mode", agent_id="nobody"),
                 {"facts": [], "conversations": []})
    answer = await retrieve("dark mode", limit=None, include_conversations=None, agent_id=None)
    checks.equal("T34 null is absent", [answer["facts"][0], len(answer["facts"])], [found(1), 5])
    end = time.monotonic() + TIMEOUT_SECONDS
    stamp = None
    while stamp is None and time.monotonic() < end:
        listed = (await session.call("list_facts", {"category": "preference"}))["facts"][0]
        timed(listed)
        stamp = listed["last_accessed_at"]
    checks.that("R7 R27 what was retrieved is stamped", stamp is not None, listed)
    await session.refused("T34 the query must be there", "retrieve_memories", {"query": None}, "query")


async def check_change(checks, session, timed):
    updated = await session.call("update_fact", {"fact_id": 2, "fact": "Moved to Gdynia by the sea"})
    checks.equal("T32 a new text", updated, {
        "fact_id": 2, "old_fact": FACTS[1][1], "new_fact": "Moved to Gdynia by the sea", "category": "background"})
    await session.embedded()
    answer = timed(await session.call("retrieve_memories", {"query": "which town is home", "limit": 1}))
    checks.equal("T32 E10 it is found by its new meaning", answer["facts"][0]["id"], 2)
    answer = await session.call("retrieve_memories", {"query": "Krakow", "limit": 1, "include_conversations": False})
    checks.that("T32 nothing has the old text", "Krakow" not in str(answer), answer)
    updated = await session.call("update_fact", {"id": 2, "fact": "Moved to Gdynia", "category": "decision"})
    checks.equal("T32 a new category", updated, {
        "fact_id": 2, "old_fact": "Moved to Gdynia by the sea", "new_fact": "Moved to Gdynia", "category": "decision"})
    await session.refused("T32 X3 no such fact", "update_fact", {"fact_id": 99, "fact": "x"},
                          "Fact with ID 99 not found")
    await session.refused("T32 R23 another agent's fact", "update_fact", {"agent_id": "scout", "fact_id": 2,
                                                                          "fact": "x"},
                          "Fact with ID 2 not found")
    await session.refused("T32 a conversation is not a fact", "update_fact", {"fact_id": 8, "fact": "x"},
                          "Fact with ID 8 not found")
    await session.refused("T33 R23 another agent's fact", "delete_fact", {"agent_id": "scout", "fact_id": 2},
                          "Fact with ID 2 not found")
    checks.equal("T33 a fact is deleted", await session.call("delete_fact", {"fact_id": 2}),
                 {"deleted_fact": "Moved to Gdynia"})
    await session.refused("T33 X3 it is gone", "delete_fact", {"fact_id": 2}, "Fact with ID 2 not found")
    listed = await session.call("list_facts")
    checks.equal("T33 it is not listed", [[fact["id"] for fact in listed["facts"]], listed["total_count"]], [[6, 5, 4,
                                                                                                              3, 1], 5])


async def check_similar(checks, session, timed):
    tea = await session.call("store_fact", {"fact": "Drinks green tea every morning", "category": "preference"})
    number = tea["fact_id"]
    checks.equal("D3 nothing is like it", sorted(tea), ["fact_id", "stored_at"])
    again = await session.call("store_fact", {"fact": "Drinks green tea every evening", "category": "preference"})
    checks.that("D3 the warning says what to do",
                "1 similar fact" in again["message"] and "update_fact" in again["message"],
                again)
    again.pop("message")
    checks.equal("D3 D4 it is stored all the same, with what is like it", timed(again), {
        "fact_id": number + 1, "similar_existing": [{"id": number, "fact": "Drinks green tea every morning"}]})
    other = await session.call("store_fact", {"fact": "Drinks green tea every night", "category": "pattern"})
    checks.equal("D3 of another category nothing is said", sorted(other), ["fact_id", "stored_at"])
    scouts = await session.call("store_fact", {"agent_id": "scout", "fact": "Drinks green tea every noon",
                                               "category": "preference"})
    checks.equal("D3 R23 of another agent nothing is said", sorted(scouts), ["fact_id", "stored_at"])
    await session.refused("D5 a password is refused", "store_fact",
                          {"fact": "password: hunter2", "category": "background"}, "fact:", "password")
    await session.refused("D5 T35 the message that holds one is named", "store_conversation",
                          {"user_message": "password: hunter2secret", "agent_response": "noted"}, "user_message:",
                          "password")
    await session.refused("T35 a message that is too long is named", "store_conversation",
                          {"user_message": "hello", "agent_response": "x" * 70_000}, "agent_response:", "at most 65536")


async def check_tables(checks, session):
    """A contact with fields of its own is a row of another table, not a fact."""
    contact = session.command("add", "Ben Baker, cook at the harbour", "--kind", "contact", "--agent", "main")["id"]
    count = (await session.call("list_facts", {"category": "contact"}))["total_count"]
    checks.equal("R8 a contact that is a text is a fact", count, 2)
    row = session.command("add", "--kind", "contact", "--agent", "main", "--body",
                          json.dumps({"name": "Ben Baker", "role": "cook at the harbour"}))["id"]
    facts = await session.call("list_facts", {"category": "contact"})
    checks.equal("T31 R13 a contact with fields is not a fact", [[fact["id"] for fact in facts["facts"]],
                                                           facts["total_count"]], [[contact, 5], 2])
    expected = f"Fact with ID {row} not found"
    await session.refused("T32 R13 nor is it updated as one", "update_fact", {"fact_id": row, "fact": "x"}, expected)
    await session.refused("T33 R13 nor deleted as one", "delete_fact", {"fact_id": row}, expected)
    await session.embedded()
    found = await session.call("retrieve_memories", {"query": "Ben Baker cook", "limit": 1})
    checks.equal("T34 R13 the fact behind it is found", [fact["id"] for fact in found["facts"]], [contact])
    await session.call("delete_fact", {"fact_id": contact})
    session.command("delete", str(row))
    task = session.command("add", "Call Ben Baker", "--kind", "task", "--agent", "main")["id"]
    again = await session.call("store_fact", {"fact": "Call Ben Baker", "category": "contact"})
    checks.equal("T30 D2 what another tool saved is a duplicate", again["fact_id"], task)
    listed = await session.call("list_facts", {"category": "project"})
    checks.that("T31 R8 it is listed in the nearest category",
                [task, "Call Ben Baker", "project"] in [[one[name] for name in ("id", "fact", "category")]
                                                        for one in listed["facts"]], listed)
    session.command("delete", str(task))


async def check_shared(checks, session):
    """An agent sees memories that belong to no agent, and cannot change them."""
    shared = session.command("add", "The bridge is closed on Sundays", "--kind", "background")["id"]
    listed = await session.call("list_facts", {"category": "background"})
    checks.equal("R23 what belongs to no agent is seen", [[one["id"], one["agent_id"]] for one in listed["facts"]][0],
                 [shared, None])
    for agent in ("main", "scout", None):
        expected = f"Fact with ID {shared} belongs to no agent"
        await session.refused(f"T32 R23 but not changed by {agent}", "update_fact",
                              {"agent_id": agent, "fact_id": shared, "fact": "x"}, expected)
        await session.refused(f"T33 R23 nor deleted by {agent}", "delete_fact", {"agent_id": agent, "fact_id": shared},
                              expected)
    session.command("delete", str(shared))


async def check_agents(checks, session, timed):
    """Everything of a server looks as the same agent: as "main", or as the configured one."""
    async def digest(of):
        contents = (await of.client.read_resource("memory://digest")).contents
        return contents[0].text

    one = json.loads((await session.client.read_resource("memory://1")).contents[0].text)
    checks.equal("R23 a fact is a resource", [one["content"], one["agent"]], [FACTS[0][1], "main"])
    checks.that("R23 the digest is of its facts", FACTS[2][1] in await digest(session), await digest(session))
    async with stdio_session(checks, session.binary, session.store, "auto", "--profile", "memorizer", "--agent",
                             "diver") as other:
        await other.read_tools()
        stored = await other.call("store_fact", {"fact": "Dives at dawn", "category": "pattern"})
        listed = timed(await other.call("list_facts"))["facts"]
        checks.equal("R23 a call that names no agent is of the server's",
                     [[fact["id"], fact["agent_id"]] for fact in listed], [[stored["fact_id"], "diver"]])
        found = (await other.call("retrieve_memories", {"query": "dawn"}))["facts"]
        checks.equal("R23 and finds its facts", [fact["id"] for fact in found], [stored["fact_id"]])
        checks.that("R23 the digest is of that agent", "Dives at dawn" in await digest(other), await digest(other))
        mains = await other.call("list_facts", {"agent_id": "main"})
        checks.equal("R23 another agent is named", mains, await session.call("list_facts"))
    for options, is_found in (((), True), (("--agent", "diver"), True), (("--agent", "diver", "--isolate"), False)):
        async with stdio_session(checks, session.binary, session.store, "auto", *options) as other:
            await other.read_tools()
            answer = (await other.client.call_tool("memory_search", {"query": FACTS[0][1]})).content[0].text
            checks.equal(f"R23 the facts of main are found by a server with {options}", FACTS[0][1] in answer, is_found)


async def check_exchange(checks, session):
    """The export goes into the configured folder, and nowhere else."""
    before = await session.call("list_facts")
    exported = await session.call("export_memory")
    file = session.store / "exports" / "memories.jsonl"
    checks.equal("T38 the file is in the export folder", exported["file"], str(file))
    checks.that("T38 nobody else can read it", file.stat().st_mode & 0o077 == 0 and
                file.parent.stat().st_mode & 0o077 == 0, oct(file.stat().st_mode))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    checks.equal("T38 it says what it is", lines[0], {"type": "memorist", "format": 4})
    records = [line for line in lines if line["type"] == "record"]
    checks.equal("T38 D7 every memory is a line", len(records), exported["memories"])
    checks.equal("T38 R23 only of this agent", sorted({str(line.get("agent")) for line in records}),
                 ["main"])
    again = await session.call("import_memory", {"file": "memories.jsonl"})
    checks.equal("T38 D7 the same again changes nothing", [again["created"], again["unchanged"], again["refused"]],
                 [0, len(records), 0])
    await session.call("delete_fact", {"fact_id": before["facts"][0]["id"]})
    back = await session.call("import_memory", {"file": "memories.jsonl"})
    checks.equal("T38 46 a deleted fact stays deleted", [back["created"], back["deleted"], back["unchanged"]],
                 [0, 1, len(records) - 1])
    after = await session.call("list_facts")
    checks.equal("T38 D7 the others are as they were", sorted(fact["fact"] for fact in after["facts"]),
                 sorted(fact["fact"] for fact in before["facts"][1:]))
    scouts = await session.call("import_memory", {"agent_id": "scout", "file": "memories.jsonl"})
    checks.equal("T38 R23 another agent cannot have it", [scouts["created"], scouts["refused"]], [0, len(records)])
    for name in ("../memories.jsonl", "/memories.jsonl", ".hidden"):
        await session.refused(f"T38 not outside the folder: {name!r}", "export_memory", {"file": name}, "file",
                              "plain name")
    (file.parent / "link.jsonl").symlink_to(file)
    await session.refused("T38 not through a link", "import_memory", {"file": "link.jsonl"}, "file", "plain file")
    await session.refused("T38 a file that is not there", "import_memory", {"file": "none.jsonl"}, "none.jsonl")


async def script(checks, session):
    timed = Timed(checks)
    await check_store(checks, session, timed)
    await check_list(checks, session, timed)
    await check_backfill(checks, session)
    await check_conversations(checks, session, timed)
    await check_retrieve(checks, session, timed)
    await check_change(checks, session, timed)
    await check_similar(checks, session, timed)
    await check_tables(checks, session)
    await check_shared(checks, session)
    await check_agents(checks, session, timed)
    await check_exchange(checks, session)


if __name__ == "__main__":
    run_script("memorizer", DOCUMENTED, script)

"""Calls of Mudpuppy's memory API reference, on a server that replaces it: every result whole, field by field.

    mudpuppy.py PATH_TO_MEMORIST

A check's name begins with the rows of the specification that it proves.
"""

import hashlib
import json
import os
import tempfile
import time
from pathlib import Path

from session import ids, parameter, run_script, stdio_session

TYPES = ["fact", "preference", "event", "insight", "task", "relationship"]
ID = {"id": parameter("number", required=True)}
DOCUMENTED = {
    "memory_add": {
        "content": parameter("string", required=True),
        "entryType": parameter("string", default="fact", of=TYPES),
        "source": parameter("string", default="manual"),
        "context": parameter("string"),
        "confidence": parameter("number", default=1.0, least=0, most=1),
        "importance": parameter("number", default=5, least=1, most=10),
        "tags": parameter("string[]"),
        "expiresAt": parameter("number"),
    },
    "memory_search": {
        "query": parameter("string", required=True),
        "mode": parameter("string", default="hybrid", of=["hybrid", "vector", "keyword"]),
        "limit": parameter("number", default=10),
        "entryTypes": parameter("string[]", of=TYPES),
        "minImportance": parameter("number", least=1, most=10),
        "minConfidence": parameter("number", least=0, most=1),
        "tags": parameter("string[]"),
    },
    "memory_get": ID,
    "memory_stats": {},
    "memory_delete": ID,
}

# The example of the document.
DARK_MODE = {
    "content": "User prefers dark mode for all applications",
    "entryType": "preference",
    "importance": 7,
    "tags": ["ui", "theme"],
}
# With these the store has the counts of the document's example of memory_stats.
OTHERS = [
    {"content": "Ben plays the cello", "entryType": "preference", "importance": 4, "source": "chat",
     "context": "Talk about music", "confidence": 1.0, "tags": ["music"]},
    {"content": "The login page issues OAuth tokens", "importance": 9, "tags": ["security"]},
    {"content": "Ana works at the harbour", "entryType": "fact", "importance": 6},
    {"content": "Ana went for a run along the river", "entryType": "event", "importance": 5},
    {"content": "Releases on Fridays go wrong more often", "entryType": "insight", "importance": 8},
    {"content": "Short meetings decide more", "entryType": "insight", "importance": 6},
    {"content": "Renew the certificate", "entryType": "task", "importance": 7},
]
DAY_MILLIS = 86_400_000
TIMES = ("createdAt", "updatedAt", "lastAccessedAt")


def untimed(entry, checks, since):
    """The entry without its times, once they have been checked to be milliseconds of this run."""
    moments = [entry[name] for name in TIMES if entry.get(name) is not None]
    checks.that("R1 times are Unix milliseconds", all(since - 1 <= at <= time.time() * 1000 + 1 for at in moments),
                entry)
    return {name: value for name, value in entry.items() if name not in TIMES}


async def check_add(checks, session):
    added = await session.call("memory_add", DARK_MODE)
    checks.equal("T1 T10 a new memory", added, {"id": 1, "created": True, "duplicate": False})
    again = await session.call("memory_add", DARK_MODE)
    checks.equal("T11 D1 the same content again", again, {"id": 1, "created": False, "duplicate": True})
    for number, other in enumerate(OTHERS, 2):
        checks.equal(f"T10 memory {number}", await session.call("memory_add", other),
                     {"id": number, "created": True, "duplicate": False})
    await session.refused("T2 content must be there", "memory_add", {}, "content")
    await session.refused("T2 content has at least one character", "memory_add", {"content": ""}, "content", "empty")
    await session.refused("T3 another entryType is rejected", "memory_add", {"content": "x", "entryType": "decision"},
                          "entryType", "decision", *TYPES)
    await session.refused("T6 confidence is 0 to 1", "memory_add", {"content": "x", "confidence": 1.1}, "confidence")
    await session.refused("T7 importance is 1 to 10", "memory_add", {"content": "x", "importance": 11}, "importance")
    await session.refused("T7 importance is a number", "memory_add", {"content": "x", "importance": "high"},
                          "importance")
    await session.refused("T9 seconds are refused as a time", "memory_add", {"content": "x", "expiresAt": 1_738_540_800},
                          "expiresAt", "milliseconds")
    added = await session.call("memory_add", {"content": "passed over", "colour": "red"})
    checks.equal("T1 an unknown parameter is passed over", added, {"id": 9, "created": True, "duplicate": False})
    await session.call("memory_delete", {"id": 9})


async def check_get(checks, session, since):
    got = await session.call("memory_get", {"id": 1})
    checks.equal("T23 an entry alone", sorted(got), ["entry"])
    wanted = {
        "id": 1, **DARK_MODE, "contentHash": hashlib.sha256(DARK_MODE["content"].encode()).hexdigest(),
        "source": "manual", "context": None, "confidence": 1.0, "expiresAt": None, "accessCount": 1,
    }
    checks.equal("T4 T5 T6 T8 T22 T23 T24 the entry", untimed(got["entry"], checks, since), wanted)
    checks.that("T24 the reply has its own access", got["entry"]["lastAccessedAt"] is not None, got)
    again = await session.call("memory_get", {"id": 1})
    checks.equal("T24 each access counts", again["entry"]["accessCount"], 2)
    other = await session.call("memory_get", {"id": 2})
    wanted = {"id": 2, **OTHERS[0], "contentHash": hashlib.sha256(OTHERS[0]["content"].encode()).hexdigest(),
              "expiresAt": None, "accessCount": 1}
    checks.equal("T4 T5 T6 every field that was given", untimed(other["entry"], checks, since), wanted)
    plain = (await session.call("memory_get", {"id": 3}))["entry"]
    checks.equal("T3 T4 the defaults", [plain["entryType"], plain["source"]], ["fact", "manual"])
    bare = (await session.call("memory_get", {"id": 4}))["entry"]
    checks.equal("T8 without tags", bare["tags"], [])
    checks.equal("T25 X3 no such entry", await session.call("memory_get", {"id": 99}),
                 {"error": "Memory entry not found: 99"})
    await session.refused("T22 the id must be there", "memory_get", {}, "id")
    expires = int(time.time() * 1000) + DAY_MILLIS
    added = await session.call("memory_add", {"content": "It expires", "expiresAt": expires})
    got = await session.call("memory_get", {"id": added["id"]})
    checks.equal("T9 expiresAt is kept", got["entry"]["expiresAt"], expires)
    await session.call("memory_delete", {"id": added["id"]})


async def check_search(checks, session, since):
    await session.embedded()
    answer = await session.search("UI preferences")
    checks.equal("T20 the names of an answer", sorted(answer), ["results", "total"])
    checks.equal("T20 the total", answer["total"], len(answer["results"]))
    first = untimed(answer["results"][0], checks, since)
    score, cosine, bm25 = [first.pop(name) for name in ("score", "vectorScore", "keywordScore")]
    checks.that("T20 a score, and the cosine and BM25 beside it", 0 < score <= 1 and 0 < cosine <= 1 and bm25 > 0,
                [score, cosine, bm25])
    # Tags are searched too: "ui" is a word of it.
    wanted = {"id": 1, **DARK_MODE, "source": "manual", "context": None, "confidence": 1.0,
              "matchedBy": ["vector", "keyword"]}
    checks.equal("T13 T14 T15 T20 R3 a hit", first, wanted)
    both = await session.search("dark mode")
    checks.equal("T20 Q8 found by both sides", both["results"][0]["matchedBy"], ["vector", "keyword"])
    asked = await session.search("what theme does the user like", mode="vector")
    checks.equal("T14 Q15 Z15 by meaning", [asked["results"][0]["id"], asked["results"][0]["matchedBy"]], [1,
                                                                                                           ["vector"]])
    exact = await session.search("dark mode", mode="keyword")
    checks.equal("T14 Q15 Z15 by word", [ids(exact), exact["results"][0]["matchedBy"]], [[1], ["keyword"]])
    filtered = await session.search("user preferences", entryTypes=["preference"], minImportance=5, limit=3)
    checks.equal("T15 T16 T17 Z15 the filtered search", ids(filtered), [1])
    await session.call("memory_add", {"content": "User may like tea", "confidence": 0.4, "tags": ["drink"]})
    every = "User Ben Ana login release meetings certificate"
    for name, filters, wanted in [
        ("T16 types", {"entryTypes": ["task", "event"]}, [5, 8]),
        ("T17 importance", {"minImportance": 8}, [3, 6]),
        ("T18 confidence", {"minConfidence": 0.5}, [1, 2, 3, 4, 5, 6, 7, 8]),
        ("T19 any of the tags", {"tags": ["music", "security"]}, [2, 3]),
    ]:
        checks.equal(f"{name} filter", sorted(ids(await session.search(every, limit=20, **filters))), wanted)
    checks.equal("T15 a limit", len((await session.search(every, limit=2))["results"]), 2)
    for number in range(12):
        await session.call("memory_add", {"content": f"Note {number} about sailing"})
    checks.equal("T15 ten without a limit", len((await session.search("sailing"))["results"]), 10)
    long = "A story about a lighthouse. " + "It went on and on. " * 200
    added = await session.call("memory_add", {"content": long})
    found = (await session.search("lighthouse", mode="keyword"))["results"]
    checks.equal("T20 the content is whole", [found[0]["id"], found[0]["content"]], [added["id"], long])
    await session.refused("T13 the query must be there", "memory_search", {}, "query")
    await session.refused("T14 another mode is rejected", "memory_search", {"query": "x", "mode": "psychic"}, "mode",
                          "hybrid")
    for number in range(9, added["id"] + 1):
        await session.call("memory_delete", {"id": number})


async def check_weights(checks, session):
    """The weights of the settings, in a server that has others."""
    found = (await session.search("dark mode", limit=20))["results"]
    checks.that("T21 Q3 meaning counts", any(hit["score"] > 0 for hit in found if hit["matchedBy"] == ["vector"]), found)
    settings = session.store.parent / "words.toml"
    settings.write_text("[search]\nvector_weight = 0.0\nkeyword_weight = 1.0\n")
    async with stdio_session(checks, session.binary, session.store, "auto", "--profile", "mudpuppy",
                             MEMORIST_CONFIG=str(settings)) as other:
        await other.read_tools()
        await other.search("dark mode")
        found = (await other.search("dark mode", limit=20))["results"]
    checks.that("T21 Q3 with another setting words alone count",
                found[0]["score"] == 1 and all(hit["score"] == 0 for hit in found if hit["matchedBy"] == ["vector"]),
                found)


async def check_no_model(checks, session):
    """A server without its model says so, and keyword results do not look like vector results."""
    async with stdio_session(checks, session.binary, session.store, "auto", "--profile", "mudpuppy",
                             MEMORIST_MODEL="none") as other:
        await other.read_tools()
        answer = await other.search("dark mode", mode="vector")
    checks.that("X1 T14 without a model a search by meaning says so", "keyword search only" in answer["warnings"][0], answer)
    checks.equal("X1 T20 its scores tell nothing", [[hit["score"], hit["matchedBy"]] for hit in answer["results"]],
                 [[0.0, ["keyword"]]])


async def check_others(checks, session):
    """What other tools keep in the store is there for these too, as the nearest of their types; what is a project's or
    an agent's is not."""
    for others in (["--project", "atlas"], ["--agent", "scribe"]):
        hidden = session.command("add", f"The harbour closes at nine, says {others[1]}", *others)["id"]
        seen = [await session.call("memory_get", {"id": hidden}), await session.call("memory_delete", {"id": hidden})]
        checks.equal(f"R24 of {others[1]} nothing is seen", seen,
                     [{"error": f"Memory entry not found: {hidden}"}, {"success": False, "deleted": False}])
        found = await session.search(f"The harbour closes at nine, says {others[1]}", limit=100)
        checks.that(f"R24 of {others[1]} nothing is found", hidden not in ids(found), found)
    other = session.command("add", "We use OAuth", "--kind", "decision")["id"]
    again = await session.call("memory_add", {"content": "We use OAuth"})
    checks.equal("T11 the content of a memory of another type", again, {"id": other, "created": False,
                                                                        "duplicate": True})
    entry = (await session.call("memory_get", {"id": other}))["entry"]
    checks.equal("T22 another type is shown as the nearest", entry["entryType"], "insight")
    read = json.loads((await session.client.read_resource(f"memory://{other}")).contents[0].text)
    checks.equal("T22 it is a resource too", [read["id"], read["content"]], [other, entry["content"]])
    found = await session.search("OAuth", entryTypes=["insight"], mode=None, limit=None, tags=None)
    checks.that("T16 it is found as that type, and null is absent", other in ids(found), found)
    await session.refused("T13 null is not a query", "memory_search", {"query": None}, "query")
    checks.equal("T29 it is deleted", await session.call("memory_delete", {"id": other}),
                 {"success": True, "deleted": True})
    answer = await session.search("dark mode", limit=2000)
    checks.that("T15 a limit without a bound", answer["total"] > 0, answer)
    await session.refused("T15 a limit is not negative", "memory_search", {"query": "x", "limit": -1}, "limit",
                          "negative")


async def check_stats(checks, session):
    stats = await session.call("memory_stats")
    times = [stats.pop("oldestEntry"), stats.pop("newestEntry")]
    checks.that("T27 the oldest and the newest", times == sorted(times) and None not in times, times)
    wanted = {
        "totalEntries": 8, "byType": {"fact": 2, "preference": 2, "event": 1, "insight": 2, "task": 1},
        "avgImportance": 6.5, "avgConfidence": 1.0, "totalAccesses": 5,
    }
    checks.equal("T26 T27 the statistics of the document", stats, wanted)


async def check_delete(checks, session):
    for number in range(1, 9):
        gone = await session.call("memory_delete", {"id": number})
        checks.equal(f"T28 T29 memory {number} is deleted", gone, {"success": True, "deleted": True})
    again = await session.call("memory_delete", {"id": 1})
    checks.equal("T29 it is not there", again, {"success": False, "deleted": False})
    for mode in ("hybrid", "vector", "keyword"):
        answer = await session.search("User prefers dark mode for all applications", mode=mode)
        checks.equal(f"T28 {mode}: no ghost", answer, {"results": [], "total": 0})


async def check_daily_log(checks, session):
    """On a server with a store and a home folder of its own."""
    with tempfile.TemporaryDirectory() as home:
        own = {"HOME": home, "MEMORIST_MODEL": "none", "MEMORIST_CONFIG": ""}
        async with stdio_session(checks, session.binary, Path(home) / "store", "auto", "--profile", "mudpuppy",
                                 **own) as other:
            await other.read_tools()
            for memory in (DARK_MODE, DARK_MODE, {"content": "of a file", "source": "file-index"}):
                await other.call("memory_add", memory)
        logs = list((Path(home) / ".mudpuppy/workspace/memory").glob("????-??-??.md"))
        lines = [line for log in logs for line in log.read_text().splitlines()]
        checks.equal("F1 a file with a header and a line", len(logs), 1)
        checks.equal("F1 the header", lines[:2], [f"# {logs[0].stem}", ""])
        checks.equal("T12 F4 a line for the new memory alone", len(lines), 3)
        checks.that("F2 the line", lines[2].endswith("** [preference] (manual) " + DARK_MODE["content"]), lines)


async def script(checks, session):
    since = time.time() * 1000
    empty = {"totalEntries": 0, "byType": {}, "avgImportance": 0.0, "avgConfidence": 0.0, "totalAccesses": 0,
             "oldestEntry": None, "newestEntry": None}
    checks.equal("T27 the statistics of an empty store", await session.call("memory_stats"), empty)
    checks.equal("T20 an empty store has no results", await session.search("anything"), {"results": [], "total": 0})
    await check_add(checks, session)
    await check_get(checks, session, since)
    await check_search(checks, session, since)
    await check_weights(checks, session)
    await check_no_model(checks, session)
    await check_others(checks, session)
    await check_stats(checks, session)
    await check_delete(checks, session)
    await check_daily_log(checks, session)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        # Its daily log must not be in the home folder of who runs this.
        settings = Path(folder) / "memorist.toml"
        settings.write_text('[sync]\ndaily_log = ""\nauto_index = false\n')
        os.environ["MEMORIST_CONFIG"] = str(settings)
        run_script("mudpuppy", DOCUMENTED, script)

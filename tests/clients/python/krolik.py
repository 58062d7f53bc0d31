"""Calls of Krolik's document, on a server that replaces it: every result whole, field by field.

    krolik.py PATH_TO_MEMORIST

A check's name begins with the rows of the specification that it proves. The server is one of the project "atlas", as it
is there one of the folder that it is started in.
"""

import json
import re
import time

from session import TIMEOUT_SECONDS, parameter, run_script, stdio_session

LINKS = ["caused", "related", "supersedes", "implements", "contradicts"]
TYPES = ["decision", "pattern", "bugfix", "fact", "preference", "event", "insight", "task", "relationship",
         "background"]
DOCUMENTED = {
    "krolik_mem_semantic_search": {
        "query": parameter("string", required=True), "project": parameter("string"),
        "limit": parameter("number", default=10), "minSimilarity": parameter("number", default=0.5),
        "hybrid": parameter("boolean", default=True),
    },
    "krolik_mem_link": {
        "fromId": parameter("number", required=True), "toId": parameter("number", required=True),
        "linkType": parameter("string", required=True, of=LINKS),
    },
    "krolik_mem_chain": {
        "memoryId": parameter("number", required=True),
        "direction": parameter("string", default="both", of=["forward", "backward", "both"]),
        "maxDepth": parameter("number", default=3),
    },
    "krolik_mem_outdated": {"project": parameter("string")},
    "krolik_mem_digest": {"project": parameter("string"), "feature": parameter("string")},
    # Named in the document, without its parameters.
    "krolik_context": {"project": parameter("string"), "feature": parameter("string"), "message": parameter("string")},
    # Not a tool of the document, which only has the function: without it nothing could be saved.
    "krolik_mem_save": {
        "type": parameter("string", required=True, of=TYPES), "title": parameter("string", required=True),
        "description": parameter("string", required=True),
        "importance": parameter("string", default="medium", of=["critical", "high", "medium", "low"]),
        "project": parameter("string"), "feature": parameter("string"), "tags": parameter("string[]"),
    },
}

# Ids are their places, from 1.
SAVED = [
    {"type": "decision", "title": "Authentication by OAuth",
     "description": "Users sign in with tokens that expire daily",
     "importance": "critical", "feature": "auth", "tags": ["security"]},
    {"type": "decision", "title": "Sessions in cookies", "description": "We keep user sessions in signed cookies",
     "importance": "high", "feature": "auth"},
    {"type": "decision", "title": "Blue buttons", "description": "All buttons are blue", "importance": "low"},
    {"type": "pattern", "title": "Repository layer", "description": "Every query goes through a repository"},
    {"type": "pattern", "title": "Early return", "description": "Guard clauses come first", "importance": "high"},
    {"type": "bugfix", "title": "Race in the queue", "description": "Lock before the pop", "feature": "queue"},
]


class Memories:
    """What a memory must be: as it was saved, with an id and times of this run. Uses are counted in the background, so
    that their number is only compared where a check waits for it."""

    def __init__(self, checks):
        self.checks = checks
        self.since = time.time() * 1000 - 1

    def __call__(self, result):
        if isinstance(result, list):
            return [self(item) for item in result]
        if not isinstance(result, dict):
            return result
        if "createdAtEpoch" in result:
            at = result["createdAtEpoch"]
            text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at / 1000)) + f".{at % 1000:03}Z"
            if not (self.since <= at <= time.time() * 1000 + 1 and result["createdAt"] == text):
                self.checks.that("R15 times of this run", False, result)
        if "usageCount" in result and not (isinstance(result["usageCount"], int) and result["usageCount"] >= 0):
            self.checks.that("R15 uses are counted", False, result)
        return {name: self(value) for name, value in result.items()
                if name not in ("createdAt", "createdAtEpoch", "usageCount")}


def memory(number, **fields):
    saved = SAVED[number - 1]
    return {"importance": "medium", "feature": None, "tags": [], "source": "manual", **saved, "id": number,
            "project": "atlas", **fields}


async def check_save(checks, session, seen):
    for number, given in enumerate(SAVED, 1):
        saved = await session.call("krolik_mem_save", given)
        checks.equal(f"R15 memory {number}", seen(saved), {"memory": memory(number), "created": True})
    names = [*memory(1), "usageCount", "createdAt", "createdAtEpoch"]
    checks.equal("R15 the names of a memory", sorted(saved["memory"]), sorted(names))
    await session.refused("R15 another type is rejected", "krolik_mem_save", {**SAVED[0], "type": "rumour"}, "type",
                          "rumour",
                          *TYPES)
    await session.refused("R15 another importance is rejected", "krolik_mem_save", {**SAVED[0], "importance": "huge"},
                          "importance", "critical", "medium")
    again = await session.call("krolik_mem_save", {**SAVED[3], "type": "fact", "feature": "store"})
    checks.equal("R15 a text that was there says so, and what it is", seen(again),
                 {"memory": memory(4), "created": False})
    other = await session.call("krolik_mem_save", {**SAVED[3], "project": "borealis"})
    checks.equal("R24 the same in another project is another", seen(other),
                 {"memory": memory(4, id=7, project="borealis"), "created": True})


async def check_suggestions(checks, session):
    """What resembles a new memory, in a project of its own."""
    first, second = [await session.call("krolik_mem_save", {
        "type": "fact", "title": title, "description": "The deploy script needs the VPN to be up before it starts",
        "project": "drafts"}) for title in ("Deploying", "Deployment")]
    checks.equal("T49 the names where nothing resembles it", sorted(first), ["created", "memory"])
    number = first["memory"]["id"]
    checks.equal("T49 a link worth making", [[one["id"], one["linkType"]] for one in second["suggestions"]],
                 [[number, "supersedes"]])
    checks.that("T49 D3 a warning names it", f"memory {number} " in second["warnings"][0], second)
    for saved in (first, second):
        session.command("delete", str(saved["memory"]["id"]), "--project", "drafts")


async def check_search(checks, session, seen):
    await session.embedded()
    answer = await session.call("krolik_mem_semantic_search", {"query": "login security", "minSimilarity": 0.2})
    checks.equal("T40 the names of an answer", sorted(answer), ["count", "results"])
    checks.equal("T40 the count", answer["count"], len(answer["results"]))
    cosine, bm25 = [[result.pop(name) for result in answer["results"]] for name in ("vectorScore", "keywordScore")]
    checks.that("T40 the cosine and BM25 beside it", all(-1 <= one <= 1 for one in cosine) and cosine[0] >= 0.2
                and all(one >= 0 for one in bm25), [cosine, bm25])
    relevance = [result.pop("relevance") for result in answer["results"]]
    checks.that("T40 relevance is 0 to 100, best first",
                100 >= relevance[0] > 0 and relevance == sorted(relevance)[::-1],
                relevance)
    checks.equal("T39 T40 Z16 login security finds authentication", seen(answer["results"][0]), {"memory": memory(1)})
    answer = await session.call("krolik_mem_semantic_search", {"query": "how do we handle user sessions"})
    checks.equal("T39 Z16 how do we handle user sessions", answer["results"][0]["memory"]["id"], 2)
    answer = await session.call("krolik_mem_semantic_search", {"query": "repository", "minSimilarity": 1})
    checks.equal("T39 Q7 words stay above the least similarity", [hit["memory"]["id"] for hit in answer["results"]],
                 [4])
    answer = await session.call("krolik_mem_semantic_search", {"query": "repository", "minSimilarity": 1,
                                                               "hybrid": False})
    checks.equal("T39 Q7 without words none is similar enough", [answer["results"], answer["count"]], [[], 0])
    answer = await session.call("krolik_mem_semantic_search", {"query": "login security", "hybrid": False})
    warning = answer["warnings"][0]
    nearest = int(re.search(r"memory (\d+),", warning)[1])
    checks.that("T39 Q7 Z16 the nearest is named, and how to find it", answer["count"] == 0 and all(
        word in warning for word in (SAVED[nearest - 1]["title"], "minSimilarity 0.5", "lower minSimilarity")), answer)
    answer = await session.call("krolik_mem_semantic_search", {"query": "login security", "hybrid": False,
                                                               "minSimilarity": float(warning.split()[-1])})
    checks.equal("T39 Q7 Z16 and that is so", [answer["results"][0]["memory"]["id"], answer.get("warnings")],
                 [nearest, None])
    answer = await session.call("krolik_mem_semantic_search", {"query": "how do we handle user sessions",
                                                               "hybrid": False})
    checks.that("T40 without words relevance is the similarity", answer["results"][0]["memory"]["id"] == 2 and all(
        50 <= hit["relevance"] <= 100 for hit in answer["results"]), answer)
    answer = await session.call("krolik_mem_semantic_search", {"query": "buttons sessions queue", "limit": 2})
    checks.equal("T39 a limit", answer["count"], 2)
    for project, number in (("atlas", 4), ("borealis", 7)):
        answer = await session.call("krolik_mem_semantic_search", {"query": "repository layer", "project": project})
        checks.equal(f"T39 R24 the memories of {project}", answer["results"][0]["memory"]["id"], number)
        others = [hit for hit in answer["results"] if hit["memory"]["project"] != project]
        checks.equal(f"T39 R24 and of {project} alone", others, [])
    shared = session.command("add", "The moon rises in the east. It has for long.", "--kind", "background")["id"]
    answer = await session.call("krolik_mem_semantic_search", {"query": "moon", "limit": 1})
    checks.equal("R24 R15 what is global is found too, titled by its first sentence",
                 seen(answer["results"][0]["memory"]), {
        "id": shared, "type": "background", "title": "The moon rises in the east.",
        "description": "The moon rises in the east. It has for long.", "importance": "medium", "project": None,
        "feature": None, "tags": [], "source": "manual"})
    session.command("delete", str(shared))
    contact = session.command("add", "Ben Baker keeps the observatory", "--kind", "contact", "--project", "atlas")["id"]
    answer = await session.call("krolik_mem_semantic_search", {"query": "observatory", "limit": 1, "minSimilarity": None,
                                                               "hybrid": None, "project": None})
    checks.equal("T39 another profile's memory is of the nearest type, and null is absent",
                 [answer["results"][0]["memory"][name] for name in ("id", "type")], [contact, "relationship"])
    session.command("delete", str(contact), "--project", "atlas")
    await session.refused("T39 the query must be there", "krolik_mem_semantic_search", {"query": None}, "query")


async def check_links(checks, session, seen):
    async def link(one, other, kind):
        return await session.call("krolik_mem_link", {"fromId": one, "toId": other, "linkType": kind})

    async def chain(**arguments):
        answer = seen(await session.call("krolik_mem_chain", arguments))
        checks.equal("T43 the count", answer["count"], len(answer["memories"]))
        return [[one["id"], one["depth"]] for one in answer["memories"]]

    answer = await link(1, 2, "caused")
    checks.equal("T41 a link", answer, {"fromId": 1, "toId": 2, "linkType": "caused", "created": True})
    answer = await link(1, 2, "caused")
    checks.equal("T42 R16 the same link again", answer, {"fromId": 1, "toId": 2, "linkType": "caused",
                                                         "created": False})
    answer = await link(1, 2, "related")
    checks.equal("T42 R16 another type of link", answer["created"], True)
    await link(2, 4, "implements")
    await link(4, 1, "related")
    await link(4, 5, "contradicts")
    await session.refused("T41 another type is rejected", "krolik_mem_link",
                          {"fromId": 1, "toId": 2, "linkType": "likes"},
                          "linkType", *LINKS)
    await session.refused("T41 X3 no such memory", "krolik_mem_link", {"fromId": 1, "toId": 99, "linkType": "caused"},
                          "Memory entry not found: 99")
    await session.refused("T41 R24 another project's memory", "krolik_mem_link",
                          {"fromId": 1, "toId": 7, "linkType": "caused"}, "Memory entry not found: 7", "project")
    await session.refused("T41 all are required", "krolik_mem_link", {"fromId": 1, "toId": 2}, "linkType")

    whole = seen(await session.call("krolik_mem_chain", {"memoryId": 1, "maxDepth": 0}))
    checks.equal("T43 T44 the start alone, at depth 0", whole, {"memories": [{**memory(1), "depth": 0}], "count": 1})
    answer = await session.call("krolik_mem_chain", {"memoryId": 1, "maxDepth": 20})
    checks.equal("T43 a depth without a bound", answer["count"], 4)
    checks.equal("T43 T44 R17 forward", await chain(memoryId=1, direction="forward"), [[1, 0], [2, 1], [4, 2], [5, 3]])
    checks.equal("T43 maxDepth", await chain(memoryId=1, direction="forward", maxDepth=2), [[1, 0], [2, 1], [4, 2]])
    checks.equal("T43 R17 backward", await chain(memoryId=5, direction="backward"), [[5, 0], [4, 1], [2, 2], [1, 3]])
    checks.equal("T43 T44 either way, each once", sorted(await chain(memoryId=1)), [[1, 0], [2, 1], [4, 1], [5, 2]])
    checks.equal("T44 X3 no such memory", await chain(memoryId=99), [])
    checks.equal("T44 R24 another project's memory", await chain(memoryId=7), [])
    await session.refused("T43 another direction is rejected", "krolik_mem_chain", {"memoryId": 1, "direction": "up"},
                          "direction", "forward", "backward", "both")


async def check_outdated(checks, session, seen):
    empty = {"memories": [], "count": 0}
    checks.equal("T45 nothing is outdated", await session.call("krolik_mem_outdated"), empty)
    await session.call("krolik_mem_link", {"fromId": 1, "toId": 3, "linkType": "supersedes"})
    outdated = {"memories": [memory(3)], "count": 1}
    checks.equal("T45 R17 what is superseded", seen(await session.call("krolik_mem_outdated")), outdated)
    checks.equal("T45 of its project", seen(await session.call("krolik_mem_outdated", {"project": "atlas"})), outdated)
    checks.equal("T45 R24 of another project", await session.call("krolik_mem_outdated", {"project": "borealis"}),
                 empty)
    answer = await session.call("krolik_mem_semantic_search", {"query": "blue buttons"})
    first = answer["results"][0]
    checks.equal("Q16 what is superseded is found, and says so", [first["memory"]["id"], first["supersededBy"]], [3, [1]])


async def check_digest(checks, session, seen):
    answer = await session.call("krolik_mem_digest")
    checks.that("T47 when it was made", re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z",
                                                     answer.pop("generatedAt")), answer)
    wanted = {
        "project": "atlas",
        "summary": {
            "totalMemories": 6, "byType": {"decision": 3, "pattern": 2, "bugfix": 1},
            "byImportance": {"critical": 1, "high": 2, "medium": 2, "low": 1},
        },
        "keyDecisions": [memory(2), memory(1)],
        "activePatterns": [memory(4), memory(5)],
        "recentBugfixes": [memory(6)],
        "outdatedCount": 1,
    }
    # By use, which is counted in the background; below, the test waits for it.
    answer["activePatterns"].sort(key=lambda one: one["id"])
    checks.equal("T46 T47 R24 the digest of the project", seen(answer), wanted)
    both = await session.call("krolik_context", {"message": "which tokens do users sign in with?"})
    both["digest"].pop("generatedAt")
    both["digest"]["activePatterns"].sort(key=lambda one: one["id"])
    checks.equal("T48 the context has the digest", seen(both["digest"]), wanted)
    checks.that("T48 and what the message needs", "#1 decision" in both.get("recalled", "") and
                both["recalled"].startswith("<memorist-recall>"), both)
    silent = await session.call("krolik_context", {"message": "go on"})
    checks.equal("T48 or nothing", sorted(silent), ["digest"])
    answer = seen(await session.call("krolik_mem_digest", {"feature": "auth"}))
    answer.pop("generatedAt")
    checks.equal("T46 of a feature", answer, {
        "project": "atlas",
        "summary": {"totalMemories": 2, "byType": {"decision": 2}, "byImportance": {"critical": 1, "high": 1}},
        "keyDecisions": [memory(2), memory(1)], "activePatterns": [], "recentBugfixes": [], "outdatedCount": 0})
    answer = seen(await session.call("krolik_mem_digest", {"project": "borealis"}))
    answer.pop("generatedAt")
    checks.equal("T46 R24 of another project", answer, {
        "project": "borealis",
        "summary": {"totalMemories": 1, "byType": {"pattern": 1}, "byImportance": {"medium": 1}},
        "keyDecisions": [], "activePatterns": [memory(4, id=7, project="borealis")], "recentBugfixes": [],
        "outdatedCount": 0})
    for number in range(5):
        await session.call("krolik_mem_save", {**SAVED[1], "title": f"Decision {number}"})
    # Used more often, whatever it matters and whenever it was saved. Uses are counted in the background.
    end = time.monotonic() + TIMEOUT_SECONDS
    used = {4: 0, 5: 0}
    while not used[4] > used[5] > 0 and time.monotonic() < end:
        for _ in range(5):
            await session.call("krolik_mem_chain", {"memoryId": 4, "maxDepth": 0})
        answer = await session.call("krolik_mem_digest")
        used = {one["id"]: one["usageCount"] for one in answer["activePatterns"]}
    checks.that("R15 T44 what a chain shows counts as used", used[4] > used[5] > 0, used)
    checks.equal("T47 the five newest decisions", [one["title"] for one in answer["keyDecisions"]],
                 [f"Decision {number}" for number in (4, 3, 2, 1, 0)])
    checks.equal("T47 the patterns used most", [one["id"] for one in answer["activePatterns"]], [4, 5])


async def check_delete(checks, session):
    session.command("delete", "1", "--project", "atlas")
    outdated = await session.call("krolik_mem_outdated")
    checks.equal("R16 a link goes with either end", outdated, {"memories": [], "count": 0})
    chain = await session.call("krolik_mem_chain", {"memoryId": 2})
    checks.that("T44 R16 what is deleted is not walked to", 1 not in [one["id"] for one in chain["memories"]], chain)
    answer = await session.call("krolik_mem_semantic_search", {"query": "blue buttons"})
    first = answer["results"][0]
    checks.equal("Q16 what is no longer superseded", [first["memory"]["id"], first.get("supersededBy")], [3, None])


async def check_without_project(checks, session):
    """A server without a project omits nothing if a call names none, like the document's functions."""
    async with stdio_session(checks, session.binary, session.store.parent / "all", "auto", "--profile", "krolik",
                             "--no-project") as other:
        await other.read_tools()
        for number, project in enumerate(("atlas", "atlas", "borealis"), 1):
            saved = await other.call("krolik_mem_save", {**SAVED[number - 1], "project": project})
            checks.equal(f"R24 memory {number} is of {project}", [saved["memory"]["id"], saved["memory"]["project"]],
                         [number, project])
        for target in (2, 3):
            linked = await other.call("krolik_mem_link", {"fromId": 1, "toId": target, "linkType": "supersedes"})
            checks.equal(f"T41 R24 memory 1 supersedes {target}", linked["created"], True)
        chain = await other.call("krolik_mem_chain", {"memoryId": 1})
        checks.equal("T44 R24 a chain", [one["id"] for one in chain["memories"]], [1, 2, 3])
        for project, wanted in ((None, [3, 2]), ("atlas", [2]), ("*", [3, 2])):
            outdated = await other.call("krolik_mem_outdated", {"project": project} if project else {})
            checks.equal(f"T45 R24 what is outdated in {project}", [one["id"] for one in outdated["memories"]], wanted)
        await other.embedded()
        answer = await other.call("krolik_mem_semantic_search", {"query": "login security", "minSimilarity": 0.2})
        checks.equal("T39 R24 a search", answer["results"][0]["memory"]["id"], 1)
        for number in (1, 2, 3):
            contents = (await other.client.read_resource(f"memory://{number}")).contents
            checks.equal(f"R24 memory {number} is a resource", json.loads(contents[0].text)["id"], number)
        digest = await other.call("krolik_mem_digest")
        checks.equal("T46 R24 the digest of all", [digest["project"], digest["summary"]["totalMemories"]], [None, 3])


async def script(checks, session):
    seen = Memories(checks)
    await check_save(checks, session, seen)
    await check_suggestions(checks, session)
    await check_search(checks, session, seen)
    await check_links(checks, session, seen)
    await check_outdated(checks, session, seen)
    await check_digest(checks, session, seen)
    await check_delete(checks, session)
    await check_without_project(checks, session)


if __name__ == "__main__":
    run_script("krolik", DOCUMENTED, script, "--project", "atlas")

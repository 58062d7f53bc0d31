"""Drives the default profile, whose answers are text, with the Python client over stdio and HTTP: a check or more
for each item of the list "what an agent needs" (15.1 to 15.17), then what any text, error or argument must not do.

    core.py PATH_TO_MEMORIST
"""

import asyncio
import json
import logging
import re
import subprocess
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

from mcp import MCPError

from session import Session, Talk, Warnings, compact, definitions, http_client, lines, saved_id, stdio_session, tokens
from check import Checks, HttpServer, binary_argument
from raw import Stdio, call

MAX_DEFINITIONS = 4_500
DAY = re.compile(r"\b(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d[+-]\d\d:\d\d)? (Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b")
MILLIS = re.compile(r"\d{13}")
WAITS = re.compile(r"(is|are) not embedded yet")
MISSING = 987_654
TOOLS = ["memory_add", "memory_search", "memory_get", "memory_update", "memory_delete", "memory_link", "memory_chain",
         "memory_digest", "memory_stats", "memory_list", "memory_undo"]
FILLERS = ["The ferry to the island leaves at nine", "Bread rises better in a warm kitchen",
           "The attic needs a new lamp", "Chess club meets in the library", "The old bridge is closed to lorries",
           "Mint grows behind the shed", "The museum shows maps of the moon", "Tram seven stops at the harbour",
           "The piano is tuned each spring", "Swallows nest below the roof"]


def line_of(answer, number):
    """The line of a memory in an answer, with the indented lines after it; empty if it has none."""
    found = re.search(rf"^#{number}\b.*(?:\n  .*)*", answer, re.MULTILINE)
    return found[0] if found else ""


def has(text, *words):
    """Whether a text has all of these words, in upper or lower case."""
    return all(str(word).lower() in text.lower() for word in words)


# What stands before the text of a memory: all that follows is that text.
TEXT_FOLLOWS = re.compile(r"\n\n([^\n]*to the end[^\n]*):\n")


async def text_and_labels(talk, number):
    """What there is of a memory beside its times, version and links."""
    got = await talk.said("memory_get", id=number)
    head, _, text = TEXT_FOLLOWS.split(got, 1)
    return [head.split("\n")[0].split("; saved ")[0], text]


async def undo_and_no_loss(checks, talk):
    long = "The contract with the printer in Ghent ends in March, " + "and it has to be renewed in writing " * 10
    one = await talk.save(long, importance=7, tags=["print"])
    other = await talk.save("Swans sleep on the lake")
    before = await text_and_labels(talk, one)
    said = await talk.said("memory_update", id=one, content="Bananas are yellow")
    was = re.search(r'was: "([^"]*)"', said)
    checks.that("15.1 an update says what was there, in 120 characters",
                was and long.startswith(was[1].rstrip("…")) and 100 <= len(was[1]) <= 121, said)
    checks.that("15.1 it warns of a text that has nothing in common",
                has(said, "shares no words", "memory_undo"), said)
    undone = await talk.said("memory_undo", id=one)
    checks.that("15.1 undo says what is back", "The contract with the printer" in undone, undone)
    checks.equal("15.1 undo puts an update back", await text_and_labels(talk, one), before)
    checks.that("15.1 it is found again", one in await talk.found("printer in Ghent", mode="keyword"))
    said = await talk.said("memory_update", id=other, content="Swans sleep on the lake at night")
    checks.that("15.1 an update of some words does not warn", "shares no words" not in said, said)
    for name, expect in (("words", "cygnets"), ("version", 1)):
        for tool, change in (("memory_update", {"content": "Owls hunt"}), ("memory_delete", {})):
            why = await talk.refused(tool, id=other, expect=expect, **change)
            checks.that(f"15.1 {tool} with other {name} than expected is refused",
                        has(why, "expect", "Swans sleep"), why)
    got = await talk.said("memory_get", id=other)
    checks.that("15.1 what was refused changed nothing", got.endswith("lake at night") and "version 2" in got, got)
    said = await talk.said("memory_update", id=other, content="Swans sleep on the pond at night", expect="swans lake")
    checks.that("15.1 with the words that it has it is done", "version 3" in said, said)
    got = await talk.said("memory_get", id=other, history=True)
    checks.that("15.1 the history has each version",
                all(f"version {n}" in got for n in (1, 2, 3)) and '"Swans sleep on the lake"' in got, got)
    await talk.said("memory_undo", id=other, version=1)
    got = await talk.said("memory_get", id=other)
    checks.that("15.1 back to a version by its number", got.endswith("Swans sleep on the lake"), got)
    why = await talk.refused("memory_undo", id=other, version=99)
    checks.that("15.1 a version that is not there is refused", has(why, "version", "99"), why)

    await talk.said("memory_link", fromId=one, toId=other, linkType="caused")
    await talk.said("memory_undo", id=one, linkedId=other)
    got = await talk.said("memory_get", id=one)
    checks.that("15.1 a link is removed", f"caused #{other}" not in got, got)
    await talk.said("memory_update", id=other, importance=8)
    await talk.said("memory_undo", id=other)
    why = await talk.refused("memory_undo", id=other)
    checks.that("15.1 an undo is not undone", has(why, "undone already", "version"), why)
    await talk.said("memory_link", fromId=one, toId=other, linkType="supersedes")
    hidden = other not in await talk.found("swans", mode="keyword")
    await talk.said("memory_undo", id=other)
    checks.that("15.1 undo of the other end takes a link back",
                hidden and other in await talk.found("swans", mode="keyword"))

    await talk.said("memory_link", fromId=one, toId=other, linkType="related")
    before = await text_and_labels(talk, one)
    said = await talk.said("memory_delete", id=one)
    checks.that("15.1 a deletion says what was there", has(said, "The contract with the printer", "memory_undo"), said)
    checks.that("15.1 what is deleted is not found", one not in await talk.found("printer in Ghent"))
    listed = await talk.said("memory_list", state="deleted")
    checks.that("15.1 it is listed as deleted", lines(listed) == [one] and "deleted 20" in listed, listed)
    why = await talk.refused("memory_get", id=one)
    checks.that("15.1 memory_get says that it can come back", has(why, "deleted", "memory_undo"), why)
    await talk.said("memory_undo", id=one)
    checks.equal("15.1 undo brings a deleted one back", await text_and_labels(talk, one), before)
    got = await talk.said("memory_get", id=one)
    checks.that("15.1 with its links", f"related to #{other}" in got, got)
    checks.that("15.1 and it is found", one in await talk.found("printer in Ghent", mode="keyword"))
    await talk.said("memory_delete", ids=[one, other])
    said = await talk.said("memory_undo", ids=[one, other])
    checks.that("15.1 several are undone at once",
                said.count("is restored") == 2 and {one, other} <= set(lines(await talk.said("memory_list"))), said)
    await talk.said("memory_delete", id=one)
    await asyncio.to_thread(talk.session.command, "purge", "--yes", str(one))
    why = await talk.refused("memory_undo", id=one)
    checks.that("15.1 what is purged does not come back", has(why, "not found"), why)


async def changing_back(checks, talk):
    jenkins = await talk.save("Deploys go through Jenkins", entryType="decision")
    actions = await talk.save("Deploys go through Actions", entryType="decision", supersedes=[jenkins])
    checks.equal("15.2 what is superseded is left out", await talk.found("deploys go through"), [actions])
    said = await talk.said("memory_add", content="Deploys go through Jenkins", entryType="decision")
    checks.that("15.2 the reply says that it is current again",
                has(said, f"#{jenkins}", "current again", "supersedes") and str(actions) in said, said)
    checks.equal("15.2 it is found, and the other is not", await talk.found("deploys go through"), [jenkins])
    got = await talk.said("memory_get", id=jenkins, history=True)
    checks.that("15.2 a new version, the link turned round",
                "version 2" in got and f"supersedes #{actions}:" in got and "superseded by" not in got, got)
    await talk.said("memory_undo", id=jenkins)
    checks.equal("15.2 undo changes that back, too", await talk.found("deploys go through"), [actions])
    got = await talk.said("memory_get", id=jenkins)
    checks.that("15.2 and the link", f"superseded by #{actions}:" in got, got)


async def the_same_text_again(checks, talk):
    one = await talk.save("The lab closes at six", tags=["lab"])
    said = await talk.said("memory_add", content="The lab closes at six", entryType="decision", importance=9,
                           tags=["hours"], confidence=0.8)
    checks.that("15.3 the reply says what was taken over",
                has(said, f"#{one}", "already", "type", "importance", "tags", "confidence"), said)
    line = line_of(await talk.search("lab closes", detail="full"), one)
    checks.that("15.3 the fields are merged",
                line.startswith(f"#{one} decision ") and "[importance 9; confidence 0.8; lab, hours]" in line, line)
    got = await talk.said("memory_get", id=one, history=True)
    checks.that("15.3 the version before is kept", "version 2 of" in got and "version 1," in got, got)
    said = await talk.said("memory_add", content="The lab closes at six")
    checks.that("15.3 a text alone takes nothing over", has(said, "already") and "taken over" not in said, said)
    got = await talk.said("memory_get", id=one)
    checks.that("15.3 and changes nothing", "importance 9" in got and "version 2 of" in got, got)
    listed = await talk.said("memory_list")
    checks.equal("15.3 the text is there once", lines(listed), [one])


async def one_call_to_replace(checks, talk):
    numbers = [await talk.save(text) for text in FILLERS[:3]]
    said = await talk.said("memory_add", content="The ferry to the island leaves at ten", supersedes=[numbers[0]],
                           contradicts=[numbers[1]], related=[numbers[2]])
    new = saved_id(said)
    got = await talk.said("memory_get", id=new)
    for phrase, number, text in zip(("supersedes", "contradicts", "related to"), numbers, FILLERS):
        checks.that(f"15.4 a save that {phrase}", f'{phrase} #{number}: "{text}"' in got, got)
    checks.that("15.4 what it links is not suggested", f'#{numbers[0]}: "' not in said, said)
    checks.that("15.4 and says which links it has",
                has(said, f"supersedes #{numbers[0]}", f"contradicts #{numbers[1]}", f"related to #{numbers[2]}"), said)
    why = await talk.refused("memory_add", content="It goes at eleven", supersedes=[MISSING])
    checks.that("15.4 a link to nothing is refused", has(why, "not found", MISSING), why)
    checks.equal("15.4 and nothing is saved", await talk.found("goes at eleven", mode="keyword"), [])
    await talk.said("memory_update", id=new, addTags=["boat", "time"])
    await talk.said("memory_update", id=new, addTags=["sea"], removeTags=["time"])
    got = await talk.said("memory_get", id=new)
    checks.that("15.4 tags are added and removed", "[boat, sea]" in got.split("\n")[0], got)

    for kind, before, after in [
        ("decision", "We use OR-Tools for route optimisation.", "VROOM optimises the routes instead of OR-Tools."),
        ("fact", "The API limits a customer to 100 requests per minute.",
         "Sales promised the customer 500 requests per minute."),
    ]:
        one = await talk.save(before, entryType=kind)
        await talk.session.embedded()
        said = await talk.said("memory_add", content=after, entryType=kind)
        checks.that(f"15.4 a save names what it may replace or contradict: {after}", f"#{one}:" in said, said)
        checks.that(f"15.4 and nothing else: {after}",
                    not any(f"#{number}:" in said for number in [*numbers, new]), said)
    said = await talk.said("memory_add", content="Otters were seen in the canal")
    checks.that("15.4 nothing is named where nothing fits", said.count("#") == 1, said)


async def lists_and_previews(checks, talk):
    said = await talk.said("memory_add", project="port", items=[
        {"content": "Crane one lifts 40 tons", "tags": ["crane"]}, {"content": ""},
        {"content": "Crane two lifts 60 tons", "importance": 8}, {"content": "Crane one lifts 40 tons"}])
    answers = said.split("\n")
    checks.that("15.5 a list is answered item by item", [line[:2] for line in answers if line[0] != " "] ==
                ["1.", "2.", "3.", "4."], said)
    checks.that("15.5 what is refused does not stop the others",
                has(said, "1. Saved as", "2. not saved: content", "3. Saved as", "4. #", "already"), said)
    listed = await talk.said("memory_list", project="port")
    checks.equal("15.5 what all have in common counts for each", len(lines(listed)), 2)
    said = await talk.said("memory_add", items=[{"content": f"Berth {n} is free"} for n in range(100)])
    checks.equal("15.5 100 at once", said.count("Saved as"), 100)
    why = await talk.refused("memory_add", items=[{"content": f"Pier {n} is free"} for n in range(101)])
    checks.that("15.5 101 are refused", has(why, "items", "100"), why)

    preview = await talk.said("memory_delete", query="crane lifts", project="port")
    token = re.search(r"confirm: (\S+)", preview)
    checks.that("15.5 a deletion by query answers with a preview",
                token and has(preview, "Crane one", "Crane two", "Not changed yet"), preview)
    checks.equal("15.5 the preview names what fits alone", len(lines(preview)), 2)
    checks.equal("15.5 and deletes nothing", len(await talk.found("crane", project="port", mode="keyword")), 2)
    why = await talk.refused("memory_delete", query="crane lifts", project="port", confirm="1-2.0000000000")
    checks.that("15.5 another token is refused", has(why, "confirm"), why)
    await talk.said("memory_update", id=lines(preview)[0], importance=3, project="port")
    why = await talk.refused("memory_delete", query="crane lifts", project="port", confirm=token[1])
    checks.that("15.5 a token of what has changed since is refused", has(why, "confirm"), why)
    preview = await talk.said("memory_update", query="crane lifts", project="port", importance=10, addTags=["heavy"])
    token = re.search(r"confirm: (\S+)", preview)[1]
    why = await talk.refused("memory_update", query="crane lifts", project="port", importance=1, confirm=token)
    checks.that("15.5 a token is of one change alone", has(why, "confirm"), why)
    await talk.said("memory_update", query="crane lifts", project="port", importance=10, addTags=["heavy"],
                    confirm=token)
    listed = await talk.said("memory_list", tags=["heavy"], project="port")
    checks.equal("15.5 a change by query is made with its token", listed.count("importance 10"), 2)
    preview = await talk.said("memory_delete", query="crane lifts", project="port")
    await talk.said("memory_delete", query="crane lifts", project="port", confirm=re.search(r"confirm: (\S+)",
                                                                                            preview)[1])
    checks.equal("15.5 a deletion by query is done with its token",
                 await talk.found("crane", project="port", mode="keyword"), [])
    await talk.session.embedded()
    await talk.save("A barge of gravel", project="port")
    change = {"query": "barge gravel", "project": "port", "expiresAt": "30d", "addTags": ["order 123456789012"]}
    token = re.search(r"confirm: (\S+)", await talk.said("memory_update", **change))[1]
    for other in ({"expiresAt": "2min"}, {"addTags": ["order 999999999999"]}):
        why = await talk.refused("memory_update", **{**change, **other}, confirm=token)
        checks.that(f"15.5 a token is of one time and one number: {other}", has(why, "confirm"), why)
    await talk.said("memory_update", **change, confirm=token)
    checks.that("15.5 a time like 30d is the same change in each call", "[order 123456789012]" in
                await talk.said("memory_list", project="port", tags=["order 123456789012"]))
    preview = await talk.said("memory_delete", query="zebra crossing licence")
    checks.equal("15.5 a query that nothing fits previews nothing", lines(preview), [])


async def marks(checks, talk):
    old = await talk.save("The code review is done by Lena every Friday at ten", entryType="pattern")
    new = await talk.save("Reviews: Tom, Mondays", entryType="pattern", supersedes=[old])
    doubt = await talk.save("Tom is away on Mondays", contradicts=[new])
    await talk.session.embedded()
    answer = await talk.search("reviews Tom Mondays")
    checks.that("15.6 a result says what it supersedes and what contradicts it",
                has(line_of(answer, new), f'  supersedes #{old}: "The code review',
                    f'  contradicted by #{doubt}: "Tom is'), answer)
    for mode in ("hybrid", "keyword", "vector"):
        answer = await talk.search("The code review is done by Lena every Friday at ten", mode=mode,
                                   includeSuperseded=True, limit=10)
        found = lines(answer)
        checks.that(f"15.6 {mode}: an outdated one never stands above its successor",
                    old in found and new in found and found.index(new) < found.index(old), answer)
        checks.that(f"15.6 {mode}: and says by what it is superseded",
                    f'  superseded by #{new}: "Reviews: Tom, Mondays"' in line_of(answer, old), answer)
    got = await talk.said("memory_get", id=new)
    checks.equal("15.6 what is contradicted is listed", lines(await talk.said("memory_list", state="contradicted")), [new])
    settled = await talk.save("Tom does the reviews, on Tuesdays", supersedes=[doubt])
    checks.equal("15.6 until that is settled", lines(await talk.said("memory_list", state="contradicted")), [])
    await talk.said("memory_undo", id=settled, linkedId=doubt)
    checks.that("15.6 memory_get has the beginning of what is linked", f'#{old}: "The code review is done' in got
                and f'#{doubt}: "Tom is away' in got, got)
    task = await talk.save("Ask Lena for her list", entryType="task")
    await talk.save("Tidy the shelf", entryType="task", status="done")
    soon = await talk.save("The parking permit is valid", expiresAt="3d")
    for only, wanted in (("superseded", [old]), ("contradicted", [new]), ("open", [task]), ("expiring", [soon])):
        checks.equal(f"15.6 memory_list: {only}", lines(await talk.said("memory_list", state=only)), wanted)


async def waiting(checks, talk):
    for text in ("The export shows an error when the disk is slow", "Errors of the import end up in the log",
                 "The weekly export goes to accounting"):
        await talk.save(text)
    await talk.session.embedded()
    # A new server loads its model while the client initialises: what is saved may have to wait, and is found at once all the same.
    code = "Q7X-7731"
    async with stdio_session(checks, talk.session.binary, talk.session.store) as session:
        new = Talk(session)
        number = await new.save(f"{code}: the mainsail was sewn wrong")
        answer = await new.search(f"error {code} in the export")
    # So many that not all are embedded when the search comes; and again, if a slow machine let it come too late.
    binary = [talk.session.binary, "--store", talk.session.store, "import", "--no-embed", "-"]
    for trial in range(5):
        rows = range(2_000 * trial, 2_000 * (trial + 1))
        made = "".join(json.dumps({"content": f"Row {row} of the ledger, made up"}) + "\n" for row in rows)
        await asyncio.to_thread(subprocess.run, binary, input=made.encode(), check=True, capture_output=True)
        waits = await talk.search("the ledger")
        if re.search(WAITS, waits):
            break
    checks.that("15.7 a search in time says that a memory is not embedded", re.search(WAITS, waits), waits)
    checks.that("15.7 an exact code saved a moment ago comes first", lines(answer)[:1] == [number], answer)
    await talk.session.embedded()
    answer = await talk.search(f"error {code} in the export")
    checks.that("15.7 and later, when nothing waits",
                lines(answer)[:1] == [number] and "not embedded yet" not in answer, answer)


async def dates(checks, talk):
    fair = await talk.save("Trade fair in Lyon", entryType="event", validFrom="2027-03-01", validTo="2027-03-03")
    lunch = await talk.save("Lunch with Bo", entryType="event", validFrom="2027-03-05T12:30:00+00:00")
    rent = await talk.save("The rent is 900 euros", validFrom="2020-01-01", validTo="2026-06-30")
    plain = await talk.save("Grass is green", expiresAt="2031-05-05")
    task = await talk.save("Book the room", entryType="task", due="2027-02-26")
    await talk.said("memory_update", id=plain, importance=6)
    answer = await talk.search("trade fair lunch rent grass room")
    for number, words in ((fair, "from 2027-03-01 Mon to 2027-03-03 Wed"), (lunch, "on 2027-03-05T"),
                          (rent, "from 2020-01-01 Wed to 2026-06-30 Tue"), (plain, "expires 2031-05-05 Mon"),
                          (task, "due 2027-02-26 Fri")):
        checks.that(f"15.8 a search says: {words}", words in line_of(answer, number), line_of(answer, number))
    await talk.said("memory_link", fromId=fair, toId=lunch, linkType="caused")
    await talk.said("memory_delete", id=rent)
    await talk.said("memory_get", id=plain, history=True)
    for tool, arguments in (("memory_list", {}), ("memory_list", {"state": "deleted"}), ("memory_chain", {"id": fair}),
                            ("memory_digest", {}), ("memory_stats", {})):
        await talk.said(tool, **arguments)
    await talk("memory_get", id=rent)
    for tool in ("memory_search", "memory_list", "memory_get", "memory_chain", "memory_digest", "memory_stats"):
        text = "\n".join(text for name, text in talk.log if name == tool)
        days = DAY.findall(text)
        wrong = [day for day in days if date.fromisoformat(day[0]).strftime("%a") != day[1]]
        checks.that(f"15.8 {tool} has days of the week, and the right ones", days and not wrong, wrong or text)
        bare = re.findall(r"\d{4}-\d\d-\d\d(?!T?[\d:+-]* (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun))", text)
        checks.equal(f"15.8 {tool} has none without", bare, [])
        checks.that(f"15.8 {tool} has no milliseconds", not MILLIS.search(text), text)
    await talk.said("memory_update", id=lunch, validFrom=None)
    checks.that("15.8 a date is taken away", "2027-03-05" not in await talk.said("memory_get", id=lunch))
    why = await talk.refused("memory_update", id=fair, validTo="2026-01-01")
    checks.that("15.8 an end before its beginning is refused", has(why, "validTo", "before"), why)


async def lean(checks, talk):
    texts = [f"{text}, as everybody in the house has known since the long winter of the year before last"
             for text in FILLERS]
    for text in texts:
        await talk.save(text)
    await talk.session.embedded()
    answer = await talk.search("What has everybody in the house known?", minRelevance=0)
    today = DAY.findall(answer)[0][0]
    pattern = rf"^#\d+ (?:0(?:\.\d{{1,3}})?|1)(?: \(exact match\))? {today} \w\w\w: The .*last$"
    checks.equal("15.9 a memory is one line, with nothing that is usual",
                 len(re.findall(pattern, answer, re.MULTILINE)), sum(text.startswith("The ") for text in texts))
    share = sum(map(len, texts)) / len(answer)
    checks.that(f"15.9 most of a search is memory ({share:.0%})", share >= 0.7, answer)
    checks.that("15.9 nothing is null or false", not re.search(r"\b(null|none|false|undefined)\b", answer), answer)
    short = await talk.search("What has everybody in the house known?", detail="ids")
    texts_shown = [re.search(r": (.*?)(?: \(\d+ characters\))?$", line)[1].strip("…")
                   for line in short.split("\n")[:10]]
    checks.that(f"15.9 ids have some of the text, and are short ({tokens(short) / 10:.0f} tokens)",
                all(len(shown) >= 20 and any(shown in text for text in texts) for shown in texts_shown)
                and tokens(short) / 10 <= 40, short)
    scores = await talk.search("ferry", explain=True, limit=1)
    checks.that("15.9 further scores come with explain alone",
                has(scores, "cosine", "BM25") and not has(answer, "cosine") and not has(answer, "BM25"), scores)
    said = await talk.said("memory_add", content=f"{texts[0]}, and longer")
    checks.equal("15.9 what resembles a new memory is said once", said.count(FILLERS[0]), 1)


async def within_tokens(checks, talk):
    words = " ".join(f"word{n:04}" for n in range(3_000))
    said = await talk.said("memory_add", content=words)
    one = saved_id(said)
    checks.that("15.10 a very long text is stored with a word on how it is found",
                has(said, "characters", "found") and str(len(words)) in said, said)
    for n in range(30):
        parts = " ".join(f"part{n}x{m}" + " half way" * (m == 250) for m in range(300))
        number = await talk.save(f"{n}. {parts}", related=[one], entryType="decision", importance=9)
    deep = {"detail": "full"}
    for name, tool, arguments in [
        ("a search", "memory_search", {"query": "word0005 part1x1", **deep, "limit": 50}),
        ("a list", "memory_list", {**deep, "limit": 50}), ("one memory", "memory_get", {"id": one}),
        ("one with history", "memory_get", {"id": one, "history": True}),
        ("30 memories", "memory_get", {"ids": list(range(one, number + 1))}),
        ("a chain", "memory_chain", {"id": one, **deep, "limit": 50}), ("a digest", "memory_digest", {}),
    ]:
        for most in (100, 500, 2_000):
            said = await talk.said(tool, **arguments, maxTokens=most)
            checks.that(f"15.10 {name} of at most {most} tokens",
                        0 < tokens(said) <= most, f"{tokens(said):.0f} tokens: {said[:200]}")
        if tool != "memory_digest":
            checks.that(f"15.10 {name} uses at least a third of that", tokens(said) > most / 3, f"{tokens(said):.0f}")
    await talk.save("A list: " + " ".join(f"item{n}" for n in range(3_000)))
    for word in ("word0007", "word1500", "word2990", "item2990"):
        answer = await talk.search(word, mode="keyword", limit=1)
        checks.that(f"15.10 a snippet is cut around {word}", re.search(rf"\b{word}\b", answer) and len(answer) < 1_200,
                    answer)
    got = await talk.said("memory_get", id=one, passage="word2000", maxTokens=300)
    checks.that("15.10 memory_get has a passage, with many links", "word2000 " in got and tokens(got) <= 300, got)
    got = await talk.said("memory_get", id=number, passage="zebra unicorn")
    checks.that("15.10 a passage that is not there is said, briefly",
                "None of these words" in got and tokens(got) <= 400, got)
    got = await talk.said("memory_get", id=number, passage="half way", maxTokens=300)
    checks.that("15.10 memory_get has a passage", "half way" in got and tokens(got) <= 300, got)
    rebuilt, offset = "", 0
    while len(rebuilt) < len(words) and offset is not None:
        got = await talk.said("memory_get", id=one, offset=offset, maxTokens=2_000)
        what, text = TEXT_FOLLOWS.split(got, 1)[1:]
        following = re.search(r"read on with offset (\d+)\)", what)
        rebuilt += text.removesuffix("…") if following else text
        offset = int(following[1]) if following and int(following[1]) > offset else None
    checks.that("15.10 the pages of memory_get are the whole text", rebuilt == words, rebuilt[-300:])


async def by_time(checks, talk):
    """Memories of last month come from a file of the command line."""
    now = time.time()
    old = [("The dredger left", 41, 3), ("Mooring fees went up", 40, 40), ("The quay was painted", 20, 20)]
    records = [json.dumps({"type": "memorist", "format": 2})] + [
        json.dumps({"type": "record", "ulid": f"01M85EHAH4W763SCZQ4FQ0296{'ABC'[at]}", "version": 1, "content": text,
                    "entryType": "fact", "tags": ["Port"], "createdAt": int((now - created * 86_400) * 1000),
                    "updatedAt": int((now - updated * 86_400) * 1000)})
        for at, (text, created, updated) in enumerate(old)]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write("\n".join(records) + "\n")
        file.flush()
        await asyncio.to_thread(talk.session.command, "import", file.name)
    dredger, fees, quay = [(await talk.found(text, mode="keyword"))[0] for text, *_ in old]
    new = await talk.save("The crane is rented", entryType="decision", tags=["crane"])
    far = await talk.save("Buoys are red", project="sea")
    day = date.fromtimestamp(now - 30 * 86_400).isoformat()
    for name, arguments, wanted in [
        ("all, the newest first", {}, [new, quay, fees, dredger]),
        ("saved since 7d", {"createdAfter": "7d"}, [new]),
        ("saved since a date", {"createdAfter": day}, [new, quay]),
        ("saved before last week", {"createdBefore": "last week"}, [quay, fees, dredger]),
        ("changed since 7d", {"updatedAfter": "7d"}, [new, dredger]),
        ("changed since last month, the last changed first", {"updatedAfter": "30d", "sort": "updated"},
         [new, dredger, quay]),
        ("last changed before a date", {"updatedBefore": day}, [fees]),
        ("between two times", {"createdAfter": "30d", "createdBefore": "10d"}, [quay]),
        ("a type", {"entryTypes": ["decision"]}, [new]), ("a tag", {"tags": ["port"]}, [quay, fees, dredger]),
        ("a project", {"project": "sea"}, [far, new, quay, fees, dredger]),
    ]:
        checks.equal(f"15.11 memory_list: {name}", lines(await talk.said("memory_list", **arguments)), wanted)
    for name, arguments, wanted in [
        ("saved since 7d", {"createdAfter": "7d"}, [new]),
        ("saved before last week", {"createdBefore": "last week"}, [fees, dredger, quay]),
        ("changed since 7d", {"updatedAfter": "7d"}, [new, dredger]),
        ("changed before", {"updatedBefore": "30d"}, [fees]),
    ]:
        found = await talk.found("fees dredger quay crane", **arguments)
        checks.equal(f"15.11 memory_search: {name}", sorted(found), sorted(wanted))
    await talk.said("memory_update", id=fees, importance=8)
    line = line_of(await talk.search("fees", updatedAfter="7d"), fees)
    checks.that("15.11 what changed is found as changed", f"changed {date.today().isoformat()}" in line, line)
    pages, offset = [], 0
    while offset is not None and len(pages) < 9:
        listed = await talk.said("memory_list", limit=2, offset=offset)
        pages += lines(listed)
        more = re.search(r"offset (\d+)", listed)
        offset = int(more[1]) if more else None
    checks.equal("15.11 pages of a list", pages, [new, quay, fees, dredger])


async def tasks(checks, talk):
    yesterday, tomorrow = (date.today() + timedelta(days=days) for days in (-1, 1))
    late = await talk.save("Pay the harbour fee", entryType="task", due=yesterday.isoformat())
    soon = await talk.save("Write the log", entryType="task", due="tomorrow", status="open")
    done = await talk.save("Oil the winch", entryType="task", status="done")
    free = await talk.save("Paint the hull", entryType="task")
    note = await talk.save("The winch is old")
    line = line_of(await talk.search("harbour fee"), late)
    checks.that("15.12 an overdue task is shown, and as such", f"(overdue since {yesterday}" in line, line)
    listed = await talk.said("memory_list", state="open", sort="due")
    checks.that("15.12 open tasks, the first due first", lines(listed)[:2] == [late, soon] and sorted(lines(listed)) ==
                sorted([late, soon, free]), listed)
    checks.that("15.12 with status and date", f"(open, due {tomorrow}" in line_of(listed, soon)
                and "(open)" in line_of(listed, free), listed)
    checks.equal("15.12 overdue tasks", lines(await talk.said("memory_list", state="overdue")), [late])
    await talk.said("memory_update", id=late, status="done")
    await talk.said("memory_update", id=free, status="dropped")
    checks.equal("15.12 done and dropped ones are not open", lines(await talk.said("memory_list", state="open")), [soon])
    answer = await talk.search("winch hull fee log")
    checks.that("15.12 but are found, with their status", "(done" in line_of(answer, late)
                and "(dropped)" in line_of(answer, free) and "(done)" in line_of(answer, done), answer)
    checks.that("15.12 a note has none", not re.search(r"\((open|done|dropped)", line_of(answer, note)), answer)
    got = await talk.said("memory_get", id=free, history=True)
    checks.that("15.12 the history says what changed", "then (update) status open → dropped" in got, got)
    why = await talk.refused("memory_update", id=note, status="done")
    checks.that("15.12 only a task has a status", has(why, "status", "tasks only"), why)
    await talk.said("memory_update", id=soon, due=None)
    checks.that("15.12 a due date is taken away", "due" not in (await talk.said("memory_get", id=soon)).split("\n")[0])
    why = await talk.refused("memory_update", id=soon, status="someday")
    checks.that("15.12 another status is refused", has(why, "status", "someday", "open, done, dropped"), why)

    at = int((time.time() + 1.5) * 1000)
    brief = await talk.save("The guest code is 4711", expiresAt=at)
    checks.that("15.12 before it expires it is found", brief in await talk.found("guest code", mode="keyword"))
    await asyncio.sleep(max(0.0, at / 1000 - time.time()) + 0.05)
    checks.that("15.12 afterwards it is not", brief not in await talk.found("guest code", mode="keyword"))
    got = await talk.said("memory_get", id=brief)
    checks.that("15.12 but can be read by its id", has(got, "expired", "The guest code is 4711"), got)
    checks.equal("15.12 and listed", lines(await talk.said("memory_list", state="expired")), [brief])
    await talk.said("memory_undo", id=brief)
    checks.that("15.12 and revived", brief in await talk.found("guest code", mode="keyword"))


async def catching_up(checks, talk):
    digest = await talk.said("memory_digest")
    checks.that("15.13 the digest of an empty store says so", has(digest, "0 memories"), digest)
    words = " ".join(f"ballast{n}" for n in range(200))
    first = await talk.save("Salt is bad for paint", importance=9)
    long = await talk.save(f"Ships need {words}")
    digest = await talk.said("memory_digest")
    checks.that("15.13 a store without decisions gets a useful page", has(digest, "Salt is bad", "Ships need"), digest)
    cut = re.findall(r"(\S+?)(?:…|\.\.\.)", line_of(digest, long))
    checks.that("15.13 nothing is cut within a word", cut and all(word in words.split() for word in cut), digest)
    old = await talk.save("We sail by motor", entryType="decision")
    new = await talk.save("We sail by wind", entryType="decision", importance=8, supersedes=[old])
    await talk.save("Wind is rare in July", contradicts=[new])
    await talk.save("Mend the jib", entryType="task", due="2027-03-01")
    await talk.save("Ada Moor repairs sails", entryType="contact", body={"name": "Ada Moor", "role": "sailmaker"})
    await talk.said("memory_update", id=first, importance=10)
    digest = await talk.said("memory_digest")
    for name, wanted in [("open tasks", ["Mend the jib", "2027-03-01 Mon"]), ("contradictions", ["Wind is rare"]),
                         ("decisions", ["We sail by wind"]), ("contacts", ["Ada Moor"]),
                         ("important facts", ["importance 10"]), ("the outdated by name", ["We sail by motor"]),
                         ("whole sentences", ["Salt is bad for paint"])]:
        checks.that(f"15.13 the digest has {name}", has(digest, *wanted), digest)
    shown = lines(digest)
    checks.equal("15.13 each memory once", [number for number in set(shown) if shown.count(number) > 1], [])
    day = DAY.findall(digest)
    checks.that("15.13 and dates", len(day) >= 5, digest)
    checks.that("15.13 what changed since is named", ", changed" in line_of(digest, first), digest)
    await talk.save("Gulls eat chips", importance=3)
    recent = await talk.said("memory_digest", since="1d")
    later = await talk.said("memory_digest", since="2031-01-01")
    checks.that("15.13 since when is a choice", "\nNew or changed\n" in recent and "\nNew or changed\n" not in later, later)
    for most in (80, 150):
        digest = await talk.said("memory_digest", maxTokens=most)
        checks.that(f"15.13 a digest of at most {most} tokens", tokens(digest) <= most and has(digest, "more: memory_list"),
                    f"{tokens(digest):.0f}: {digest}")


async def relevance(checks, talk):
    for text in FILLERS[:5]:
        await talk.save(text)
    await talk.session.embedded()
    answer = await talk.search("quantum chromodynamics of gluons")
    checks.that("17.4 a search that finds nothing near says so", "robably not here" in answer, answer)
    weaker = re.search(r"(\d+) weaker ones?: minRelevance: 0", answer)
    checks.that("17.4 what is hardly relevant is left out and counted",
                weaker and int(weaker[1]) + len(lines(answer)) == 5, answer)
    answer = await talk.search("quantum chromodynamics of gluons", minRelevance=0)
    checks.that("17.4 unless it is requested", len(lines(answer)) == 5 and "weaker" not in answer, answer)
    answer = await talk.search(FILLERS[0])
    checks.that("17.4 one that finds it does not", "robably not here" not in answer and lines(answer), answer)
    found = await talk.found("quantum chromodynamics of gluons", minRelevance=0.3)
    checks.equal("17.4 nothing reaches a least relevance", found, [])


async def sessions(checks, talk):
    asked = await talk.save("Where did Ada hide the amber key?", session="talk", turn=7)
    answered = await talk.save("Under the third stone", session="talk")
    after = await talk.save("We should tell Bert", session="talk", turn="9")
    got = await talk.said("memory_get", id=answered)
    checks.that("17.3 a turn without a number is the next one", "turn 8 of session talk" in got, got)
    said = await talk.search("where is the amber key", explain=True, neighbors=1)
    line = line_of(said, answered)
    checks.that("17.3 an answer is found by its question, which is named",
                f"also by the words of #{asked}" in said[said.index(line):], said)
    checks.that("17.3 the turns around it come along",
                has(said[said.index(line):], f'before it #{asked}: "Where did', f'after it #{after}: "We should'), said)
    said = await talk.search("where is the amber key")
    checks.that("17.3 unless they are not requested", "before it" not in said and "also by" not in said, said)
    why = await talk.refused("memory_search", query="key", neighbors=6)
    checks.that("17.3 too many neighbors are refused", has(why, "neighbors", "0 to 5"), why)
    why = await talk.refused("memory_add", content="No session", turn=3)
    checks.that("17.3 a turn of no session is refused", has(why, "turn", "session"), why)


async def names(checks, talk):
    await talk.save("Masts are made of spruce", project="other", tags=["Wood", "mast"], agent="builder")
    await talk.save("Oars are made of ash", project="rowing", tags=["wood"])
    await talk.save("Tides come twice a day", tags=["sea"])
    stats = await talk.said("memory_stats", project="*", agent="*")
    checks.that("15.14 memory_stats names projects, agents and tags",
                has(stats, "projects:", "other 1", "rowing 1", "agents:", "builder 1", "wood 2", "sea 1"), stats)
    stats = await talk.said("memory_stats")
    checks.that("15.14 without a project, too", has(stats, "other", "rowing"), stats)
    for tool, more in (("memory_search", {"query": "oars"}), ("memory_list", {}), ("memory_stats", {}),
                       ("memory_digest", {})):
        said = await talk.said(tool, project="othre", **more)
        checks.that(f"15.14 {tool} says that there is no such project, and the nearest name",
                    has(said, 'project "othre"', 'did you mean "other"?'), said)
        said = await talk.said(tool, project="rowing", **more)
        checks.that(f"15.14 {tool} says nothing of a project that is there", "did you mean" not in said, said)
    for tool, more in (("memory_search", {"query": "oars"}), ("memory_list", {}), ("memory_digest", {})):
        said = await talk.said(tool, **more)
        checks.that(f"15.14 {tool} without a project names those that there are",
                    has(said, "Only global memories", "other 1", "rowing 1"), said)
    said = await talk.search("oars", project="zzz")
    checks.that("15.14 where no name is near it says who names them",
                has(said, 'project "zzz"', "memory_stats") and "did you mean" not in said, said)


async def what_models_write(checks, talk):
    one = await talk.save("The anchor weighs 40 kg", type="Preference", tags="gear, Iron", confidence="0.9",
                          importance="8")
    line = line_of(await talk.search("anchor", detail="full"), one)
    checks.that("15.15 type, tags as text, confidence and importance as text",
                line.startswith(f"#{one} preference ") and "[importance 8; confidence 0.9; gear, Iron]" in line, line)
    two = await talk.save("The chain is rusty", related=f"#{one}", category="Bugfix", importance="High")
    line = line_of(await talk.search("chain", detail="full"), two)
    checks.that("15.15 category, importance High, an id as text", line.startswith(f"#{two} bugfix ")
                and "importance 8" in line, line)
    await talk.save("The deck is clean")
    for name, arguments in [("entryType", {"entryType": "Preference"}), ("type", {"type": "preferences"}),
                            ("entryTypes as text", {"entryTypes": "preference"}), ("tags without case",
                                                                                   {"tags": ["GEAR"]}),
                            ("tags as one text", {"tags": "iron"}), ("tag", {"tag": "Gear"}),
                            ("a limit as text", {"tags": ["gear"], "limit": "5"})]:
        checks.equal(f"15.15 a search with {name}", await talk.found("anchor chain deck", **arguments), [one])
        arguments.pop("limit", None)
        checks.equal(f"15.15 a list with {name}", lines(await talk.said("memory_list", **arguments)), [one])
    for name, given in [("text", str(one)), ("#", f"#{one}"), ("a list of one", [one]),
                        ("a list of texts", [f"#{one}"])]:
        got = await talk("memory_get", id=given)
        checks.that(f"15.15 an id as {name}", not talk.problem and "The anchor weighs" in got, got)
    for name, given in [("ids", {"ids": [one]}), ("ids as text", {"ids": f"#{one}"}), ("memoryId", {"memoryId": one})]:
        got = await talk("memory_get", **given)
        checks.that(f"15.15 memory_get with {name}", not talk.problem and "The anchor weighs" in got, got)
    said = await talk("memory_update", id=f"#{one}", importance="9", entryType="Decision", addTags="new, blue")
    got = await talk.said("memory_get", id=one)
    checks.that("15.15 an update, too", not talk.problem and has(got, f"#{one} decision", "importance 9", "new, blue"),
                said)
    said = await talk("memory_link", **{"from": f"#{one}", "to": str(two), "type": "Caused"})
    checks.that("15.15 a link, too", not talk.problem and "caused" in said, said)
    person = await talk.save("Lena Moor writes the log", entryType="contact", body='{"name": "Lena Moor", "role": "mate"}')
    said = await talk.said("memory_get", ids=[person, one])
    checks.that("15.15 a body as a text; and memories of several ids are whole", '"role":"mate"' in said, said)
    for name, tool, arguments, says in [
        ("a time in the past as it was sent", "memory_add", {"content": "x", "expiresAt": "2023-08-01"},
         ["expiresAt", "2023-08-01"]),
        ("an invalid time", "memory_search", {"query": "x", "createdAfter": "sometime"},
         ["createdAfter", "sometime"]),
        ("an invalid status", "memory_add", {"content": "x", "entryType": "task", "status": "someday"},
         ["status", "someday"]),
        ("a span that ends first", "memory_add", {"content": "x", "validFrom": "2027-02-01", "validTo": "2027-01-01"},
         ["validTo"]),
        ("an invalid number", "memory_add", {"content": "x", "confidence": "sure"}, ["confidence", "sure"]),
        ("an invalid id", "memory_get", {"id": "the first"}, ["id", "the first"]),
        ("an invalid type", "memory_add", {"content": "x", "entryType": "rumour"}, ["entryType", "rumour", "fact"]),
        ("an unknown parameter", "memory_search", {"query": "x", "colour": "red"}, ["colour"]),
        ("a parameter that is misspelt", "memory_search", {"query": "x", "limmit": 3}, ["limmit", "did you mean", "limit"]),
        ("items that are one text", "memory_add", {"items": "Hello, world"}, ["items"]),
    ]:
        why = await talk.refused(tool, **arguments)
        own = [word for word in ("body.", "valid_", "expires_", "_id", "f64", "i64", "[features]", "config")
               if word in why]
        checks.that(f"15.15 an error names {name}, in the words of the caller",
                    why and has(why, *says) and not own and not MILLIS.search(why) and len(why) < 600, f"{own} {why}")
    wordings = {}
    for tool, arguments in [
        ("memory_get", {"id": MISSING}), ("memory_get", {"ids": [MISSING]}), ("memory_delete", {"id": MISSING}),
        ("memory_delete", {"ids": [MISSING]}), ("memory_update", {"id": MISSING, "importance": 3}),
        ("memory_chain", {"id": MISSING}), ("memory_undo", {"id": MISSING}),
        ("memory_undo", {"id": MISSING, "version": 1}), ("memory_link", {"fromId": MISSING, "toId": one, "linkType":
                                                                         "related"}),
        ("memory_link", {"fromId": one, "toId": MISSING, "linkType": "related"}),
        ("memory_add", {"content": "y", "supersedes": [MISSING]}),
        ("memory_get", {"ids": [MISSING, MISSING]}), ("memory_delete", {"ids": [MISSING, MISSING]}),
    ]:
        said = await talk(tool, **arguments)
        checks.that(f"15.15 {tool} {compact(arguments)}: not found is an error", talk.problem, said)
        wordings.setdefault("\n".join(dict.fromkeys(said.split("\n"))), tool)
    checks.equal("15.15 not found has one wording", list(wordings), [f"Memory entry not found: {MISSING} (one of a project needs its project, or \"*\")"])


async def what_is_meant(checks, talk):
    """43.1, 43.5 to 43.7: what models write for nothing, times, ids, edits by query, and forgetting."""
    bugs = [await talk.save(f"Bug HRB-{n}: duplicate webhook deliveries from the {who} queue")
            for n, who in ((31, "billing"), (32, "mail"), (33, "search"))]
    await talk.session.embedded()
    for given in ("null", "undefined", "None", "", " "):
        empty = {"tags": [given], "source": given, "context": given, "due": given, "supersedes": given}
        said = await talk("memory_add", content=f"The pier is {given!r}", **empty, importance=given)
        got = said if talk.problem else await talk.said("memory_get", id=saved_id(said))
        kept = [word for word in ("[", "source", "context", "due", "supersedes") if word in got]
        checks.equal(f"43.1 {given!r} is left out", (talk.problem, kept), (False, []))
    one = await talk.save("The port opens at six", project="null")
    got = await talk.said("memory_get", id=one)
    checks.that("43.1 a project called null is no project", "null" not in got.split("\n")[0], got)
    two = await talk.save("The gate is green", project="")
    got = await talk.said("memory_get", id=two)
    checks.that("43.1 an empty project is global", "project" not in got.split("\n")[0], got)
    found = await talk.found("gate green", tags=[""], entryTypes=[], limit=0, createdAfter="")
    checks.equal("43.1 a search with empty parameters", found[:1], [two])
    said = await talk("memory_search", query=42)
    checks.that("43.1 a number as a query", not talk.problem, said)
    for when in ("2026", "2026-11", "20261101", "last 7 days", "past 24 hours", "-7d", "a week ago"):
        found = await talk.found("gate green", createdAfter=when)
        checks.equal(f"43.5 saved after {when}", found[:1], [two])
    for query in (f"#{two}", f"memory://{two}"):
        checks.equal(f"43.5 {query} is a memory", (await talk.found(query))[:1], [two])
    said = await talk.said("memory_add", content="Gates are painted each spring", entryType="decision",
                           body={"title": "Paint"})
    checks.that("43.5 a title takes the content for its description",
                '"description":"Gates are painted each spring"' in await talk.said("memory_get", id=saved_id(said)))

    preview = await talk.said("memory_delete", query="HRB-31")
    checks.equal("43.6 a code previews the one that has it", lines(preview), [bugs[0]])
    preview = await talk.said("memory_delete", query="webhook mail")
    checks.equal("43.6 all words are meant", lines(preview), [bugs[1]])
    checks.equal("43.6 and not some", lines(await talk.said("memory_delete", query="webhook harbour")), [])
    preview = await talk.said("memory_delete", query="duplicate webhook deliveries")
    checks.that("43.6 a preview says how some of them are chosen", has(preview, "ids"), preview)
    preview = await talk.said("memory_update", query="duplicate webhook deliveries", status="done")
    checks.that("43.6 a preview says what would fail", preview.count("would be skipped") == 3, preview)
    said = await talk.said("memory_delete", id=bugs[0])
    checks.that("43.7 a deletion names the purge", has(said, f"memorist purge {bugs[0]}"), said)
    why = await talk.refused("memory_get", id=bugs[0])
    checks.that("43.7 a deleted text is not shown", has(why, "was deleted", "includeDeleted") and "webhook" not in why, why)
    got = await talk.said("memory_get", id=bugs[0], includeDeleted=True)
    checks.that("43.7 but with includeDeleted", has(got, "deleted", "webhook"), got)


async def descriptions(checks, talk):
    tools = {tool.name: tool for tool in await talk.session.read_tools()}
    said = {name: {key: field.get("description", "") for key, field in tool.input_schema["properties"].items()}
            for name, tool in tools.items()}
    for name, text, words in [
        ("which fields a body has", said["memory_add"]["body"], ["contact", "name", "email", "decision", "title"]),
        ("what supersedes what", said["memory_add"]["supersedes"], ["replaces"]),
        ("which end of a link is which", compact(said["memory_link"]), ["linking memory", "fromId supersedes toId"]),
        ("when to update and when to save a new one", tools["memory_update"].description, ["correct", "changed",
                                                                                      "supersedes"]),
        ("that what has expired is hidden", said["memory_add"]["expiresAt"], ["hidden afterwards"]),
        ("that a due task stays", said["memory_add"]["due"], ["stays visible"]),
        ("what undo undoes", tools["memory_undo"].description, ["update", "delete", "link"]),
        ("how long a deletion can be undone", tools["memory_delete"].description, ["30 days", "memory_undo"]),
    ]:
        checks.that(f"15.16 a description says {name}", has(text, *words), text)
    whole = compact(said)
    checks.that("15.16 no parameter is offered that is only for tuning",
                not any(word in whole for word in ("minSimilarity", "vectorWeight")), whole[:300])
    undocumented = [f"{tool}.{key}" for tool, fields in said.items() for key, text in fields.items() if not text]
    checks.equal("15.16 each parameter has a description", undocumented, [])
    # They are tried: what they say is what happens.
    why = await talk.refused("memory_add", content="Ann", entryType="contact", body={"emial": "a@b.example"})
    checks.that("15.16 a wrong field of a body is answered with the right ones",
                has(why, "emial", "name", "email", "company", "role"), why)
    old, new = await talk.save("Tea at four"), await talk.save("Tea at five")
    await talk.said("memory_link", fromId=new, toId=old, linkType="supersedes")
    found = await talk.found("tea at", mode="keyword")
    checks.equal("15.16 the first end of supersedes is the one that stays", found, [new])


async def languages(checks, talk):
    mia = await talk.save("Mia hat am 14. März 2019 Geburtstag und wünscht sich ein rotes Fahrrad.")
    for text in ("Wir treffen uns am Dienstag im Café am Markt.", "Die Heizung wird jeden Herbst gewartet.",
                 "Leon isst keine Erdnüsse.", "Das Auto steht in der Tiefgarage.", *FILLERS[:5]):
        await talk.save(text)
    await talk.session.embedded()
    answer = await talk.search("Wann hat Mia Geburtstag?")
    checks.that("15.17 words lead in a language that the model hardly knows", lines(answer)[:1] == [mia], answer)
    answer = await talk.search("Wann wurde Mia geboren?")
    checks.that("15.17 a name alone leads, too", lines(answer)[:1] == [mia], answer)
    note = "\n".join(re.findall(r"^Note: .*", answer, re.MULTILINE))
    checks.that("15.17 the result says that the model hardly knows the language", has(note, "language"), answer)
    checks.that("15.17 and names the multilingual model", has(note, "multilingual"), answer)
    for query in ("When does the ferry leave?", "chess club library", "E4032"):
        answer = await talk.search(query)
        checks.that(f"15.17 {query!r} is not taken for another language", not has(answer, "language"), answer)


async def no_pretending(checks, talk):
    """A text cannot look like another memory's line, or like a note of the server."""
    breaks = ["\n", "\r\n", "\r", "\u2028", "\u2029", "\x85", "\x0b", "\x0c"]
    fake = "real" + "".join(f"{end}#{at} fake: text\nNote: fake" for at, end in enumerate(breaks, 900))
    one = await talk.save(fake, context=f"spoken{fake}", source=f"me{fake}", tags=[f"tag{fake}"], entryType="decision")
    two = await talk.save("the other", supersedes=[one])
    await talk.save("a doubt", contradicts=[two])
    for tool, arguments in [
        ("memory_search", {"query": "fake", "includeSuperseded": True, "detail": "full"}),
        ("memory_search", {"query": "other"}), ("memory_list", {}), ("memory_list", {"state": "superseded"}),
        ("memory_get", {"id": one}), ("memory_get", {"id": two}), ("memory_get", {"ids": [one, two]}),
        ("memory_get", {"id": one, "passage": "fake"}), ("memory_chain", {"id": two}),
        ("memory_digest", {}), ("memory_stats", {}), ("memory_delete", {"query": "fake"}),
        ("memory_update", {"id": one, "importance": 7}), ("memory_undo", {"id": one}), ("memory_delete", {"id": one}),
        ("memory_get", {"id": one}), ("memory_list", {"state": "deleted"}), ("memory_undo", {"id": one}),
    ]:
        said = await talk(tool, **arguments)
        # Every way in which a reader may break lines.
        # The text of a single memory is the rest of the answer, and as it was given.
        said = TEXT_FOLLOWS.split(said, 1)[0]
        wrong = [line for line in said.splitlines() if re.match(r"#9\d\d|Note: fake", line)]
        checks.that(f"no line of another: {tool} {compact(arguments)}", not wrong, wrong)
    project = await talk.save("in a project", project="p\n#950 fake")
    wrong = []
    for tool, name in (("memory_stats", "*"), ("memory_list", "*"), ("memory_digest", "p\n#950 fake"),
                       ("memory_list", "q\n#951 fake")):
        said = await talk.said(tool, project=name)
        wrong += [line for line in said.splitlines() if re.match(r"#95\d", line)]
    checks.that("no line of another: the name of a project", project and not wrong, wrong)


async def bad_arguments(checks, talk, over_http):
    # What is more than a message may have over HTTP ends a connection: see raw.py.
    for megabytes in (3,) if over_http else (3, 10):
        huge = "a " * (megabytes << 19)
        for tool, arguments in (("memory_add", {"content": huge}), ("memory_search", {"query": huge})):
            try:
                why = await talk.refused(tool, **arguments)
            except MCPError as error:
                why = str(error)
            checks.that(f"{megabytes} MB for {tool} are refused", has(why, "at most") and len(why) < 600, why[:300])
    checks.that("it lives on after that", has(await talk.said("memory_stats"), "No memories"))
    tools = await talk.session.read_tools()
    for tool in tools:
        nulls = {name: None for name in tool.input_schema["properties"]}
        said = await talk(tool.name, **nulls)
        missing = talk.problem and len(said) < 300 and has(said, "missing") or talk.problem and has(said, "content") \
            or not talk.problem
        checks.that(f"{tool.name} with null for everything: as if left out", missing, said)
        for name in tool.input_schema["properties"]:
            for odd in ({}, [], "", -1, 2**70, {"a": [1]}, "\0", True, 1e300):
                said = await talk(tool.name, **{name: odd})
                if talk.problem and ("panic" in said or "internal error" in said or len(said) > 900 or not said):
                    checks.that(f"{tool.name} with {name}={odd!r} answers well", False, said)
    checks.that("it lives on after odd arguments", "memor" in await talk.said("memory_stats"))


ITEMS = [undo_and_no_loss, changing_back, the_same_text_again, one_call_to_replace, lists_and_previews, marks, waiting,
         dates, lean, within_tokens, by_time, tasks, catching_up, relevance, sessions, names, what_models_write, what_is_meant, descriptions, languages,
         no_pretending]


async def check_tools(checks, talk):
    tools = await talk.session.read_tools()
    checks.equal("tools/list has the tools", [tool.name for tool in tools], TOOLS)
    checks.equal("no tool has an outputSchema", [tool.name for tool in tools if tool.output_schema], [])
    cost = definitions(tools)
    checks.that(f"tools/list costs less than {MAX_DEFINITIONS} tokens ({cost:.0f})", cost < MAX_DEFINITIONS)


async def over_stdio(checks, binary, folder, item, *more):
    async with stdio_session(checks, binary, folder / "store", "auto") as session:
        await run(checks, session, item, *more)


async def over_http(checks, binary, folder, item, *more):
    store = folder / "store"
    with HttpServer(checks, binary, store) as server:
        async with http_client(server, "auto") as client:
            await run(checks, Session(checks, client, binary, store), item, *more)


async def run(checks, session, item, *more):
    talk = Talk(session)
    await item(checks, talk, *more)
    checks.equal(f"{item.__name__}: all answers are text alone", talk.structured, [])


def check_surrogates(checks, binary, folder):
    """What the client cannot send: halves of a character, and arguments that are null."""
    server = Stdio(checks, binary, folder / "store")
    line = json.dumps(call(1, "memory_add", content="cut inside \ud83d", tags=["\udc00"])).encode()
    server.write(line + b"\n")
    result = server.answer().get("result", {})
    checks.that("a text cut inside an emoji is saved", not result.get("isError") and "Saved as #1" in
                json.dumps(result), result)
    got = server.ask(call(2, "memory_get", id=1))["result"]["content"][0]["text"]
    checks.that("with a replacement character", got.endswith("cut inside \ufffd"), got)
    for number, tool in enumerate(TOOLS, 3):
        answer = server.ask({"jsonrpc": "2.0", "id": number, "method": "tools/call",
                             "params": {"name": tool, "arguments": None}})
        text = answer.get("result", {}).get("content", [{}])[0].get("text", "")
        checks.that(f"{tool} with arguments that are null", text and "panic" not in text
                    or answer.get("error", {}).get("code") == -32602, answer)
    server.end("after odd requests")


def main():
    binary = binary_argument()
    warnings = Warnings()
    logging.getLogger().addHandler(warnings)
    failed = 0
    for transport in (over_stdio, over_http):
        way = transport.__name__.removeprefix("over_")
        checks = Checks(f"python core {way}")
        for item, more in [(check_tools, ()), *((item, ()) for item in ITEMS), (bad_arguments, (way == "http",))]:
            with tempfile.TemporaryDirectory() as folder, checks.section(f"{item.__name__} runs to its end"):
                asyncio.run(transport(checks, binary, Path(folder), item, *more))
        checks.equal("the client warns of nothing", warnings.texts, [])
        warnings.texts.clear()
        failed += checks.failed
    checks = Checks("python core raw")
    with tempfile.TemporaryDirectory() as folder, checks.section("runs to its end"):
        check_surrogates(checks, binary, Path(folder))
    sys.exit(1 if failed + checks.failed else 0)


if __name__ == "__main__":
    main()

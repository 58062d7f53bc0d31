"""Plays the exercise of `bench-data/src/agents/exercise.jsonl` on the default profile: conversations and a project are
saved by fixed calls, questions are answered by searches, and mistakes are made and undone. Then three kinds of work, of
`work.jsonl` beside it: a program, a household, an operations team.

    exercise.py PATH_TO_MEMORIST [--json FILE]

Prints how many questions are found in the first five, how many tokens that took and how much of them was memory,
how many mistakes could be undone, and the tokens of typical results in the profiles `core` and `full`. Of the three
kinds of work: how many questions are found in the first three, tokens a search, hints of a save that name a memory of
another topic, and recalls that give the memory that was wanted, or another one. With --json the figures are written to
a file, too.
"""

import asyncio
import json
import re
import sys
import tempfile
from pathlib import Path

from session import Talk, compact, definitions, lines, saved_id, stdio_session, text_of, tokens
from check import Checks, binary_argument

AGENTS = Path(__file__).resolve().parents[3] / "bench-data" / "src" / "agents"
EXERCISE, WORK = AGENTS / "exercise.jsonl", AGENTS / "work.jsonl"
FIRST = 5
FIRST_AT_WORK = 3
LEAST_FOUND = 0.85
LEAST_MEMORY = 0.70
LEAST_FOUND_AT_WORK = 0.85
MOST_WRONG_HINTS = 0.20
MOST_WRONG_RECALLS = 0.10
QUESTION = {"query": "Where do travel times come from, and how are they kept?", "project": "atlas"}


class Player:
    """Plays lines of the exercise. `ids` are what the calls with a name were given."""

    def __init__(self, checks, talk, first=FIRST):
        self.checks, self.talk, self.first = checks, talk, first
        self.ids = {}
        # Of each memory: its text, and the project that it was saved in.
        self.texts, self.projects = {}, {}
        self.parts = []
        self.undone = self.mistakes = self.without_project = 0
        self.failed = []

    def resolved(self, value):
        """A value with ids for the names in it."""
        if isinstance(value, str) and value.startswith("$"):
            return self.ids[value[1:]]
        if isinstance(value, list):
            return [self.resolved(one) for one in value]
        if isinstance(value, dict):
            return {name: self.resolved(one) for name, one in value.items()}
        return value

    async def play(self, line):
        if "part" in line:
            self.parts.append({"part": line["part"], "asked": 0, "found": 0, "tokens": 0.0, "memory": 0.0})
        elif "ask" in line:
            await self.ask(line)
        elif "mistake" in line:
            await self.mistake(line)
        else:
            await self.call(line["call"], line["with"], line.get("as"))

    async def call(self, tool, given, name=None):
        """A call that must succeed. One on a memory is made in its project."""
        arguments = self.resolved(given)
        number = arguments.get("id", arguments.get("toId"))
        project = self.projects.get(number) if "project" not in arguments else None
        self.without_project += project is not None
        said = await self.talk(tool, **({"project": project} if project else {}) | arguments)
        if self.talk.problem:
            self.failed.append(f"{tool} {compact(given)}: {said}")
            return
        if tool == "memory_add":
            number = saved_id(said)
            self.projects[number] = arguments.get("project")
            if name:
                self.ids[name] = number
        if "content" in arguments:
            self.texts[number] = arguments["content"]

    async def ask(self, line):
        await self.talk.session.embedded()
        answer = await self.talk.search(line["ask"], **self.resolved(line.get("with", {})))
        shown = lines(answer)
        wanted = [self.ids[name] for name in line["expect"]]
        part = self.parts[-1]
        part["asked"] += 1
        part["tokens"] += tokens(answer)
        part["memory"] += sum(tokens(self.texts[number]) for number in shown if self.texts[number] in answer)
        if any(number in shown[:self.first] for number in wanted):
            part["found"] += 1
        else:
            places = [shown.index(number) + 1 for number in wanted if number in shown]
            print(f"not in the first {self.first}: {line['ask']} ({f'in place {min(places)}' if places else 'not at all'})")

    async def state(self, name):
        """What must be as before: text, type, status and labels, and whether a search for its text finds it."""
        number = self.ids[name]
        project = {"project": self.projects[number]} if self.projects[number] else {}
        got = await self.talk("memory_get", id=number, **project)
        head, _, text = got.partition("\n\n")
        await self.talk.session.embedded()
        found = await self.talk.found(self.texts[number], **project)
        return [head.split("\n")[0].split("; saved ")[0], text, number in found[:FIRST]]

    async def mistake(self, line):
        name, mistake = line["damaged"], line["mistake"]
        number, text = self.ids[name], self.texts[self.ids[name]]
        self.mistakes += 1
        before = await self.state(name)
        await self.call(mistake["call"], mistake["with"])
        self.texts[number] = text
        damaged = await self.state(name)
        project = {"project": self.projects[number]} if self.projects[number] else {}
        said = await self.talk("memory_undo", id=number, **project)
        after = await self.state(name)
        self.undone += before == after and before[2]
        self.checks.that(f"the mistake with {name} does damage", damaged != before, damaged)
        self.checks.that(f"the mistake with {name} is undone", before == after and before[2],
                         f"{mistake}: {said}: {before} became {after}")


class Worker(Player):
    """Plays lines of the three kinds of work: a save has a topic, and a recall the memories that it should give."""

    def __init__(self, checks, talk):
        super().__init__(checks, talk, FIRST_AT_WORK)
        self.topics = {}

    async def play(self, line):
        if "part" in line:
            await super().play(line)
            self.project = line.get("project")
            self.parts[-1] |= dict.fromkeys(("saves", "hints", "wrongHints", "wanted", "given", "wrong", "idle"), 0)
        elif "recall" in line:
            await self.recall(line["recall"], [self.ids[name] for name in line["expect"]])
        elif "ask" in line:
            await self.ask(line)
        else:
            await self.save(line)

    async def save(self, line):
        await self.call(line["call"], line["with"], line["as"])
        part, number = self.parts[-1], self.ids[line["as"]]
        hinted = [int(other) for other in re.findall(r"#(\d+)", self.talk.log[-1][1].partition("\n")[2])]
        wrong = [other for other in hinted if self.topics[other] != line["topic"]]
        self.topics[number] = line["topic"]
        part["saves"] += 1
        part["hints"] += len(hinted)
        part["wrongHints"] += len(wrong)
        for other in wrong:
            print(f"a wrong hint: {self.texts[number]} ({self.texts[other]})")

    async def recall(self, message, wanted):
        where = ["--project", self.project] if self.project else []
        recalled = await asyncio.to_thread(self.talk.session.command, "recall", message, *where)
        given = [memory["id"] for memory in recalled["memories"]]
        part = self.parts[-1]
        part["wanted" if wanted else "idle"] += 1
        part["given"] += any(number in given for number in wanted)
        # A recall is wrong if it gives memories, and none that is wanted.
        is_wrong = bool(given) and not any(number in given for number in wanted)
        part["wrong"] += is_wrong
        if is_wrong or (wanted and not given):
            print(f"{'a wrong recall' if is_wrong else 'no recall'}: {message} ({[self.texts[one] for one in given]})")


def whole(parts, name):
    return sum(part[name] for part in parts)


def report(player):
    """Prints the figures of the exercise. Returns them."""
    parts = [part for part in player.parts if part["asked"]]
    print(f"{'part':<52}{'found':>10}{'tokens':>9}{'a question':>12}{'memory':>9}")
    total = {"part": "all", **{name: whole(parts, name) for name in ("asked", "found", "tokens", "memory")}}
    for part in [*parts, total]:
        print(f"{part['part']:<52}{part['found']:>4} of {part['asked']:>2}{part['tokens']:>9.0f}"
              f"{part['tokens'] / part['asked']:>12.0f}{part['memory'] / part['tokens']:>9.1%}")
    print(f"mistakes undone: {player.undone} of {player.mistakes}")
    print(f"calls by id that had to be given the project of their memory: {player.without_project}")
    return {"parts": parts, "all": total, "tokensPerQuestion": total["tokens"] / total["asked"],
            "shareOfMemory": total["memory"] / total["tokens"],
            "mistakes": player.mistakes, "undone": player.undone, "withoutProject": player.without_project}


def report_work(worker):
    """Prints the figures of the three kinds of work. Returns them."""
    names = ("saves", "hints", "wrongHints", "asked", "found", "tokens", "wanted", "given", "idle", "wrong")
    total = {"part": "all", **{name: whole(worker.parts, name) for name in names}}
    print(f"{'work':<52}{'found':>10}{'a question':>12}{'wrong hints':>13}{'recalls':>10}{'wrong':>10}")
    for part in [*worker.parts, total]:
        print(f"{part['part']:<52}{part['found']:>4} of {part['asked']:>2}{part['tokens'] / part['asked']:>12.0f}"
              f"{part['wrongHints']:>7} of {part['saves']:>2}{part['given']:>4} of {part['wanted']:>2}"
              f"{part['wrong']:>4} of {part['wanted'] + part['idle']:>2}")
    return {"parts": worker.parts, "all": total}


async def typical(session, profile):
    """The tokens of ten typical results, and of tools/list."""
    tools = await session.read_tools()

    async def cost(tool, **arguments):
        result = await session.raw(tool, arguments)
        if result.is_error:
            raise RuntimeError(f"{tool} {arguments}: {text_of(result)}")
        return tokens(text_of(result) if profile == "core" else compact(result.structured_content))

    new = [f"The {profile} stand at the fair of {town} needs {at + 3} square metres" for at, town in enumerate(
        ("Lyon", "Graz", "Bern", "Turin", "Ghent", "Porto", "Bergen", "Tartu", "Cork", "Brno", "Gdansk"))]
    if profile == "core":
        items = await cost("memory_add", items=[{"content": text, "tags": ["fair"]} for text in new[1:]])
    else:
        items = sum([await cost("memory_add", content=text, tags=["fair"]) for text in new[1:]])
    await session.embedded()
    found = await session.raw("memory_search", QUESTION | {"limit": 1})
    number = lines(text_of(found))[0] if profile == "core" else found.structured_content["results"][0]["id"]
    return {
        "search of 10": await cost("memory_search", **QUESTION, limit=10),
        "search of 10, ids": await cost("memory_search", **QUESTION, limit=10, detail="ids"),
        "search of 10, full": await cost("memory_search", **QUESTION, limit=10, detail="full"),
        "get": await cost("memory_get", id=number, project="atlas"),
        "list of 20": await cost("memory_list", limit=20, project="atlas"),
        "add": await cost("memory_add", content=new[0], tags=["fair"]),
        "add of 10": items,
        "update": await cost("memory_update", id=number, project="atlas", importance=6 if profile == "core" else 7),
        "digest": await cost("memory_digest", project="atlas"),
        "stats": await cost("memory_stats"),
        "tools/list": definitions(tools),
    }


async def run(checks, binary, store):
    async with stdio_session(checks, binary, store) as session:
        player = Player(checks, Talk(session))
        for line in EXERCISE.read_text().splitlines():
            await player.play(json.loads(line))
        checks.equal("each call of the exercise succeeds", player.failed, [])
        checks.equal("all answers are text alone", player.talk.structured, [])
        core = await typical(session, "core")
    async with stdio_session(checks, binary, store, "auto", "--profile", "full") as session:
        full = await typical(session, "full")
    async with stdio_session(checks, binary, store.with_name("work")) as session:
        worker = Worker(checks, Talk(session))
        for line in WORK.read_text().splitlines():
            await worker.play(json.loads(line))
        checks.equal("each call at work succeeds", worker.failed, [])
    figures = report(player)
    print(f"{'tokens of':<20}{'core':>8}{'full':>8}")
    for name in core:
        print(f"{name:<20}{core[name]:>8.0f}{full[name]:>8.0f}")
    total = figures["all"]
    checks.that(f"at least {LEAST_FOUND:.0%} of the questions are found in the first {FIRST} "
                f"({total['found']} of {total['asked']})",
                total["asked"] > 0 and total["found"] >= LEAST_FOUND * total["asked"])
    checks.that(f"at least {LEAST_MEMORY:.0%} of the tokens of searches are memory ({figures['shareOfMemory']:.1%})",
                figures["shareOfMemory"] >= LEAST_MEMORY)
    checks.that(f"each mistake is undone ({player.undone} of {player.mistakes})",
                player.undone == player.mistakes > 0)
    work = report_work(worker)
    total = work["all"]
    checks.that(f"at least {LEAST_FOUND_AT_WORK:.0%} of the questions at work are found in the first {FIRST_AT_WORK} "
                f"({total['found']} of {total['asked']})", total["found"] >= LEAST_FOUND_AT_WORK * total["asked"] > 0)
    checks.that(f"at most {MOST_WRONG_HINTS:.0%} of the saves at work are answered with a wrong hint "
                f"({total['wrongHints']} of {total['saves']})",
                total["wrongHints"] <= MOST_WRONG_HINTS * total["saves"])
    recalls = total["wanted"] + total["idle"]
    checks.that(f"at most {MOST_WRONG_RECALLS:.0%} of the recalls at work are wrong ({total['wrong']} of {recalls})",
                total["wrong"] <= MOST_WRONG_RECALLS * recalls)
    return figures | {"tokens": {"core": core, "full": full}, "work": work}


def main():
    binary = binary_argument()
    file = Path(sys.argv[sys.argv.index("--json") + 1]).absolute() if "--json" in sys.argv else None
    checks = Checks("python exercise")
    with tempfile.TemporaryDirectory() as folder, checks.section("it runs to its end"):
        figures = asyncio.run(run(checks, binary, Path(folder) / "store"))
        if file:
            file.write_text(json.dumps(figures, indent=1) + "\n")
    checks.end()


if __name__ == "__main__":
    main()

"""The first steps of a user with a program that was built for another machine, or on a machine without a compiler: it saves, searches,
rebuilds its indexes, and serves an MCP client on stdio. Standard library only.

    smoke.py PATH_TO_MEMORIST           searches by words alone
    smoke.py PATH_TO_MEMORIST --model   the model is installed beside the program: searches by meaning, too, and runs the demo
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from check import TIMEOUT_SECONDS, binary_argument, run_all
from raw import INITIALIZE, INITIALIZED, Stdio, call

TEXTS = ["User prefers dark mode for all applications", "The harbour master keeps the tide tables",
         "Authentication uses JWT tokens that expire after fifteen minutes"]
# None of its words is in the first text, which it is about.
QUERY = "which colour theme does she like"
# An emulated program, or one that is not optimised, is slow.
DEMO_SECONDS = 900


def run(binary, store, *command, within=TIMEOUT_SECONDS):
    """Runs a command on a store to its end."""
    return subprocess.run([binary, "--store", store, *command], stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8", errors="replace", timeout=within)


def found(binary, store, query):
    """The texts that a search finds, the best first."""
    done = run(binary, store, "--json", "search", query)
    return [hit["content"] for hit in json.loads(done.stdout)["results"]] if done.returncode == 0 else [done.stderr]


def check_commands(checks, binary, folder):
    """Commands, each of which opens the store anew."""
    store = folder / "a store"
    version = run(binary, store, "--version")
    checks.that("--version", version.returncode == 0 and version.stdout.startswith("memorist "), version)
    for text in TEXTS:
        added = run(binary, store, "add", text)
        checks.that("add ends well", added.returncode == 0, added)
    checks.equal("a search finds the memory by a word", found(binary, store, "harbour")[:1], TEXTS[1:2])
    rebuilt = run(binary, store, "rebuild")
    checks.that("rebuild ends well", rebuilt.returncode == 0, rebuilt)
    checks.equal("a search finds the same after it", found(binary, store, "harbour")[:1], TEXTS[1:2])
    well = run(binary, store, "doctor")
    checks.that("doctor finds no fault", well.returncode == 0, well)


def answer(checks, server, number, tool, **arguments):
    """The structured result of a tool; nothing if it has none."""
    got = server.ask(call(number, tool, **arguments))
    result = got.get("result", {}).get("structuredContent", {})
    checks.that(f"{tool} answers", result, got)
    return result


def check_server(checks, binary, folder):
    """An MCP client on stdio, and a command beside it."""
    store = folder / "store"
    server = Stdio(checks, binary, store, handshake=False)
    server.send(INITIALIZE)
    name = server.answer()["result"]["serverInfo"]["name"]
    checks.equal("the handshake names the server", name, "memorist")
    server.send(INITIALIZED)
    listed = server.ask({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})["result"]["tools"]
    checks.that("the tools are listed", "memory_search" in [tool["name"] for tool in listed], listed)
    for number, text in enumerate(TEXTS, 2):
        answer(checks, server, number, "memory_add", content=text)
    hits = answer(checks, server, 9, "memory_search", query="tide tables").get("results", [])
    checks.equal("memory_search finds it", [hit["content"] for hit in hits][:1], TEXTS[1:2])
    checks.equal("a command beside the server finds it", found(binary, store, "JWT")[:1], TEXTS[2:])
    server.end("the server", within=10)


def check_model(checks, binary, folder):
    """With the model that is installed beside the program."""
    del os.environ["MEMORIST_MODEL"]
    fetched = run(binary, folder / "store", "setup", "--json", within=DEMO_SECONDS)
    checks.that("setup fetches nothing", fetched.returncode == 0 and not json.loads(fetched.stdout)["fetched"], fetched)
    for text in TEXTS:
        run(binary, folder / "store", "add", text)
    checks.equal("a search finds the memory by its meaning", found(binary, folder / "store", QUERY)[:1], TEXTS[:1])
    demo = run(binary, folder / "store", "demo", "--json", within=DEMO_SECONDS)
    checks.that("the demo ends well", demo.returncode == 0, demo)
    known = [one for one in json.loads(demo.stdout or "{}").get("searches", []) if one.get("answers")]
    right = [one for one in known if {hit["id"] for hit in one["results"]} & set(one["answers"])]
    checks.that(f"the demo finds what it looks for: {len(right)} of {len(known)}", known and right == known, demo.stdout)


def main():
    has_model = "--model" in sys.argv
    binary = binary_argument()
    # The settings and the cache of this machine's user must not change what is tested.
    for name in [name for name in os.environ if name.startswith("MEMORIST_")]:
        del os.environ[name]
    with tempfile.TemporaryDirectory() as home:
        settings = Path(home) / "memorist.toml"
        settings.write_text("")
        os.environ |= {"MEMORIST_CONFIG": str(settings), "MEMORIST_CACHE": f"{home}/cache", "MEMORIST_PROFILE": "full"}
        # Until the model is tried: its packages may be missing, and an emulator would take minutes for a text.
        os.environ["MEMORIST_MODEL"] = "none"
        run_all("smoke", [check_commands, check_server, *([check_model] if has_model else [])], binary)


if __name__ == "__main__":
    main()

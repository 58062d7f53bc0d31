"""Shared by the Python programs here: one client with the checks that every call goes through, and what `tools/list`
says of a tool in a form that can be compared with its document."""

import asyncio
import json
import logging
import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import jsonschema
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from check import TIMEOUT_SECONDS, Checks, binary_argument


# What a text costs a model, about.
CHARS_PER_TOKEN = 4.1
# Tools whose text is not the structured content, and what is in it.
IN_WORDS = {"memory_digest": ["\n# "], "memory_recall": ["No relevant memories", "<memorist-recall>"]}


class Session:
    """One client, with the checks that every call goes through."""

    def __init__(self, checks, client, binary, store):
        self.checks = checks
        self.client = client
        self.binary = binary
        self.store = store
        self.schemas = {}

    async def read_tools(self):
        tools = (await self.client.list_tools()).tools
        self.schemas = {tool.name: tool.output_schema for tool in tools}
        return tools

    async def raw(self, tool, arguments):
        return await asyncio.wait_for(self.client.call_tool(tool, arguments), TIMEOUT_SECONDS)

    async def call(self, tool, arguments=None):
        """The structured content of a call that must succeed. The client validates it too."""
        result = await self.raw(tool, arguments or {})
        if result.is_error:
            raise RuntimeError(f"{tool} {arguments}: {text_of(result)}")
        # Only what does not validate is worth a line: there are some hundred calls.
        for error in jsonschema.Draft202012Validator(self.schemas[tool]).iter_errors(result.structured_content):
            self.checks.that(f"the result of {tool} fits its outputSchema", False, error.message)
        if tool in IN_WORDS:
            is_in_words = any(part in text_of(result) for part in IN_WORDS[tool])
            self.checks.that(f"the text of {tool} is in words", is_in_words, text_of(result))
        elif json.loads(text_of(result)) != result.structured_content:
            self.checks.that(f"the text of {tool} is its structured content", False, text_of(result))
        return result.structured_content

    async def refused(self, name, tool, arguments, *says):
        """A check that a call is an error whose text says all of this."""
        result = await self.raw(tool, arguments)
        text = text_of(result)
        self.checks.that(name, result.is_error and all(word in text for word in says),
                         f"isError {result.is_error}, wanted {says} in {text[:300]!r}")

    async def search(self, query, **arguments):
        return await self.call("memory_search", {"query": query, **arguments})

    def command(self, *arguments):
        """What a command of the store's owner says, whatever tools the profile has."""
        result = subprocess.run([self.binary, "--store", str(self.store), "--quiet", "--json", *arguments], check=True,
                              stdout=subprocess.PIPE, timeout=TIMEOUT_SECONDS)
        return json.loads(result.stdout)

    def stats(self):
        return self.command("stats")

    async def embedded(self):
        """Waits until the background worker has embedded every text."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while (await asyncio.to_thread(self.stats))["pendingEmbeddings"]:
            if time.monotonic() > end:
                raise RuntimeError("texts stay without an embedding")
            await asyncio.sleep(0.02)


def text_of(result):
    return "".join(block.text for block in result.content if block.type == "text")


def ids(answer):
    return [hit["id"] for hit in answer["results"]]


class Talk:
    """What a client of the default profile says and hears: its answers are text alone. `structured` are the tools that
    answered otherwise, `problem` is whether the last answer was an error."""

    def __init__(self, session):
        self.session = session
        self.structured = []
        self.problem = False
        self.log = []

    async def __call__(self, tool, **arguments):
        """The text of an answer, whatever it is."""
        result = await self.session.raw(tool, arguments)
        self.problem = bool(result.is_error)
        if result.structured_content is not None or [block.type for block in result.content] != ["text"]:
            self.structured.append(tool)
        self.log.append((tool, text_of(result)))
        return text_of(result)

    async def said(self, tool, **arguments):
        """The text of a call that must succeed."""
        text = await self(tool, **arguments)
        if self.problem:
            raise RuntimeError(f"{tool} {arguments}: {text}")
        return text

    async def refused(self, tool, **arguments):
        """The text of a call that must fail; empty if it does not."""
        text = await self(tool, **arguments)
        return text if self.problem else ""

    async def save(self, content, **more):
        """Saves a memory. Returns its id."""
        return saved_id(await self.said("memory_add", content=content, **more))

    async def search(self, query, **more):
        return await self.said("memory_search", query=query, **more)

    async def found(self, query, **more):
        """The ids that a search finds."""
        return lines(await self.search(query, **more))


def saved_id(answer):
    """The id in the answer to a save."""
    return int(re.search(r"#(\d+)", answer)[1])


def lines(answer):
    """The ids of the memories in an answer, one line each."""
    return [int(number) for number in re.findall(r"^#(\d+)", answer, re.MULTILINE)]


def tokens(text):
    """About as many tokens as a text has."""
    return len(text) / CHARS_PER_TOKEN


def definitions(tools):
    """The tokens of tools in `tools/list`."""
    return tokens(compact([tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools]))


def compact(value):
    """A value as JSON without spaces, as it is sent."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@asynccontextmanager
async def stdio_session(checks, binary, store, mode="auto", *options, before=(), **variables):
    """A client with a server of its own. `before` are arguments before `serve`: of a launcher, the program."""
    with tempfile.TemporaryFile("w+") as stderr:
        environment = os.environ | {"MEMORIST_STORE": str(store)} | variables
        parameters = StdioServerParameters(command=binary, args=[*before, "serve", *options], env=environment)
        async with Client(stdio_client(parameters, errlog=stderr), mode=mode) as client:
            yield Session(checks, client, binary, store)
        stderr.seek(0)
        checks.equal("stderr of the stdio server is empty", stderr.read(), "")


@asynccontextmanager
async def http_client(server, mode):
    """A client that sends the token of an HTTP server."""
    async with httpx2.AsyncClient(headers=server.headers, timeout=TIMEOUT_SECONDS) as web:
        async with Client(streamable_http_client(server.url, http_client=web), mode=mode) as client:
            yield client


def parameter(kind, required=False, default=None, of=None, least=None, most=None):
    """A parameter as a document describes it: its JSON type (`string[]` for a list), whether it is required, its
    default, and the allowed values."""
    parameter = {"type": kind, "required": required, "default": default, "of": of, "least": least, "most": most}
    return {key: value for key, value in parameter.items() if value is not None}


def parameters(tool):
    """The same of every parameter of a tool, as `tools/list` has it."""
    schema = tool.input_schema
    found = {}
    for name, field in schema["properties"].items():
        kind, of = field.get("type"), field.get("enum")
        if kind == "array":
            kind, of = f"{field['items'].get('type')}[]", field["items"].get("enum")
        found[name] = parameter(kind, name in schema.get("required", []), field.get("default"), of,
                                field.get("minimum"),
                                field.get("maximum"))
    return found


class Warnings(logging.Handler):
    """Collects the complaints of the client's library."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []

    def emit(self, record):
        self.texts.append(f"{record.name}: {record.getMessage()}")


def run_script(profile, documented, script, *options, prepare=None):
    """Runs a script of calls made from the document of another system, on a server of that profile and a new store.
    `documented` contains the parameters of each tool by its name. `prepare` is called with the folder of the store before
    the server starts."""
    async def run(checks, binary, store):
        async with stdio_session(checks, binary, store, "auto", "--profile", profile, *options) as session:
            tools = {tool.name: tool for tool in await session.read_tools()}
            checks.equal("tools/list has the tools of the document", sorted(tools), sorted(documented))
            for name in sorted(tools.keys() & documented.keys()):
                checks.equal(f"{name} has the parameters of the document", parameters(tools[name]), documented[name])
            named = [name for name in tools if name in session.client.instructions]
            checks.that("the server's instructions name its tools", named, session.client.instructions)
            await script(checks, session)

    checks = Checks(f"python {profile}")
    with tempfile.TemporaryDirectory() as folder, checks.section("the session runs to its end"):
        binary = binary_argument()
        if prepare:
            prepare(Path(folder))
        asyncio.run(run(checks, binary, Path(folder) / "store"))
    checks.end()

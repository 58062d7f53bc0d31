"""What no client library does: raw bytes on stdio and over HTTP, signals, times and memory. Standard library only.

    raw.py PATH_TO_MEMORIST
"""

import http.client
import json
import os
import queue
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from check import TIMEOUT_SECONDS, HttpServer, binary_argument, ends, run_all

HANDSHAKE_MILLIS = 100
IDLE_MIB = 60
ENTRIES = 300
BODY_LIMIT_BYTES = 4 << 20
TOKEN = "a token has 16 characters".replace(" ", "-")
INITIALIZE = {
    "jsonrpc": "2.0", "id": 0, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(number, tool, **arguments):
    """A request for a tool."""
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def wait_for(condition):
    """Whether `condition` becomes true in time."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while not (holds := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return holds


class Stdio:
    """A server on pipes. Every line of its stdout must be a JSON-RPC message; its stderr must stay empty."""

    def __init__(self, checks, binary, store, *args, handshake=True, cwd=None, **variables):
        self.checks = checks
        self.stderr = tempfile.TemporaryFile()
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [binary, "serve", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr,
            env=os.environ | {"MEMORIST_STORE": str(store)} | variables, cwd=cwd,
        )
        self.answers = queue.Queue()
        self.strangers = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        if handshake:
            self.send(INITIALIZE)
            self.answer()
            self.send(INITIALIZED)

    def _read(self):
        for line in self.process.stdout:
            try:
                message = json.loads(line)
                if (message[0] if isinstance(message, list) else message)["jsonrpc"] != "2.0":
                    raise ValueError("no JSON-RPC")
                self.answers.put(message)
            except (ValueError, KeyError, TypeError):
                self.strangers.append(line[:200].decode(errors="replace"))

    def send(self, message):
        self.write(json.dumps(message).encode() + b"\n")

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def answer(self):
        """The next message from the server."""
        return self.answers.get(timeout=TIMEOUT_SECONDS)

    def ask(self, message):
        """The answer to one request, with nothing else on its way."""
        self.send(message)
        answer = self.answer()
        if answer.get("id") != message["id"]:
            raise RuntimeError(f"asked {message['id']!r}, was answered {answer}")
        return answer

    def result(self, number, tool, **arguments):
        """The structured result of a tool."""
        return self.ask(call(number, tool, **arguments))["result"]["structuredContent"]

    def end(self, name, how=None, within=5.0, code=0):
        """Ends it by a signal, or by closing its stdin, and checks how it went."""
        if how:
            self.process.send_signal(how)
        else:
            self.process.stdin.close()
        ends(self.checks, name, self.process, within, code)
        self.reader.join(TIMEOUT_SECONDS)
        self.stderr.seek(0)
        self.checks.equal(f"{name}: stderr is empty", self.stderr.read().decode(errors="replace"), "")
        self.checks.equal(f"{name}: stdout is JSON-RPC alone", self.strangers, [])


def filled_store(binary, folder):
    """A store of some hundred memories, all embedded where there is a model."""
    lines = "".join(
        json.dumps({"content": f"Memory {number}: the service {number % 17} writes to queue {number % 29}"}) + "\n"
        for number in range(ENTRIES)
    )
    store = folder / "filled"
    subprocess.run([binary, "--store", store, "--quiet", "import", "-"], input=lines.encode(), check=True,
                   stdout=subprocess.DEVNULL, timeout=600)
    return store


def check_ends(checks, binary, folder):
    """All the ways in which a client can go away."""
    store = folder / "ends"
    silent = Stdio(checks, binary, store, handshake=False)
    silent.end("EOF before initialize")
    checks.that("EOF before initialize: nothing is said", silent.answers.empty())
    Stdio(checks, binary, store).end("EOF after initialize")
    early = Stdio(checks, binary, folder / "early", handshake=False)
    # It watches for signals before it opens the store.
    wait_for(lambda: (folder / "early" / "memory.db").exists())
    early.end("SIGTERM before initialize", signal.SIGTERM)
    Stdio(checks, binary, store).end("SIGTERM while idle", signal.SIGTERM)
    Stdio(checks, binary, store).end("SIGINT while idle", signal.SIGINT)

    for name, how in (("SIGTERM", signal.SIGTERM), ("EOF", None)):
        busy = Stdio(checks, binary, store)
        for number in range(1, 6):
            # The first one loads the model, so that they are still running.
            busy.send(call(number, "memory_search", query=f"what is number {number}"))
            busy.send(call(number + 10, "memory_add", content=f"Said before {name}: {number}"))
        busy.end(f"{name} during requests", how, within=12.0)

    # A killed client closes both pipes with an answer on its way.
    with tempfile.TemporaryFile() as stderr, subprocess.Popen(
        [binary, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
        env=os.environ | {"MEMORIST_STORE": str(store)},
    ) as process:
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        for message in (INITIALIZED, call(1, "memory_search", query="is anybody there"), call(2, "memory_stats")):
            process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.close()
        checks.equal("a client that is killed: exit 0", process.wait(TIMEOUT_SECONDS), 0)
        stderr.seek(0)
        checks.equal("a client that is killed: stderr is empty", stderr.read().decode(errors="replace"), "")

    acknowledged = Stdio(checks, binary, store)
    number = acknowledged.result(1, "memory_add", content="acknowledged, then killed")["id"]
    acknowledged.process.kill()
    acknowledged.process.wait()
    after = Stdio(checks, binary, store)
    entry = after.result(1, "memory_get", id=number).get("entry", {})
    checks.equal("what was acknowledged outlives SIGKILL", entry.get("content"), "acknowledged, then killed")
    after.end("after SIGKILL")


def check_junk(checks, binary, folder):
    """Invalid lines, and requests in any number and order."""
    server = Stdio(checks, binary, folder / "junk")
    junk = [b"junk", b"", b"{", b"[]", b"null", b"{}", b'"text"', b"\xff\xfe\x00", b'{"jsonrpc":"2.0"}',
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}', b"x" * (10 << 20)]
    for number, line in enumerate(junk, 1):
        server.write(line + b"\n")
        server.send({"jsonrpc": "2.0", "id": f"after {number}", "method": "ping"})
        answers = []
        # A refused line may be answered, with an error without an id of ours.
        while not answers or answers[-1].get("id") != f"after {number}":
            answers.append(server.answer())
        checks.that(f"lives on after the line {line[:70]!r}{f' ({len(line)} bytes)' if len(line) > 70 else ''}",
                    all("error" in answer for answer in answers[:-1]) and "result" in answers[-1], answers)

    def refusal(message):
        answer = server.ask(message)
        return answer.get("error") or answer["result"].get("isError") and answer["result"]["content"][0]["text"]

    checks.that("10 MB of text are refused", "at most" in str(refusal(call(1, "memory_add", content="a " * (5 << 20)))))
    checks.that("an unknown method is refused", refusal({"jsonrpc": "2.0", "id": 2, "method": "memory/dance"}))
    checks.that("a tool without arguments is refused by name of the field", "content" in str(
        refusal({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "memory_add"}})))
    checks.that("arguments that are not an object are refused", refusal(
        {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "memory_add", "arguments": 7}}))
    checks.that("the stats need no arguments", server.ask(
        {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "memory_stats"}})["result"].get(
            "structuredContent", {}).get("totalEntries") == 0)

    # An unreadable message is refused with its id, wherever it is.
    arguments = (b'{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"memory_add","arguments":'
                 b'{"content":"x",%s}}}')
    for name, line, code in [
        ("NaN", arguments % b'"confidence":NaN', -32700), ("1e999", arguments % b'"confidence":1e999', -32700),
        ("bad UTF-8", arguments % b'"context":"\xff"', -32700),
        ("deep JSON", arguments % (b'"body":' + b"[" * 10_000 + b"]" * 10_000), -32602),
        ("a line of 10 MB with its id at the end",
         b'{"method":"ping","params":"' + b"x" * (10 << 20) + b'","jsonrpc":"2.0","id":6}', -32600),
        ("a batch", b'[{"jsonrpc":"2.0","id":6,"method":"ping"}]', -32600),
    ]:
        server.write(line + b"\n")
        answer = server.answer()
        answer = answer[0] if isinstance(answer, list) else answer
        checks.that(f"{name} is refused by its id", answer.get("id") == 6 and answer["error"]["code"] == code, answer)
    server.write(arguments.replace(b'"x",%s', b'"cut inside \\ud83d"') + b"\n")
    answer = server.answer()
    saved = answer.get("result", {}).get("structuredContent", {})
    checks.that("a text cut inside an emoji is saved", saved.get("created"), answer)
    kept = server.result(7, "memory_get", id=saved["id"])["entry"]["content"]
    checks.equal("with a replacement character", kept, "cut inside \ufffd")

    # Ids may be numbers or text, in any order; every one is answered once, with its own type.
    wanted = []
    for number in range(60, 0, -1):
        name = number if number % 2 else f"request {number}"
        wanted.append(name)
        server.send([call(name, "memory_add", content=f"Item {number}"), call(name, "memory_search", query="item"),
                     call(name, "memory_stats"), {"jsonrpc": "2.0", "id": name, "method": "tools/list"}][number % 4])
    got = [server.answer() for _ in wanted]
    checks.equal("60 requests at once are each answered once",
                 sorted(map(repr, (answer["id"] for answer in got))), sorted(map(repr, wanted)))
    checks.that("60 requests at once all succeed",
                all("result" in answer and not answer["result"].get("isError") for answer in got), got)
    checks.equal("refused lines left nothing behind", server.result(9, "memory_stats")["totalEntries"], 16)
    server.end("after junk")


def check_modern(checks, binary, folder):
    """The protocol of 2026-07-28, which has no handshake: the first line is a request."""
    about = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    }
    server = Stdio(checks, binary, folder / "modern", handshake=False)
    found = server.ask({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": about}})
    checks.that("server/discover names 2026-07-28", "2026-07-28" in found["result"]["supportedVersions"], found)
    listed = server.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": about}})
    names = [tool["name"] for tool in listed["result"]["tools"]]
    checks.that("tools/list without a handshake", "memory_stats" in names, names)
    checks.equal("a result of 2026-07-28 has its type", listed["result"].get("resultType"), "complete")
    server.end("EOF of a client without a handshake")


def check_project(checks, binary, folder):
    """Without a setting, the project of a server is the git work tree that it is started in."""
    tree = folder / "atlas"
    (tree / ".git" / "worktrees" / "fix").mkdir(parents=True)
    (tree / "src").mkdir()
    linked = folder / "fix"
    linked.mkdir()
    (linked / ".git").write_text(f"gitdir: {tree / '.git' / 'worktrees' / 'fix'}\n")
    store = folder / "store"
    for name, cwd, args, variables, wanted in [
        ("in a work tree", tree, [], {}, "atlas"),
        ("below its top", tree / "src", [], {}, "atlas"),
        ("in a linked work tree", linked, [], {}, "atlas"),
        ("outside of git", folder, [], {}, None),
        ("with --no-project", tree, ["--no-project"], {}, None),
        ("with --no-project and a variable", tree, ["--no-project"], {"MEMORIST_PROJECT": "other"}, None),
        ("with --project", tree, ["--project", "other"], {}, "other"),
        ("with a variable", tree, [], {"MEMORIST_PROJECT": "other"}, "other"),
        ("for krolik", tree, ["--profile", "krolik"], {}, "atlas"),
        ("for mudpuppy", tree, ["--profile", "mudpuppy"], {}, None),
        ("for memorizer", tree, ["--profile", "memorizer"], {}, None),
    ]:
        server = Stdio(checks, binary, store, *args, cwd=cwd, **({"MEMORIST_MODEL": "none"} | variables))
        tools = {
            "memorizer": ("store_fact", {"fact": name, "category": "background"}),
            "krolik": ("krolik_mem_save", {"title": name, "description": name, "type": "decision"}),
            "mudpuppy": ("memory_add", {"content": name, "entryType": "fact"}),
        }
        tool, arguments = tools.get(args[-1] if args else "", ("memory_add", {"content": name}))
        saved = server.ask(call(1, tool, **arguments))["result"]
        server.end(f"a server {name}")
        listed = subprocess.run([binary, "--store", store, "--json", "list"], check=True, capture_output=True,
                                timeout=TIMEOUT_SECONDS)
        entry = max(json.loads(listed.stdout)["results"], key=lambda entry: entry["id"])
        checks.equal(f"the project {name}", [entry.get("project"), name in entry["content"], saved.get("isError", False)],
                     [wanted, True, False])
    result = subprocess.run([binary, "--store", store, "serve", "-v"], cwd=tree, stdin=subprocess.DEVNULL, check=True,
                          capture_output=True, timeout=TIMEOUT_SECONDS)
    checks.that("with -v it says which", b'project="atlas"' in result.stderr, result.stderr.decode(errors="replace"))
    # A server for many does not use its own folder.
    with HttpServer(checks, binary, store, cwd=tree, MEMORIST_MODEL="none") as server:
        body = request(server, call(1, "memory_add", content="over HTTP"))[2]
        checks.that("over HTTP it is saved", b"isError" not in body or b'"isError":false' in body, body)
    listed = subprocess.run([binary, "--store", store, "--json", "list"], check=True, capture_output=True,
                            timeout=TIMEOUT_SECONDS)
    projects = {entry["content"]: entry.get("project") for entry in json.loads(listed.stdout)["results"]}
    checks.equal("the project over HTTP", projects.get("over HTTP", "not saved"), None)


def check_refusals(checks, binary, folder):
    """A server that cannot serve says why, on stderr, and ends."""
    file = folder / "a file"
    file.write_text("not a folder")
    taken = socket.create_server(("127.0.0.1", 0))
    busy = f"127.0.0.1:{taken.getsockname()[1]}"
    for name, args, store, code, says in [
        ("a store that is a file", ["serve"], file, 3, [str(file)]),
        ("an open address without a token", ["serve", "--http", "0.0.0.0:0", "--no-token"], folder / "x", 2,
         ["--no-token", "127.0.0.1"]),
        ("a token of one character", ["serve", "--http", "0.0.0.0:0", "--token", "x"], folder / "x", 2,
         ["16 characters"]),
        ("an empty token", ["serve", "--http", "127.0.0.1:0", "--token", ""], folder / "x", 2, ["16 characters"]),
        ("a token file that is not there", ["serve", "--http", "127.0.0.1:0", "--token-file", "none"], folder / "x", 2,
         ["--token-file none", "chmod 600"]),
        ("an invalid address", ["serve", "--http", "nowhere"], folder / "x", 2, ["nowhere", "HOST:PORT"]),
        ("an address in use", ["serve", "--http", busy], folder / "x", 6, [busy]),
    ]:
        # Stdin stays open: the server must end by itself.
        with subprocess.Popen([binary, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=os.environ | {"MEMORIST_STORE": str(store)}) as process:
            try:
                ended = process.wait(TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                ended = "no exit"
            said = process.stderr.read().decode(errors="replace")
            checks.that(f"{name} is refused with exit {code}", ended == code, f"exit {ended}: {said}")
            checks.that(f"{name}: the error helps, in one line",
                        all(word in said for word in says) and said.count("\n") == 1, said)
            checks.equal(f"{name}: stdout is empty", process.stdout.read().decode(errors="replace"), "")
    taken.close()


def request(server, body=INITIALIZE, method="POST", path="/mcp", **headers):
    """Status, headers and body of one HTTP request. Names of headers with `_` for `-`; None leaves one out."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"} | server.headers
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_SECONDS)
    try:
        connection.putrequest(method, path, skip_host="Host" in sent)
        for name, value in sent.items():
            if value is not None:
                connection.putheader(name, value)
        if "Transfer-Encoding" not in sent:
            connection.putheader("Content-Length", str(len(data)))
        try:
            connection.endheaders(data, encode_chunked="Transfer-Encoding" in sent)
        except (BrokenPipeError, ConnectionResetError):
            pass  # It answers before it has read all of a body that is too long.
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def status_of(*args, **headers):
    """Status and body of one HTTP request; no status when it is not answered in time."""
    try:
        status, _, body = request(*args, **headers)
        return status, body
    except TimeoutError:
        return "no answer", b""


def check_http(checks, binary, folder):
    """Access and responses over HTTP."""
    with HttpServer(checks, binary, folder / "http") as server:
        port = server.port

        def status(name, wanted, *args, **headers):
            got, body = status_of(server, *args, **headers)
            checks.that(f"{name}: {wanted}", got == wanted, f"{got} {body[:300]!r}")

        status("a good request", 200)
        for origin in ("http://localhost:3000", "http://127.0.0.1:8080", "http://[::1]:1"):
            status(f"Origin {origin}", 200, Origin=origin)
        for origin in ("http://evil.example", "https://evil.example:8080", "http://localhost.evil.example",
                       "http://127.0.0.1.evil.example:80", "null"):
            status(f"Origin {origin}", 403, Origin=origin)
        for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"):
            status(f"Host {host}", 200, Host=host)
        for host in ("evil.example", f"evil.example:{port}", f"localhost.evil.example:{port}", "127.0.0.1.nip.example"):
            status(f"Host {host}", 403, Host=host)
        large = call(1, "memory_add", content="x" * BODY_LIMIT_BYTES)
        status("a body over 4 MiB", 413, large)
        status("a body over 4 MiB in chunks", 413, large, Transfer_Encoding="chunked")
        status("another path", 404, path="/")
        got, _, body = request(server, b"{junk")
        checks.that("junk: 400 and a JSON-RPC error",
                    got == 400 and json.loads(body)["error"]["code"] == -32700, f"{got} {body!r}")
        status("another content type", 415, Content_Type="text/plain")
        status("an Accept without event streams", 406, Accept="text/html")
        halves = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
        for half in halves:
            half.sendall(f"POST /mcp HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n"
                         f"Authorization: {server.headers['Authorization']}\r\n"
                         "Accept: application/json, text/event-stream\r\nContent-Length: 100\r\n\r\n{".encode())
        status("a good request beside 40 that never end", 200)
        for half in halves:
            half.close()
        status("a good request after all that", 200)

        # Only notices need a session of the older protocol (see notices.py); everything else is answered without one.
        older = {"MCP_Protocol_Version": "2025-11-25"}
        checks.equal("notifications are accepted", request(server, INITIALIZED, **older)[0], 202)
        got, headers, body = request(server, call(1, "memory_add", content="over raw HTTP"), **older)
        checks.that("a tool answers over HTTP", got == 200 and b'"created":true' in body, f"{got} {body!r}")
        checks.equal("an answer is one document", headers["Content-Type"], "application/json")
        status("the id of a session of another server", 200, call(1, "memory_stats"), Mcp_Session_Id="none", **older)
        for method in ("GET", "DELETE"):
            status(method, 405, b"", method, **older)

    for name, args, variables in [("--token", ["--token", TOKEN], {}),
                                  ("MEMORIST_TOKEN", [], {"MEMORIST_TOKEN": TOKEN}),
                                  ("the store's token", [], {})]:
        with HttpServer(checks, binary, folder / "http", "--allow-host", "box.example", *args, address="0.0.0.0:0",
                        **variables) as server:
            if args or variables:
                checks.that(f"{name} is not shown", TOKEN not in server.said, server.said)
                server.headers = {"Authorization": f"Bearer {TOKEN}"}
            token = server.headers["Authorization"].removeprefix("Bearer ")
            got, headers, body = request(server, Authorization=None)
            checks.that(f"{name}: none sent: 401", got == 401 and headers["WWW-Authenticate"] == "Bearer"
                        and b"Authorization" in body, f"{got} {headers} {body!r}")
            for value in ("Bearer wrong", "Bearer", token, f"Basic {token}", f"Bearer {token}2", "Bearer "):
                got, _, body = request(server, Authorization=value)
                checks.that(f"{name}: {value.replace(token, 'TOKEN')!r} sent: 401",
                            got == 401 and token.encode() not in body, f"{got} {body!r}")
            checks.equal(f"{name}: sent: 200", request(server)[0], 200)
            for host, wanted in (("box.example", 200), ("evil.example", 403)):
                checks.equal(f"{name}: sent to {host}: {wanted}", request(server, Host=host)[0], wanted)
            with socket.create_connection(("127.0.0.1", server.port), TIMEOUT_SECONDS) as half:
                half.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000\r\n\r\n")
                checks.that(f"{name}: without it 401 comes before the body", half.recv(100).startswith(b"HTTP/1.1 401"))
    with HttpServer(checks, binary, folder / "http", "--no-token") as server:
        checks.that("--no-token says what it does", "every user of this machine" in server.said, server.said)
        checks.equal("--no-token: none sent: 200", request(server, Authorization=None)[0], 200)


def resident_mib(pid):
    """Resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no VmRSS")


def check_costs(checks, binary, folder):
    """The latency of the handshake, and the cost of an idle server."""
    store = filled_store(binary, folder)
    took = []
    for _ in range(5):
        server = Stdio(checks, binary, store, handshake=False)
        server.send(INITIALIZE)
        server.answer()
        took.append((time.monotonic() - server.started) * 1000)
        server.end("after a handshake")
    shown = ", ".join(f"{millis:.1f}" for millis in sorted(took))
    checks.that(f"handshake on {ENTRIES} entries within {HANDSHAKE_MILLIS} ms of the start (took {shown} ms)",
                min(took) < HANDSHAKE_MILLIS, shown)

    if not Path("/proc/self/status").exists():
        return
    waiting = Stdio(checks, binary, store)
    checks.equal("all entries are there", waiting.result(1, "memory_stats")["totalEntries"], ENTRIES)
    waiting.result(2, "memory_search", query="queue", mode="keyword")
    mib = resident_mib(waiting.process.pid)
    checks.that(f"a waiting server takes less than {IDLE_MIB} MiB (takes {mib:.1f})", mib < IDLE_MIB)
    waiting.end("a waiting server")

    # With a model that is released after a second instead of five minutes.
    settings = folder / "memorist.toml"
    settings.write_text("model_idle_seconds = 1\n")
    server = Stdio(checks, binary, store, MEMORIST_CONFIG=str(settings))
    answer = server.result(1, "memory_search", query="where does service 3 write to", mode="vector")
    loaded = resident_mib(server.process.pid)
    wait_for(lambda: resident_mib(server.process.pid) < IDLE_MIB)
    mib = resident_mib(server.process.pid)
    checks.that(f"after a search by meaning ({answer['tier']}, {loaded:.1f} MiB) and idle time it takes less than "
                f"{IDLE_MIB} MiB again (takes {mib:.1f})", mib < IDLE_MIB)
    again = server.result(2, "memory_search", query="where does service 3 write to", mode="vector")
    checks.equal("it finds the same afterwards", [hit["id"] for hit in again["results"]],
                 [hit["id"] for hit in answer["results"]])
    server.end("after the model was released")


def main():
    binary = binary_argument()
    # For memory_stats, which takes no arguments.
    os.environ["MEMORIST_PROFILE"] = "full"
    run_all("raw", (check_ends, check_junk, check_modern, check_project, check_refusals, check_http, check_costs), binary)


if __name__ == "__main__":
    main()

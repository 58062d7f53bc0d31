"""A long steady load on one store by two servers at once, one on stdio and one over HTTP, and whether anything grows.

    soak.py PATH_TO_MEMORIST [SECONDS]

Both clients add, change, delete, fetch and search a steady number of memories at a steady rate, and every answer is
checked. The first quarter of the time is warm-up; then each figure of the last quarter is held against the second.
With the real model where `memorist setup` provides it, else with words alone. Linux only; standard library only.
"""

import collections
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from check import Checks, HttpServer, binary_argument
from raw import INITIALIZE, INITIALIZED, Stdio, call, request, resident_mib

SECONDS = 1_800
# Samples: at least this many, none longer than this many seconds.
SAMPLES = 24
LONGEST_SAMPLE = 10
# Memories that each client keeps alive.
LIVE = 500
# Requests per second of each client.
RATE = 25
# Of a hundred: adds and deletes in turn, updates, adds of what expires, fetches, searches.
SHARES = [20, 10, 5, 15, 50]
# Seconds until an expiring memory expires, and until its absence is checked.
EXPIRES_AFTER, GONE_AFTER = 2, 3
# An update changes one of this many that are deleted next: earlier versions are removed with their memory, so their
# number stays.
CHANGING = 20
# Requests of one HTTP session.
SESSION = 200
OLDER = {"MCP_Protocol_Version": "2025-11-25"}

# Allowed growth of a figure between the second and the last quarter: times this, plus this. Allocators keep some
# memory, and the indexes are mapped into it; merges create and remove files; the database keeps 100,000 rows of
# accesses, which a short run does not reach; other load on the machine makes answers late, but costs the servers little
# CPU time.
BOUNDS = {
    "RSS, MiB": (1.15, 8),
    "open files": (1, 4),
    "threads": (1, 4),
    "CPU per request, ms": (1.5, 1),
    "search p50, ms": (3, 10),
    "search p99, ms": (3, 50),
    "memory.db, KiB": (1.5, 512),
    "vectors, KiB": (1.5, 512),
    "keywords, KiB": (1.5, 512),
    "files": (1.5, 4),
}


class Http:
    """A client over HTTP: a connection for each request, and a handshake now and then."""

    def __init__(self, server):
        self.server = server
        self.left = 0

    def ask(self, message):
        """The answer to one request."""
        if self.left == 0:
            request(self.server)
            request(self.server, INITIALIZED, **OLDER)
            self.left = SESSION
        self.left -= 1
        status, _, body = request(self.server, message, **OLDER)
        if status != 200:
            raise RuntimeError(f"HTTP {status}: {body[:300]!r}")
        return json.loads(body)


class Client(threading.Thread):
    """One client with memories of its own. It works until `stop` is set, or something is wrong: then `error` says so."""

    def __init__(self, name, client, pid, with_model, seed):
        super().__init__(name=name)
        self.client, self.pid, self.with_model = client, pid, with_model
        self.random = random.Random(seed)
        self.requests, self.texts = 0, 0
        # Oldest first: id and text. Those that expire: also when their absence is checked.
        self.live = collections.deque()
        self.expiring = collections.deque()
        self.millis = []
        self.tiers = collections.Counter()
        self.seen = (0, 0.0)
        self.ready, self.stop = threading.Event(), threading.Event()
        self.error = None

    def run(self):
        try:
            self.fill()
            self.ready.set()
            while not self.stop.is_set():
                started = time.monotonic()
                self.turn()
                self.stop.wait(max(0.0, started + 1 / RATE - time.monotonic()))
            while self.expiring:
                self.forget_expired()
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}"
        finally:
            self.ready.set()

    def fill(self):
        """Makes the memories, and waits until all can be found by meaning where there is a model."""
        # With the model in memory first: embedding all of them at once afterwards would take more memory.
        self.find("load the model", "vector")
        while len(self.live) < LIVE:
            self.add()
        while self.with_model and self.tool("memory_stats")["pendingEmbeddings"]:
            time.sleep(0.1)
        # The first search of a new store may come before its vector index.
        self.tiers.clear()

    def tool(self, tool, **arguments):
        """The structured result of a tool that must not fail."""
        self.requests += 1
        answer = self.client.ask(call(self.requests, tool, **arguments))
        result = answer.get("result", {})
        if answer.get("id") != self.requests or "structuredContent" not in result or result.get("isError"):
            raise RuntimeError(f"{tool} {arguments}: {answer}")
        return result["structuredContent"]

    def expect(self, holds, what):
        if not holds:
            raise RuntimeError(what)

    def text(self):
        self.texts += 1
        service, queue = self.random.randrange(40), self.random.randrange(60)
        return f"The {self.name} service {service} writes to queue {queue} since change {self.name}{self.texts}"

    def turn(self):
        """One request, or two."""
        if self.expiring and self.expiring[0][2] < time.monotonic():
            self.forget_expired()
        else:
            change = self.forget if len(self.live) >= LIVE else self.add
            requests = [change, self.update, self.add_expiring, self.get, self.search]
            self.random.choices(requests, SHARES)[0]()

    def add(self):
        text = self.text()
        saved = self.tool("memory_add", content=text, tags=["soak", self.name])
        self.expect(saved["created"], f"a new text is a new memory: {saved}")
        self.live.append((saved["id"], text))

    def add_expiring(self):
        text = self.text()
        at = int((time.time() + EXPIRES_AFTER) * 1000)
        number = self.tool("memory_add", content=text, expiresAt=at)["id"]
        self.expiring.append((number, text, time.monotonic() + GONE_AFTER))

    def forget_expired(self):
        number, text, at = self.expiring.popleft()
        time.sleep(max(0.0, at - time.monotonic()))
        self.expect(number not in self.find(text, "keyword"), f"{number} has expired, and is found")
        self.expect(self.tool("memory_delete", id=number)["success"], f"{number} is deleted")

    def forget(self):
        number, _ = self.live.popleft()
        self.expect(self.tool("memory_delete", id=number)["deleted"], f"{number} is deleted")

    def update(self):
        at = self.random.randrange(CHANGING)
        number, text = self.live[at][0], self.text()
        self.tool("memory_update", id=number, content=text)
        self.live[at] = (number, text)

    def get(self):
        number, text = self.random.choice(self.live)
        entry = self.tool("memory_get", id=number).get("entry", {})
        self.expect(entry.get("content") == text, f"{number} is {text!r}, was answered {entry}")

    def search(self):
        number, text = self.random.choice(self.live)
        mode = self.random.choice(["hybrid", "vector", "keyword"])
        found = self.find(text, mode)
        # By meaning the nearest few of many alike are found, not always this one.
        self.expect(number in found or mode == "vector" and found, f"{number}, {text!r}: {mode} finds {found}")

    def find(self, query, mode):
        started = time.monotonic()
        result = self.tool("memory_search", query=query, mode=mode)
        self.millis.append((time.monotonic() - started) * 1000)
        self.tiers[result["tier"]] += 1
        return [hit["id"] for hit in result["results"]]

    def figures(self):
        """Its measurements since the last time, and the resources of its server."""
        millis, self.millis = sorted(self.millis), []
        process = Path(f"/proc/{self.pid}")
        # After the name, which may have spaces: utime and stime are the 12th and 13th.
        ticks = (process / "stat").read_text().rsplit(")", 1)[1].split()[11:13]
        cpu = sum(map(int, ticks)) * 1000 / os.sysconf("SC_CLK_TCK")
        (requests, cpu_before), self.seen = self.seen, (self.requests, cpu)
        return {
            f"{self.name}: CPU per request, ms": (cpu - cpu_before) / max(1, self.seen[0] - requests),
            f"{self.name}: RSS, MiB": resident_mib(self.pid),
            f"{self.name}: open files": len(os.listdir(process / "fd")),
            f"{self.name}: threads": len(os.listdir(process / "task")),
            f"{self.name}: search p50, ms": millis[len(millis) // 2] if millis else 0,
            f"{self.name}: search p99, ms": millis[len(millis) * 99 // 100] if millis else 0,
        }


def store_figures(store):
    """The size of the store on disk. Files may appear and disappear meanwhile."""
    sizes = collections.Counter()
    for folder, _, files in os.walk(store):
        for file in files:
            path = Path(folder, file)
            part = path.relative_to(store).parts[0]
            try:
                sizes["memory.db" if part.startswith("memory.db") else part] += path.stat().st_size / 1024
                sizes["files"] += 1
            except FileNotFoundError:
                pass
    return {"store: files": sizes["files"]} | {
        f"store: {part}, KiB": sizes[part] for part in ("memory.db", "vectors", "keywords")
    }


def soak(clients, store, seconds):
    """Lets the clients work for some time. Returns the samples of each figure."""
    samples = collections.defaultdict(list)
    count = max(SAMPLES, round(seconds / LONGEST_SAMPLE))
    for client in clients:
        client.start()
    for client in clients:
        client.ready.wait()
        client.figures()
    started = time.monotonic()
    for sample in range(1, count + 1):
        while (left := started + seconds * sample / count - time.monotonic()) > 0 and all(map(Client.is_alive, clients)):
            time.sleep(min(left, 0.5))
        if not all(map(Client.is_alive, clients)):
            break
        for figures in [store_figures(store), *(client.figures() for client in clients)]:
            for name, value in figures.items():
                samples[name].append(value)
    for client in clients:
        client.stop.set()
    for client in clients:
        client.join()
    return samples


def check_flat(checks, samples):
    """The table, and a check of each figure."""
    print(f"{'median of':<26}{'1st quarter':>12}{'2nd quarter':>12}{'last quarter':>13}{'at most':>9}")
    rows = []
    for name, values in samples.items():
        quarter = len(values) // 4
        parts = [values[:quarter], values[quarter:2 * quarter], values[-quarter:]]
        start, middle, end = map(statistics.median, parts)
        factor, slack = BOUNDS[name.split(": ")[1]]
        rows.append((name, middle, end, middle * factor + slack))
        print(f"{name:<26}{start:>12.1f}{middle:>12.1f}{end:>13.1f}{rows[-1][3]:>9.1f}")
    for name, middle, end, most in rows:
        checks.that(f"{name} stays flat", end <= most, f"{middle:.1f} became {end:.1f}, at most {most:.1f}")


def provide_model(binary):
    """Whether the real model is available; otherwise the servers run without one."""
    setup = subprocess.run([binary, "setup"], capture_output=True, text=True)
    if setup.returncode:
        os.environ["MEMORIST_MODEL"] = "none"
        print(f"with words alone: {setup.stderr.strip()}")
    else:
        print("with the real model")
    return setup.returncode == 0


def main():
    binary = binary_argument()
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    seed = int(os.environ.get("MEMORIST_SEED", time.time_ns()))
    print(f"MEMORIST_SEED={seed}, {seconds:.0f} s", flush=True)
    checks = Checks("soak")
    with tempfile.TemporaryDirectory() as folder, checks.section("runs to its end"):
        # The user's settings must not change what is tested.
        for name in ("PROJECT", "AGENT", "MODEL", "TOKEN"):
            os.environ.pop(f"MEMORIST_{name}", None)
        settings = Path(folder, "memorist.toml")
        settings.touch()
        os.environ["MEMORIST_CONFIG"] = str(settings)
        # For memory_stats.
        os.environ["MEMORIST_PROFILE"] = "full"
        with_model = provide_model(binary)
        store = Path(folder, "store")
        stdio = Stdio(checks, binary, store)
        with HttpServer(checks, binary, store) as server:
            http = Http(server)
            clients = [Client("stdio", stdio, stdio.process.pid, with_model, seed),
                     Client("http", http, server.process.pid, with_model, seed + 1)]
            samples = soak(clients, store, seconds)
            for client in clients:
                checks.equal(f"every answer over {client.name} is right", client.error, None)
                wanted = {"full"} if with_model else {"full", "keyword"}
                checks.that(f"searches over {client.name} use all there is", set(client.tiers) <= wanted, client.tiers)
                print(f"{client.name}: {client.requests} requests, tiers {dict(client.tiers)}")
        stdio.end("the stdio server")
        check_flat(checks, samples)

        def run(*command):
            return subprocess.run([binary, "--store", store, "--json", *command], capture_output=True, text=True)

        total = json.loads(run("stats").stdout)["totalEntries"]
        checks.equal("as many memories are left as should be", total, sum(len(client.live) for client in clients))
        doctor = run("doctor")
        checks.that("doctor is content", doctor.returncode == 0, doctor.stdout + doctor.stderr)
    print("FAIL: see above" if checks.failed else "PASS", flush=True)
    checks.end()


if __name__ == "__main__":
    main()

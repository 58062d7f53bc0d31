#!/usr/bin/env python3
"""Embedding providers: the clients of their makers agree that `embedding_server.py` speaks their protocols, and memorist
embeds with it in each of them; when it is down, words are searched, with a notice."""

import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import cohere
import ollama
import openai
from google import genai
from google.genai import errors, types

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from check import TIMEOUT_SECONDS, Checks, binary_argument
from embedding_server import DIMENSIONS, KEY, EmbeddingServer, vector

TEXTS = ["the harbour office opens at nine", "Ana likes green lanterns", "\u65e5\u672c\u8a9e"]


def near(one, other):
    return len(one) == len(other) and all(abs(a - b) < 1e-5 for a, b in zip(one, other))


def check_server(checks, server):
    """The makers' own clients understand every answer."""
    wanted = [vector(text) for text in TEXTS]
    with checks.section("openai"):
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key=KEY, max_retries=0)
        made = client.embeddings.create(model="text-embedding-3-small", input=TEXTS).data
        made.sort(key=lambda entry: entry.index)
        checks.that("openai: vectors, base64", all(near(m.embedding, w) for m, w in zip(made, wanted)), made)
        short = client.embeddings.create(model="text-embedding-3-small", input="x", dimensions=16, encoding_format="float")
        checks.equal("openai: dimensions", len(short.data[0].embedding), 16)
        for name, error, act in [
            ("401", openai.AuthenticationError, lambda: client.with_options(api_key="x").embeddings.create(
                model="text-embedding-3-small", input="x")),
            ("404", openai.NotFoundError, lambda: client.embeddings.create(model="none", input="x")),
            ("400", openai.BadRequestError, lambda: client.embeddings.create(model="text-embedding-3-small", input="")),
        ]:
            checks.that(f"openai: {name}", raised(error, act))
    with checks.section("ollama"):
        client = ollama.Client(host=server.url)
        made = client.embed(model="nomic-embed-text", input=TEXTS).embeddings
        checks.that("ollama: vectors", all(near(m, w) for m, w in zip(made, wanted)), made)
        checks.equal("ollama: window", client.show("nomic-embed-text").modelinfo["bert.context_length"], 2048)
        checks.that("ollama: 404", raised(ollama.ResponseError, lambda: client.embed(model="none", input="x")))
    with checks.section("google-genai"):
        client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=server.url))
        made = client.models.embed_content(model="gemini-embedding-001", contents=TEXTS).embeddings
        scaled = [[7 * number for number in one] for one in wanted]
        checks.that("google-genai: vectors", all(near(m.values, w) for m, w in zip(made, scaled)), made)
        config = types.EmbedContentConfig(task_type="RETRIEVAL_QUERY", output_dimensionality=16)
        made = client.models.embed_content(model="gemini-embedding-001", contents=["x"], config=config).embeddings
        checks.equal("google-genai: dimensions", len(made[0].values), 16)
        checks.that("google-genai: 404", raised(
            errors.ClientError, lambda: client.models.embed_content(model="none", contents=["x"])))
    with checks.section("cohere"):
        client = cohere.ClientV2(api_key=KEY, base_url=server.url)
        made = client.embed(model="embed-v4.0", texts=TEXTS, input_type="search_document", embedding_types=["float"])
        checks.that("cohere: vectors", all(near(m, w) for m, w in zip(made.embeddings.float_, wanted)), made)
        other = cohere.ClientV2(api_key="x", base_url=server.url)
        checks.that("cohere: 401", raised(cohere.UnauthorizedError, lambda: other.embed(
            model="embed-v4.0", texts=["x"], input_type="search_query", embedding_types=["float"])))


def check_jobs(checks, server):
    """E12: the makers' own clients understand every answer about batch jobs."""
    wanted = vector(TEXTS[0])
    with checks.section("openai batches"):
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key=KEY, max_retries=0)
        lines = [{"custom_id": f"line {at}", "method": "POST", "url": "/v1/embeddings", "body": {
            "model": "text-embedding-3-small", "input": text}} for at, text in enumerate([TEXTS[0], "unspeakable"])]
        data = "".join(json.dumps(line) + "\n" for line in lines).encode()
        file = client.files.create(file=("lines.jsonl", data), purpose="batch")
        batch = client.batches.create(input_file_id=file.id, endpoint="/v1/embeddings", completion_window="24h",
                                      metadata={"memorist": "a key"})
        checks.equal("openai: a batch begins", [batch.status, batch.metadata], ["in_progress", {"memorist": "a key"}])
        batch = client.batches.retrieve(batch.id)
        checks.equal("openai: it ends", batch.status, "completed")
        line = json.loads(client.files.content(batch.output_file_id).text)
        checks.that("openai: its vectors", line["custom_id"] == "line 0"
                    and near(line["response"]["body"]["data"][0]["embedding"], wanted), line)
        checks.equal("openai: what failed", json.loads(client.files.content(batch.error_file_id).text)["custom_id"], "line 1")
        checks.that("openai: the list has it", batch.id in [one.id for one in client.batches.list()])
        checks.that("openai: the list has its file", file.id in [one.id for one in client.files.list(purpose="batch")])
        for name in (file.id, batch.output_file_id, batch.error_file_id):
            checks.that("openai: a file is deleted", client.files.delete(name).deleted)
        other = client.files.create(file=("lines.jsonl", data), purpose="batch")
        batch = client.batches.create(input_file_id=other.id, endpoint="/v1/embeddings", completion_window="24h")
        checks.equal("openai: cancelled", client.batches.cancel(batch.id).status, "cancelled")
        client.files.delete(other.id)
        checks.that("openai: 404", raised(openai.NotFoundError, lambda: client.batches.retrieve("none")))
    with checks.section("google-genai batches"):
        client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=server.url))
        # The client says that this is an experiment.
        warnings.simplefilter("ignore")
        job = client.batches.create_embeddings(model="gemini-embedding-001", src={
            "inlined_requests": {"contents": TEXTS[:2]}}, config={"display_name": "a key"})
        checks.that("google-genai: a batch begins", job.state.name.endswith("RUNNING") and job.display_name == "a key", job)
        job = client.batches.get(name=job.name)
        checks.that("google-genai: it ends", job.state.name.endswith("SUCCEEDED"), job)
        made = job.dest.inlined_embed_content_responses
        checks.that("google-genai: its vectors", len(made) == 2 and near(
            made[0].response.embedding.values, [7 * number for number in wanted]), made)
        checks.that("google-genai: the list has it", job.name in [one.name for one in client.batches.list()])
        client.batches.delete(name=job.name)
        checks.that("google-genai: deleted", job.name not in [one.name for one in client.batches.list()])
    server.jobs.clear()


def check_commands(checks, binary, server, name, section):
    """E12, E13: many texts go into a batch job by command; it is submitted, shown, fetched, cancelled."""
    jobs = "\n[embedding.batch_jobs]\nenabled = true\nmin_texts = 20\npoll_seconds = 0.05\n"
    with tempfile.TemporaryDirectory() as folder:
        memorist = Memorist(binary, Path(folder), section + jobs)
        for part in range(2):
            lines = [json.dumps({"content": f"{name} note {part} {at}"}) for at in range(30)]
            (Path(folder) / f"{part}.jsonl").write_text("\n".join(lines))
        made = server.jobs_made
        server.jobs_end = False
        _, said = memorist.run("import", str(Path(folder) / "0.jsonl"))
        checks.that(f"E12 {name}: an import submits a job", "30 texts are in batch jobs" in said
                    and server.jobs_made == made + 1, said)
        stats, _ = memorist.run("stats")
        checks.that(f"E12 {name}: it is in the statistics", [job["texts"] for job in stats["batchJobs"]] == [30], stats)
        answer, _ = memorist.run("backfill", "--no-wait")
        checks.equal(f"E12 {name}: it is not awaited", answer, {"embedded": 0, "remaining": 0, "inBatchJobs": 30})
        server.jobs_end = True
        answer, _ = memorist.run("backfill")
        checks.equal(f"E12 {name}: it is", answer, {"embedded": 30, "remaining": 0, "inBatchJobs": 0})
        server.jobs_end = False
        memorist.run("import", str(Path(folder) / "1.jsonl"))
        answer, said = memorist.run("backfill", "--cancel")
        checks.equal(f"E12 {name}: it is cancelled", answer, {"cancelled": 30})
        answer, _ = memorist.run("backfill")
        checks.equal(f"E13 {name}: its texts are sent singly", [answer["embedded"], server.jobs_made], [30, made + 2])
        sent = [text for text in server.texts if text.startswith(f"{name} note")]
        checks.equal(f"E12 {name}: each text is paid once", [len(sent), len(set(sent))], [60, 60])
        checks.equal(f"E12 {name}: no file is left", server.files, {})
        server.jobs_end = True


def raised(error, act):
    try:
        act()
    except error:
        return True
    return False


class Memorist:
    """The command line, with a provider in its settings."""

    def __init__(self, binary, folder, section):
        self.binary, self.folder = binary, folder
        (folder / "memorist.toml").write_text(f"[embedding]\n{section}")

    def run(self, *arguments, code=0, **variables):
        """Runs a command. Returns its JSON, and what it said besides."""
        environment = os.environ | {
            "MEMORIST_CONFIG": str(self.folder / "memorist.toml"), "MEMORIST_STORE": str(self.folder / "store"),
            "MEMORIST_CACHE": str(self.folder / "cache"), "A_KEY": KEY,
        } | variables
        done = subprocess.run([self.binary, *arguments, "--json"], env=environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=TIMEOUT_SECONDS)
        if done.returncode != code:
            raise RuntimeError(f"{arguments}: exit {done.returncode}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout or "null"), done.stdout + done.stderr

    def search(self, query):
        return self.run("search", query)[0]


def check_protocol(checks, binary, server, name, section):
    """E5, E6, E14, X5: saved, found by meaning, by words while the provider is down, and by meaning again."""
    with tempfile.TemporaryDirectory() as folder:
        memorist = Memorist(binary, Path(folder), section)
        answer, _ = memorist.run("setup")
        checks.equal(f"E6 {name}: it answers", answer["dims"], DIMENSIONS)
        server.texts.clear()
        for text in TEXTS:
            memorist.run("add", text)
        memorist.run("sync")
        checks.equal(f"E6 {name}: each text is sent once", sorted(text.rpartition(": ")[2] for text in server.texts),
                     sorted(TEXTS))
        answer = memorist.search("harbour offices")
        checks.that(f"E6 {name}: found by meaning", answer["results"][0]["content"] == TEXTS[0]
                    and "vector" in answer["results"][0]["matchedBy"] and not answer.get("warnings"), answer)
        sent = len(server.texts)
        memorist.search("harbour offices")
        checks.equal(f"R21 {name}: the same query is not sent again", len(server.texts), sent)
        server.failure = (503, "the service is down")
        answer, said = memorist.run("search", "green lanterns")
        checks.that(f"E14 X5 {name}: found by words while it is down, with a notice", any(
            hit["content"] == TEXTS[1] for hit in answer["results"]) and any(
            name in warning for warning in answer["warnings"]), said)
        _, more = memorist.run("add", "The moon rises in the east")
        checks.that(f"X5 {name}: the key is not printed", KEY not in said + more, said)
        server.failure = None
        memorist.run("sync")
        answer = memorist.search("moon rise")
        checks.that(f"E14 {name}: found by meaning when it is back", not answer.get("warnings")
                    and "vector" in answer["results"][0]["matchedBy"], answer)
        memorist.run("add", "an unspeakable thing")
        memorist.run("add", "and one more")
        memorist.run("sync")
        stats, _ = memorist.run("stats")
        checks.equal(f"X5 {name}: a refused text blocks no other",
                     [stats["pendingEmbeddings"], stats["refusedEmbeddings"]], [1, 1])
        doctor, said = memorist.run("doctor")
        checks.that(f"X5 {name}: its reason is kept", doctor["ok"] and "status 400" in said, said)


def check_change(checks, binary, server):
    """E15: another provider is another space, and a change says what it sends."""
    with tempfile.TemporaryDirectory() as folder:
        first = Memorist(binary, Path(folder), ollama_section(server))
        for text in TEXTS:
            first.run("add", text)
        first.run("sync")
        other = Memorist(binary, Path(folder), openai_section(server).replace("127.0.0.1", "localhost"))
        answer = other.search("harbour")
        checks.that("E15 two spaces are not mixed", any("embedding model mismatch" in warning for warning in answer["warnings"]),
                    answer["warnings"])
        answer, said = other.run("reembed")
        checks.that("E15 the change says how much it sends", answer["changed"] and "3 texts" in said, said)
        checks.equal("E15 then it serves", other.search("harbour").get("warnings", []), [])
        stats, _ = other.run("stats")
        checks.that("R21 the cache is in the statistics", stats["embeddingCache"]["entries"] >= 6, stats)
        other.run("purge", "--yes", "--text", TEXTS[0])
        stats, _ = other.run("stats")
        checks.equal("Z11 a purge empties the cache", stats["embeddingCache"]["entries"], 0)
        groq = Memorist(binary, Path(folder), 'provider = "groq"\n')
        answer, said = groq.run("search", "lanterns")
        checks.that("E5 groq has no embeddings, and says so", "no embeddings" in said and answer["results"], said)


def openai_section(server):
    return f'provider = "openai"\nurl = "{server.url}/v1"\napi_key_env = "A_KEY"\ndimensions = {DIMENSIONS}\n'


def ollama_section(server):
    return f'provider = "ollama"\nurl = "{server.url}"\ndimensions = {DIMENSIONS}\n'


def main():
    checks = Checks("providers")
    binary = binary_argument()
    with EmbeddingServer() as server:
        check_server(checks, server)
        check_jobs(checks, server)
        keyed = f'api_key_env = "A_KEY"\ndimensions = {DIMENSIONS}\n'
        for name, section in [
            ("openai", openai_section(server)),
            ("ollama", ollama_section(server)),
            ("gemini", f'provider = "gemini"\nurl = "{server.url}/v1beta"\n{keyed}'),
            ("cohere", f'provider = "cohere"\nurl = "{server.url}/v2"\n{keyed}'),
        ]:
            with checks.section(name):
                check_protocol(checks, binary, server, name, section)
        for name, section in [
            ("openai", openai_section(server)),
            ("gemini", f'provider = "gemini"\nurl = "{server.url}/v1beta"\n{keyed}'),
        ]:
            with checks.section(f"{name} jobs"):
                check_commands(checks, binary, server, name, section)
        with checks.section("change"):
            check_change(checks, binary, server)
    checks.end()


if __name__ == "__main__":
    main()

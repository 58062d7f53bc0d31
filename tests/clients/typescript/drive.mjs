// Drives the tools, resources and prompts of the profile `full` with the TypeScript client, over stdio and HTTP, in each of its protocol modes.
//
//     node drive.mjs PATH_TO_MEMORIST
//
// The client validates each result against the tool's output schema with ajv, which complains on the console about
// schemas: the console must stay empty.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const TIMEOUT_MILLIS = 60_000;
const MODES = { legacy: "2025-11-25", auto: "2026-07-28", pinned: "2026-07-28" };
const TOOLS = [
  "memory_add", "memory_chain", "memory_delete", "memory_digest", "memory_export", "memory_get", "memory_history",
  "memory_import", "memory_link", "memory_list", "memory_outdated", "memory_purge", "memory_recall", "memory_rollback",
  "memory_search", "memory_stats", "memory_undo", "memory_unlink", "memory_update",
];
const ENTRY = ["accessCount", "agent", "confidence", "content", "contentHash", "context", "createdAt", "entryType",
  "expiresAt", "id", "importance", "lastAccessedAt", "project", "source", "tags", "ulid", "updatedAt", "version"];
const DARK_MODE = {
  content: "User prefers dark mode for all applications", entryType: "preference", importance: 7, tags: ["ui", "theme"],
};

// Output of the client is kept instead of printed. This must come before the client is loaded.
const said = [];
const print = process.stdout.write.bind(process.stdout);
for (const stream of [process.stdout, process.stderr]) {
  stream.write = (text) => said.push(String(text)) > 0;
}
process.on("warning", (warning) => said.push(String(warning)));
const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");

let failed = 0;
let heading = "";

function report(name, error) {
  failed += error ? 1 : 0;
  const why = error ? `: ${String(error.message ?? error).replace(/\s+/g, " ").slice(0, 600)}` : "";
  print(`${error ? "FAIL" : "ok  "} ${heading}: ${name}${why}\n`);
}

/** One check; what it throws is why it fails. */
async function check(name, body) {
  try {
    await body();
    report(name);
  } catch (error) {
    report(name, error);
  }
}

function collect(stream) {
  const parts = [];
  stream.on("data", (part) => parts.push(part));
  return () => Buffer.concat(parts).toString();
}

function environment(store) {
  return { ...process.env, MEMORIST_STORE: store };
}

function client(mode) {
  const negotiation = { legacy: "legacy", auto: "auto", pinned: { pin: "2026-07-28" } }[mode];
  return new Client({ name: "drive", version: "1" }, { versionNegotiation: { mode: negotiation } });
}

async function checkAll(client, mode) {
  const raw = (name, args) => client.callTool({ name, arguments: args }, { timeout: TIMEOUT_MILLIS });
  const call = async (name, args = {}) => {
    const result = await raw(name, args);
    assert.ok(!result.isError, `${name}: ${JSON.stringify(result.content)}`);
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent, `${name}: text and structure differ`);
    return result.structuredContent;
  };
  const search = async (query, more = {}) => call("memory_search", { query, ...more });
  const embedded = async () => {
    const end = Date.now() + TIMEOUT_MILLIS;
    while ((await search("anything", { mode: "vector" })).warnings) {
      assert.ok(Date.now() < end, "texts stay without an embedding");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  await check("the protocol version", () => assert.equal(client.getNegotiatedProtocolVersion(), MODES[mode]));
  await check("the server gives its name and instructions", () => {
    assert.equal(client.getServerVersion().name, "memorist");
    assert.match(client.getInstructions(), /memory_search/);
  });
  await check("tools/list", async () => {
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map((tool) => tool.name).sort(), TOOLS);
    for (const tool of tools) {
      assert.equal(tool.outputSchema.type, "object");
      assert.equal(tool.annotations.openWorldHint, false);
    }
  });
  await check("memory_search of an empty store", async () => {
    assert.deepEqual((await search("anything")).results, []);
  });
  await check("memory_add, new and again", async () => {
    const { embedding, ...added } = await call("memory_add", DARK_MODE);
    assert.match(embedding, /^(ready|pending)$/);
    assert.deepEqual(added, { id: 1, created: true, duplicate: false });
    const { embedding: _, ...again } = await call("memory_add", DARK_MODE);
    assert.deepEqual(again, { id: 1, created: false, duplicate: true });
    assert.equal((await call("memory_add", { content: "The login page issues OAuth tokens" })).id, 2);
  });
  await check("memory_get", async () => {
    const { entry } = await call("memory_get", { id: 1 });
    assert.deepEqual(Object.keys(entry).sort(), ENTRY);
    const { content, entryType, importance, tags, context, expiresAt, accessCount } = entry;
    assert.deepEqual({ content, entryType, importance, tags }, DARK_MODE);
    assert.deepEqual([context, expiresAt, accessCount], [null, null, 1]);
    assert.deepEqual(await call("memory_get", { id: 99 }), { error: "Memory entry not found: 99" });
  });
  await check("memory_search in each mode", async () => {
    await embedded();
    for (const [query, mode, sides] of [
      ["dark mode", "hybrid", ["vector", "keyword"]],
      ["what theme does the user like", "vector", ["vector"]],
      ["dark mode", "keyword", ["keyword"]],
    ]) {
      const answer = await search(query, { mode });
      assert.equal(answer.results[0].id, 1, query);
      assert.deepEqual(answer.results[0].matchedBy, sides, query);
      assert.equal(answer.total, answer.results.length);
      assert.equal(answer.tier, "full");
    }
    const filtered = await search("user login", { entryTypes: ["preference"], minImportance: 5, tags: ["ui"], limit: 3 });
    assert.deepEqual(filtered.results.map((hit) => hit.id), [1]);
  });
  await check("memory_update", async () => {
    const { embedding: _, ...updated } = await call("memory_update", { id: 2, importance: 9 });
    assert.deepEqual(updated, { id: 2, updated: true, version: 2 });
    assert.equal((await call("memory_get", { id: 2 })).entry.importance, 9);
    assert.deepEqual(await call("memory_update", { id: 99, importance: 9 }), { error: "Memory entry not found: 99" });
  });
  await check("memory_delete", async () => {
    assert.deepEqual(await call("memory_delete", { id: 2 }), { success: true, deleted: true });
    assert.deepEqual(await call("memory_delete", { id: 2 }), { success: false, deleted: false });
    assert.ok((await search("OAuth login")).results.every((hit) => hit.id !== 2), "a ghost");
  });
  for (const [name, tool, args, says] of [
    ["empty content", "memory_add", { content: "" }, /content.*empty/],
    ["importance 11", "memory_add", { content: "x", importance: 11 }, /importance.*1 to 10/],
    ["confidence 2", "memory_add", { content: "x", confidence: 2 }, /confidence.*0 to 1/],
    ["an unknown entryType", "memory_add", { content: "x", entryType: "rumour" }, /entryType.*rumour.*preference/],
    ["expiresAt in seconds", "memory_add", { content: "x", expiresAt: 1738540800 }, /expiresAt.*milliseconds/],
    ["an unknown field", "memory_search", { query: "x", maxResults: 3 }, /maxResults.*limit/],
    ["limit 1001", "memory_search", { query: "x", limit: 1001 }, /limit.*1 to/],
    ["limit 1000000", "memory_search", { query: "x", limit: 1_000_000 }, /limit.*1 to/],
    ["an id that is text", "memory_get", { id: "one" }, /id.*whole number/],
  ]) {
    await check(`${name} is refused`, async () => {
      const result = await raw(tool, args);
      assert.ok(result.isError, JSON.stringify(result.structuredContent));
      assert.match(result.content[0].text, says);
    });
  }
  await check("confidence NaN is not kept", async () => {
    // JSON.stringify turns it into null.
    const { id } = await call("memory_add", { content: "not a number", confidence: NaN });
    assert.equal((await call("memory_get", { id })).entry.confidence, 1);
  });
  await check("an unknown tool is refused", async () => {
    await assert.rejects(raw("memory_forget_everything", {}), /unknown tool/);
  });
  await check("resources", async () => {
    const { resourceTemplates } = await client.listResourceTemplates();
    const templates = resourceTemplates.map((template) => template.uriTemplate);
    assert.deepEqual(templates, ["memory://{id}", "memory://digest/{project}"]);
    const { resources } = await client.listResources();
    assert.deepEqual(resources.map((resource) => resource.uri), ["memory://digest"]);
    assert.match((await client.readResource({ uri: "memory://digest" })).contents[0].text, /\n# Digest/);
    const { contents } = await client.readResource({ uri: "memory://1" });
    assert.equal(JSON.parse(contents[0].text).content, DARK_MODE.content);
    await assert.rejects(client.readResource({ uri: "memory://99" }), /memory:\/\/99/);
  });
  await check("prompts", async () => {
    const { prompts } = await client.listPrompts();
    assert.deepEqual(prompts.map((prompt) => prompt.name).sort(), ["recall", "remember", "tidy"]);
    const prompt = await client.getPrompt({ name: "recall", arguments: { topic: "login" } });
    assert.match(prompt.messages[0].content.text, /login/);
    await assert.rejects(client.getPrompt({ name: "recall" }), /topic/);
    const ref = { type: "ref/prompt", name: "recall" };
    const { completion } = await client.complete({ ref, argument: { name: "kind", value: "dec" } });
    assert.deepEqual(completion, { values: ["decision"], total: 1, hasMore: false });
  });
}

async function overStdio(binary, store, mode) {
  const transport = new StdioClientTransport({ command: binary, args: ["serve", "--profile", "full"], env: environment(store), stderr: "pipe" });
  const stderr = collect(transport.stderr);
  const connected = client(mode);
  await connected.connect(transport, { timeout: TIMEOUT_MILLIS });
  await checkAll(connected, mode);
  await connected.close();
  await check("stderr of the stdio server is empty", () => assert.equal(stderr(), ""));
}

// Everything that an HTTP server writes to stderr.
const SETTINGS = /^serving MCP at \S+\nsettings of a client, [^\n]*:\n(\{\n[^]*\n\})\n$/;

async function overHttp(binary, store, mode) {
  const server = spawn(binary, ["serve", "--http", "127.0.0.1:0", "--profile", "full"], {
    env: environment(store), stdio: ["ignore", "inherit", "pipe"],
  });
  const stderr = collect(server.stderr);
  const ended = new Promise((resolve) => server.on("close", resolve));
  try {
    await new Promise((resolve, reject) => {
      // A line may come in parts.
      server.stderr.on("data", () => stderr().endsWith("\n}\n") && resolve());
      server.on("close", () => reject(new Error(`the server ended: ${stderr()}`)));
    });
    const settings = SETTINGS.exec(stderr());
    assert.ok(settings, `no settings in ${stderr()}`);
    const { url, headers } = JSON.parse(settings[1]).mcpServers.memorist;
    const connected = client(mode);
    await connected.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }), { timeout: TIMEOUT_MILLIS });
    await checkAll(connected, mode);
    await connected.close();
  } finally {
    server.kill("SIGTERM");
  }
  await check("the HTTP server ends well on SIGTERM", async () => assert.equal(await ended, 0));
  await check("stderr of the HTTP server says only where it serves", () =>
    assert.match(stderr(), SETTINGS));
}

const binary = process.argv[2];
if (!binary) throw new Error("usage: node drive.mjs PATH_TO_MEMORIST");
for (const [transport, over] of [["stdio", overStdio], ["http", overHttp]]) {
  for (const mode of Object.keys(MODES)) {
    heading = `typescript ${transport} ${mode}`;
    const folder = mkdtempSync(join(tmpdir(), "memorist-"));
    try {
      await over(binary, join(folder, "store"), mode);
    } catch (error) {
      report("the session runs to its end", error);
    }
    rmSync(folder, { recursive: true, force: true });
    await check("the client says nothing on the console", () => assert.deepEqual(said.splice(0), []));
  }
}
process.exitCode = failed ? 1 : 0;

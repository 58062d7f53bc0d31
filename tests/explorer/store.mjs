// A store for the test, and the program that serves it.

import { execFile, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { promisify } from "node:util";
import { draws, HOSTILE, LONG, numbersOf, PLANTED, SEEDS, varied } from "./planted.mjs";

const execute = promisify(execFile);
const binary = process.env.MEMORIST_BINARY;

export class Store {
  #folder;
  #explorers = [];

  static async empty() {
    const store = new Store();
    store.#folder = await mkdtemp(join(tmpdir(), "memorist-explorer-"));
    await writeFile(join(store.#folder, "memorist.toml"), "");
    return store;
  }

  static async make(count) {
    const store = await Store.empty();
    await store.import(SEEDS.map((content) => ({ content })));
    await store.#vary(count);
    await store.run("import", join(store.#folder, "many.jsonl"));
    const planted = [...PLANTED, ...HOSTILE.map((content) => ({ content })), { content: LONG }];
    await store.import(planted);
    return store;
  }

  get #environment() {
    const { PATH, HOME, XDG_CACHE_HOME, MEMORIST_CACHE, LANG } = process.env;
    return {
      PATH, HOME, XDG_CACHE_HOME, MEMORIST_CACHE, LANG,
      MEMORIST_STORE: join(this.#folder, "store"),
      MEMORIST_CONFIG: join(this.#folder, "memorist.toml"),
    };
  }

  /** Runs the program as another process of the same store. */
  async run(...given) {
    const { stdout } = await execute(binary, given, { env: this.#environment, cwd: this.#folder, maxBuffer: 1 << 28 });
    return stdout;
  }

  async json(...given) {
    return JSON.parse(await this.run(...given, "--json"));
  }

  /** Saves memories: lines as `memorist import` reads them. */
  async import(lines) {
    const file = join(this.#folder, "lines.jsonl");
    await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    await this.run("import", file);
  }

  /** Writes the many memories as an export with embeddings, so that none has to be embedded. */
  async #vary(count) {
    const exported = (await this.run("export", "--embeddings")).trim().split("\n").map((line) => JSON.parse(line));
    const header = exported.find(({ type }) => type === "memorist");
    if (!header?.model) throw new Error("the store has no embedding model: memorist setup fetches it");
    const records = exported.filter(({ type, embedding }) => type === "record" && embedding);
    const seeds = records.map(({ content, embedding }) => ({ content, numbers: numbersOf(embedding) }));
    const draw = draws(21);
    const now = Date.now();
    const out = createWriteStream(join(this.#folder, "many.jsonl"));
    out.write(`${JSON.stringify(header)}\n`);
    for (let at = 0; at < count; at++) {
      const line = varied(at, seeds, draw, now);
      if (!out.write(`${JSON.stringify(line)}\n`)) await once(out, "drain");
    }
    out.end();
    await once(out, "finish");
  }

  /** Starts an explorer; its address with a one-time code. */
  async explore(...given) {
    const explorer = spawn(binary, ["explore", "--no-open", "--json", ...given], { env: this.#environment, cwd: this.#folder });
    this.#explorers.push(explorer);
    let said = "";
    let complained = "";
    explorer.stderr.on("data", (data) => {
      complained += data;
    });
    for await (const data of explorer.stdout) {
      said += data;
      if (said.includes("\n")) break;
    }
    if (!said.includes("\n")) throw new Error(`the explorer ended: ${complained}`);
    explorer.stdout.resume();
    return JSON.parse(said.split("\n")[0]).url;
  }

  /** All the bytes of the database, in which a purged text is not. */
  async bytes() {
    return readFile(join(this.#folder, "store", "memory.db"));
  }

  async end() {
    for (const explorer of this.#explorers) {
      explorer.kill("SIGTERM");
      if (explorer.exitCode === null) await once(explorer, "exit");
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

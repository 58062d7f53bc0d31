// Bundles each test file and runs them all by node:test, as this Node reads no TypeScript.
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const here = import.meta.dirname;
const names = (await readdir(here)).filter((name) => name.endsWith(".test.ts"));
const out = await mkdtemp(join(tmpdir(), "explorer-test-"));
await build({
  entryPoints: names.map((name) => join(here, name)),
  bundle: true,
  platform: "node",
  format: "esm",
  outExtension: { ".js": ".mjs" },
  outdir: out,
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
});
const files = names.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
const run = spawnSync(process.execPath, ["--test", "--test-reporter=spec", ...files], { stdio: "inherit" });
await rm(out, { recursive: true, force: true });
process.exitCode = run.status ?? 1;

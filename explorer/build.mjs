// Bundles the page into dist/, and writes dist/SOURCES: SHA-256 of all that goes in and comes out.
import { createHash } from "node:crypto";
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const BUDGET = 150_000;
process.chdir(import.meta.dirname);

// A new folder replaces the old one, so that nothing of an earlier build stays.
const out = "dist.new";
await rm(out, { recursive: true, force: true });
await mkdir(out);
await build({
  entryPoints: { app: "src/main.tsx" },
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  outdir: out,
  legalComments: "none",
  banner: { js: "/* With preact, (c) its authors, MIT. */" },
  charset: "utf8",
  logLevel: "warning",
});
await build({ entryPoints: { app: "src/css/app.css" }, bundle: true, minify: true, outdir: out, logLevel: "warning" });
// The page is of others, too: their licence comes along, in the packages and for who reads the bundle.
const { version } = JSON.parse(await readFile("node_modules/preact/package.json", "utf8"));
const licence = await readFile("node_modules/preact/LICENSE", "utf8");
await writeFile(`${out}/THIRD-PARTY-LICENSES`, `preact ${version} (MIT)\n\n${licence.trim()}\n`);
for (const name of ["index.html", "icon.svg"]) await cp(`src/${name}`, `${out}/${name}`);

const sources = (await readdir("src", { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map((entry) => `${entry.parentPath ?? entry.path}/${entry.name}`);
const outputs = (await readdir(out)).map((name) => `dist/${name}`);
const inputs = ["build.mjs", "package-lock.json", "package.json", "tsconfig.json", ...sources];
let size = 0;
const lines = [];
for (const name of [...inputs, ...outputs].sort()) {
  const bytes = await readFile(name.replace(/^dist\//, `${out}/`));
  if (name.startsWith("dist/")) size += gzipSync(bytes, { level: 9 }).length;
  lines.push(`${createHash("sha256").update(bytes).digest("hex")}  ${name}`);
}
await writeFile(`${out}/SOURCES`, `${lines.join("\n")}\n`);
await rm("dist", { recursive: true, force: true });
await rename(out, "dist");
console.log(`${outputs.length} files, ${size} bytes gzipped of ${BUDGET}`);
if (size > BUDGET) process.exitCode = 1;

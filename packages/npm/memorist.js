#!/usr/bin/env node
// Starts the program of this platform's package, and behaves as it does: stdin, stdout and stderr are its own, signals reach
// it, and its exit code or signal is this one's.
'use strict';

const { spawn, execFileSync } = require('node:child_process');

const known = Object.keys(require('./package.json').optionalDependencies);
const name = `@memorist/${process.platform}-${process.arch}`;

function fail(text) {
  process.stderr.write(`memorist: ${text}\n`);
  process.exit(1);
}

function program() {
  const file = process.platform === 'win32' ? 'memorist.exe' : 'memorist';
  // On Linux, npm installs the program for the C library of the system: glibc or musl.
  for (const installed of [name, `${name}-musl`]) {
    try {
      return require.resolve(`${installed}/bin/${file}`);
    } catch {
      // The other one may be there.
    }
  }
  const isMusl = process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime;
  const wanted = isMusl ? `${name}-musl` : name;
  if (!known.includes(wanted)) {
    fail(`there is no package ${wanted}, only ${known.join(', ')}; memorist can be built from source, with Rust`);
  }
  fail(`its package for this platform, ${wanted}, is not installed; install memorist again, without --omit=optional ` +
    'or --no-optional, and not from a node_modules folder of another platform');
}

const child = spawn(program(), process.argv.slice(2), { stdio: 'inherit', windowsHide: true });
child.on('error', (error) => fail(`${child.spawnfile} cannot be started: ${error.message}`));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    // Ctrl-C on a terminal has reached the program already, and a second one would end it at once.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  });
}
// A server on stdin and stdout ends with the process that started it, which is this one: so this one ends with its client. npx
// starts this one by npm and a shell, which outlive their own.
function parentOf(pid) {
  const [, parent, name] = execFileSync('ps', ['-o', 'ppid=,comm=', '-p', pid], { encoding: 'utf8' }).match(/(\d+)\s+(.*)/);
  return { pid: Number(parent), name };
}

function client() {
  if (process.env.npm_lifecycle_event !== 'npx') return process.ppid;
  const above = parentOf(process.ppid);
  return /(^|[/-])(sh|bash|dash|zsh)$/.test(above.name.trim()) ? parentOf(above.pid).pid : above.pid;
}

function endWith(pid) {
  const parent = process.ppid;
  setInterval(() => {
    try {
      if (process.ppid === parent) process.kill(pid, 0);
      else process.exit();
    } catch (error) {
      if (error.code !== 'EPERM') process.exit();
    }
  }, 1000).unref();
}

const args = process.argv.slice(2);
if (process.platform !== 'win32' && args.includes('serve') && !args.some((arg) => arg.startsWith('--http'))) {
  try {
    endWith(client());
  } catch {
    // Without `ps` it ends when stdin does.
  }
}
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});

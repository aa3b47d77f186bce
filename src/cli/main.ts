#!/usr/bin/env node
import { fileURLToPath } from 'node:url';

const MIN_NODE = 24;

// Nothing of an older Node's lacks may be met before this: it would be told as a SyntaxError.
if (Number.parseInt(process.versions.node, 10) < MIN_NODE) {
  process.stderr.write(
    `echelon: it needs Node ${MIN_NODE} or newer, and this is Node ${process.versions.node} (${process.execPath}). Install a newer one, or put it first on PATH.\n`,
  );
  process.exit(1);
}

// Half of the time of a short command is compiling. The directory is the installation's own, never a shared one: whoever
// can write there decides what runs. Where it cannot be written, nothing is kept.
const { enableCompileCache } = await import('node:module');
enableCompileCache(fileURLToPath(new URL('../../.cache/node-compile', import.meta.url)));

const { run } = await import('./run.ts');
await run();

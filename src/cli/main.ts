#!/usr/bin/env node
import { fileURLToPath } from 'node:url';

const MIN_NODE = 24;

// This must run before any syntax that an older Node lacks: the user would only see a SyntaxError.
if (Number.parseInt(process.versions.node, 10) < MIN_NODE) {
  process.stderr.write(
    `echelon: Node ${process.versions.node} (${process.execPath}) is too old. Install Node ${MIN_NODE} or newer, and put it first on PATH.\n`,
  );
  process.exit(1);
}

// Half of the time of a short command is compilation. The cache belongs to the installation and is never shared: a user who
// can write there could replace our code. If it cannot be written, nothing is cached.
const { enableCompileCache } = await import('node:module');
enableCompileCache(fileURLToPath(new URL('../../.cache/node-compile', import.meta.url)));

async function isHere(): Promise<boolean> {
  const { FILE_COMMANDS } = await import('./file-commands.ts');
  if (!process.argv.slice(2).some((word) => Object.hasOwn(FILE_COMMANDS, word))) return true;
  const { isLimited } = await import('echelon-verify/cli/limited');
  return await isLimited();
}

if (await isHere()) {
  const { run } = await import('./run.ts');
  await run();
}

#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Half of the time of a short command is compiling. The directory is the installation's own, never a shared one: whoever
// can write there decides what runs. Where it cannot be written, nothing is kept.
enableCompileCache(fileURLToPath(new URL('../../.cache/node-compile', import.meta.url)));

const { run } = await import('./run.ts');
await run();

// Starts the command line of the checkout. Plain JavaScript, so that the cache is in use before the first TypeScript file:
// with a warm cache Node then never loads what strips types.
import module from 'node:module';
import { fileURLToPath } from 'node:url';

module.enableCompileCache?.(fileURLToPath(new URL('../.cache/node-compile', import.meta.url)));
await import('../src/cli/main.ts');

import { join } from 'node:path';

const here = (file: string): string => join(import.meta.dirname, file);

/** The replacements of Node's modules in a verifier for browsers: the few functions that the readers use. */
export const BROWSER_ALIASES: Readonly<Record<string, string>> = {
  'node:zlib': here('zlib.ts'),
  'node:crypto': here('crypto.ts'),
  'node:path': here('path.ts'),
  'node:fs/promises': here('fs.ts'),
  'node:fs': here('fs.ts'),
  'node:util': here('util.ts'),
  'csv-parse/stream': here('csv.ts'),
};

// Builds the page, with what it imports of the other packages, as static files with hashed names.
import { join } from 'node:path';
import { build } from 'vite';

const root = join(import.meta.dirname, 'src');

const nodes = (file: string) => join(root, 'verify/node', file);
const alias = {
  'node:zlib': nodes('zlib.ts'),
  'node:crypto': nodes('crypto.ts'),
  'node:path': nodes('path.ts'),
  'node:fs/promises': nodes('fs.ts'),
  'node:fs': nodes('fs.ts'),
  'node:util': nodes('util.ts'),
  'csv-parse/stream': nodes('csv.ts'),
};

/** Writes index.html and assets/ into `folder`. The page loads no inline code and nothing from elsewhere. */
export async function buildDashboard(folder: string): Promise<void> {
  const jsx = { runtime: 'automatic' as const, importSource: 'preact' };
  await build({
    configFile: false,
    root,
    publicDir: false,
    logLevel: 'warn',
    oxc: { jsx },
    // The readers of batches and dumps are Node's too; the page has its own versions of the few functions that they use.
    resolve: { alias },
    // Workers are built by themselves, from the same sources.
    worker: { format: 'es', rolldownOptions: { output: { codeSplitting: false } } },
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: 'es2023',
      // An inlined file would need a policy that allows data: or inline code.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  });
}

// Builds the page, with what it imports of the other packages, as static files with hashed names.
import { join } from 'node:path';
import { BROWSER_ALIASES } from 'echelon-verify/browser/node/aliases';
import { build } from 'vite';

const root = join(import.meta.dirname, 'src');

/** Writes index.html and assets/ into `folder`. The page loads no inline code and nothing from elsewhere. */
export async function buildDashboard(folder: string): Promise<void> {
  const jsx = { runtime: 'automatic' as const, importSource: 'preact' };
  await build({
    configFile: false,
    root,
    publicDir: false,
    logLevel: 'warn',
    oxc: { jsx },
    resolve: { alias: BROWSER_ALIASES },
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

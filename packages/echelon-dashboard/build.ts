// Builds the page, with the notices of the packages in it and with what it imports of the other packages, as static files with hashed names.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BROWSER_ALIASES } from 'echelon-verify/browser/node/aliases';
import { build, type Rolldown } from 'vite';

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
      license: { fileName: NOTICES },
      reportCompressedSize: false,
    },
  });
  appendFileSync(join(folder, NOTICES), await noticesOfThread());
}

/** Licences of the packages in the page and in its worker thread. */
const NOTICES = 'THIRD-PARTY.md';

/** The notices of the worker thread, which the build of the page does not count. */
async function noticesOfThread(): Promise<string> {
  const thread = fileURLToPath(import.meta.resolve('echelon-verify/browser/verifier-thread'));
  const { output } = (await build({
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    resolve: { alias: BROWSER_ALIASES },
    build: { write: false, license: { fileName: NOTICES }, rolldownOptions: { input: thread } },
  })) as Rolldown.RolldownOutput;
  const notices = output.find(({ fileName }) => fileName === NOTICES) as Rolldown.OutputAsset;
  return `\n# In the worker thread\n\n${notices.source}`;
}

// Bundles programs of this repository with everything that they import: minified files for Node, without node_modules.
import { parseArgs } from 'node:util';
import { build } from 'vite';

/** What {@link bundle} makes. */
export interface BundleOptions {
  /** The source of each file by the file's name without its extension: `{ verify: 'packages/echelon-verify/src/cli/main.ts' }`. */
  entries: Readonly<Record<string, string>>;
  /** The folder of the files; it is emptied. Code that a program imports dynamically has a file of its own there. */
  to: string;
}

/** Writes `NAME.mjs` for each entry, for Node 20 and newer. Throws if a source is missing or does not parse. */
export async function bundle({ entries, to }: BundleOptions): Promise<void> {
  await build({
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: true,
      outDir: to,
      emptyOutDir: true,
      target: 'node20',
      minify: true,
      license: { fileName: 'THIRD-PARTY.md' },
      reportCompressedSize: false,
      rolldownOptions: {
        input: { ...entries },
        output: { format: 'es', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
      },
    },
  });
}

if (import.meta.main) {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { to: { type: 'string', default: 'dist/bundle' } },
  });
  const entries = Object.fromEntries(positionals.map((one) => one.split('=') as [string, string]));
  await bundle({ entries, to: values.to });
}

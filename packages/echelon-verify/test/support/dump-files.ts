import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DumpAdapter, DumpOptions, DumpStep } from '../../src/dumps/adapter.ts';

/** Folder of the dumps that trainers wrote. */
export const DUMPS = 'test/golden/dumps';

/** A folder that is removed at the end of the scope. */
export interface Folder extends AsyncDisposable {
  readonly path: string;
  /** Writes a file and returns its path. */
  write(name: string, content: string | Uint8Array): Promise<string>;
}

/** A new folder. */
export async function folder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'echelon-dumps-'));
  return {
    path,
    async write(name, content) {
      await writeFile(join(path, name), content);
      return join(path, name);
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true }),
  };
}

/** Rows as JSON lines; NaN and infinities as Python writes them. */
export function jsonLines(rows: readonly unknown[]): string {
  const mark = '\u0001';
  const text = rows.map((row) =>
    JSON.stringify(row, (_key, value: unknown) =>
      typeof value === 'number' && !Number.isFinite(value) ? `${mark}${value}${mark}` : value,
    ),
  );
  return `${text.join('\n').replaceAll(/"\\u0001(-?\w+)\\u0001"/g, '$1')}\n`;
}

/** All steps of files. */
export async function stepsOf(
  adapter: DumpAdapter,
  files: readonly string[],
  options: DumpOptions = {},
): Promise<DumpStep[]> {
  return await Array.fromAsync(adapter.steps(files, options));
}

/** The adapter with every step changed: a fault that a trainer could have. */
export function planted(adapter: DumpAdapter, change: (step: DumpStep) => DumpStep): DumpAdapter {
  return {
    ...adapter,
    async *steps(files, options) {
      for await (const step of adapter.steps(files, options)) yield change(step);
    },
  };
}

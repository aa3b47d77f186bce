import { nearestName } from '../core/nearest.ts';
import type { Batch } from '../verify/format/batch.ts';
import { type BundleHead, readBundleHead } from '../verify/format/bundle.ts';
import { BatchFormatError } from '../verify/format/format-error.ts';
import { readBatchFile } from '../verify/format/read.ts';
import { EXIT } from './exit.ts';
import { inert } from './output.ts';
import { readBounded } from './read-bounded.ts';

/** Where the commands on batch files write. */
export interface TextStreams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** A command on batch files that cannot go on: unreadable input, or a batch or row that is not there. */
export class BatchFileError extends Error {
  override readonly name = 'BatchFileError';
}

/** Reads the batches of a file. Throws a {@link BatchFileError} that names file, batch, field and what was expected. */
export async function readBatchesOf(path: string): Promise<Batch[]> {
  return (await readBundleOf(path)).batches;
}

/** {@link readBatchesOf}, with what a replay bundle says of its batch; undefined for any other file. */
export async function readBundleOf(
  path: string,
): Promise<{ batches: Batch[]; bundle: BundleHead | undefined }> {
  try {
    const bytes = await readBounded(path);
    return { batches: readBatchFile(bytes, path), bundle: readBundleHead(bytes, path) };
  } catch (error) {
    if (error instanceof BatchFormatError) throw new BatchFileError(error.message, { cause: error });
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new BatchFileError(`${path}: cannot be read (${code === 'ENOENT' ? 'no such file' : message})`, {
      cause: error,
    });
  }
}

/** One batch of a file by its name; without a name, the only one. Throws a {@link BatchFileError}. */
export async function readBatchOf(path: string, name: string | undefined): Promise<Batch> {
  const batches = await readBatchesOf(path);
  const names = batches.map((batch) => batch.name);
  if (name === undefined) {
    const [only] = batches;
    if (batches.length === 1 && only !== undefined) return only;
    throw new BatchFileError(
      `${path}: holds ${batches.length} batches: say which with --batch (${listed(names)})`,
    );
  }
  const found = batches.find((batch) => batch.name === name);
  if (found !== undefined) return found;
  const near = nearestName(name, names);
  const hint = near === undefined ? listed(names) : `did you mean ${near}?`;
  throw new BatchFileError(`${path}: has no batch ${JSON.stringify(name)} (${hint})`);
}

/** Runs a command: what it cannot read, or is out of range, becomes a sentence on standard error and exit status 2. */
export async function orUnreadable(io: TextStreams, command: () => Promise<number>): Promise<number> {
  try {
    return await command();
  } catch (error) {
    const known = [BatchFileError, BatchFormatError, RangeError].some((kind) => error instanceof kind);
    if (!known || !(error instanceof Error)) throw error;
    io.stderr.write(`${inert(error.message)}\n`);
    return EXIT.usage;
  }
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown}, …` : shown;
}

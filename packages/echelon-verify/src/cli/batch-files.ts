import { EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { nearestName } from 'command-kit/nearest';
import type { Batch } from '../format/batch.ts';
import { type BundleHead, type BundleOf, readBundleHead } from '../format/bundle.ts';
import { BatchFormatError } from '../format/format-error.ts';
import { readRecorded } from '../format/read.ts';
import { lastRead } from '../format/reading.ts';
import type { StepBatch } from '../format/step-batch.ts';
import type { BatchReport } from '../report/report.ts';
import type { DumpReport } from '../verify/verify-dump.ts';
import { readBounded } from './read-bounded.ts';

/** The streams to which the commands on batch files write. */
export interface TextStreams {
  /** `columns`: the width of the terminal; undefined if it is none. */
  readonly stdout: { write(text: string): unknown; readonly columns?: number | undefined };
  readonly stderr: { write(text: string): unknown };
}

/** Ends a command on batch files: the input is unreadable, or lacks a batch or a row. */
export class BatchFileError extends Error {
  override readonly name = 'BatchFileError';
}

/** A report and the file of its batch. */
export type BatchFileReport = BatchReport & { readonly file: string; readonly bundle?: BundleOf };

/** A report of a batch file, or of a step of a dump. */
export type AnyReport = BatchFileReport | DumpReport;

/** Reads the batches of a file, or the one with a name. Throws a {@link BatchFileError} that names the file, the batch, the field and the expectation. */
export async function readBatchesOf(path: string, name?: string): Promise<Batch[]> {
  const { batches, steps } = await readBundleOf(path);
  if (steps.length > 0)
    throw new BatchFileError(
      `${path} holds optimizer steps (echelon-batch/3), not advantages. Use verify, identify or explain.`,
    );
  if (name === undefined) return batches;
  const found = batches.find((batch) => batch.name === name);
  if (found !== undefined) return [found];
  const names = batches.map((batch) => batch.name);
  throw notChosen(path, name, names);
}

/** What a file of the project's own formats holds, with the head of a replay bundle; undefined for any other file. */
export async function readBundleOf(
  path: string,
): Promise<{ batches: Batch[]; steps: StepBatch[]; bundle: BundleHead | undefined }> {
  try {
    const bytes = await readBounded(path);
    const recorded = readRecorded(bytes, path);
    if ('steps' in recorded) return { batches: [], steps: recorded.steps, bundle: undefined };
    return { batches: recorded.batches, steps: [], bundle: readBundleHead(bytes, path) };
  } catch (error) {
    if (error instanceof BatchFormatError) throw new BatchFileError(error.message, { cause: error });
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new BatchFileError(
      `Cannot read ${path}: ${code === 'ENOENT' ? 'there is no such file.' : message}`,
      {
        cause: error,
      },
    );
  }
}

/** Says that no batch has the name, or that one of several must be chosen. */
export function notChosen(path: string, name: string | undefined, names: readonly string[]): BatchFileError {
  if (names.length === 0) return new BatchFileError(`${path} holds no batch. Give a batch file or a dump.`);
  if (name === undefined)
    return new BatchFileError(
      `${path} holds ${names.length} batches. Choose one with --batch: ${listed(names)}.`,
    );
  const near = nearestName(name, names);
  const hint = near === undefined ? `The batches are ${listed(names)}.` : `Did you mean ${near}?`;
  return new BatchFileError(`${path} has no batch ${JSON.stringify(name)}. ${hint}`);
}

/** Runs a command. Unreadable input and values out of range become a message on standard error and exit status 2. */
export async function orUnreadable(io: TextStreams, command: () => Promise<number>): Promise<number> {
  try {
    return await command();
  } catch (error) {
    const known = [BatchFileError, BatchFormatError, RangeError].some((kind) => error instanceof kind);
    if (!known || !(error instanceof Error)) throw error;
    const isExhausted = error instanceof RangeError && error.message.includes('allocation failed');
    io.stderr.write(`${inert(isExhausted ? outOfMemory(lastRead()) : error.message)}\n`);
    return EXIT.usage;
  }
}

/** The message for a file that needs more memory than the process of a command gets. */
export function outOfMemory(path = 'the input'): string {
  return `Cannot read ${path}: it takes more memory than a command may use, which is a quarter of the machine's and at least 1 GiB. No file of this call is reported. Run the command again without this file, or with parts of it.`;
}

/** The message for a file that holds the process of a command up. */
export function outOfTime(path = 'the input'): string {
  return `Cannot read ${path}: it held the command up for ten minutes of processor time. It may be damaged. No file of this call is reported. Run the command again without this file.`;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown}, …` : shown;
}

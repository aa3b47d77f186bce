import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PyDict, PyObject, PyReadTuple } from '../../../ray/pickle/values.ts';
import { BatchFormatError } from '../format-error.ts';
import { withSource } from './source.ts';
import { openTorchFile } from './torch-zip.ts';

/** The settings of a `training_args.bin`: plain values only. */
export type TrainingArguments = Readonly<Record<string, unknown>>;

/**
 * The settings that transformers wrote near a file: in its folder, the one above, or the newest checkpoint beside it.
 * Undefined if there is none that can be read.
 */
export async function findTrainingArguments(
  file: string,
): Promise<{ file: string; settings: TrainingArguments } | undefined> {
  const own = dirname(file);
  const places = [own, dirname(own)].flatMap((folder) => [
    join(folder, 'training_args.bin'),
    ...checkpointsIn(folder).map((name) => join(folder, name, 'training_args.bin')),
  ]);
  for (const place of places) {
    const settings = await readTrainingArguments(place);
    if (settings !== undefined) return { file: place, settings };
  }
  return undefined;
}

/** The last checkpoint first; none in a folder that cannot be listed. */
function checkpointsIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.startsWith('checkpoint-'))
      .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  } catch {
    return [];
  }
}

async function readTrainingArguments(file: string): Promise<TrainingArguments | undefined> {
  try {
    return await withSource(file, async (source) => plainState((await openTorchFile(source)).value));
  } catch (error) {
    if (error instanceof BatchFormatError || (error as NodeJS.ErrnoException).code !== undefined)
      return undefined;
    throw error;
  }
}

function plainState(value: unknown): TrainingArguments | undefined {
  if (!(value instanceof PyObject && value.state instanceof PyDict)) return undefined;
  return Object.fromEntries(
    value.state.entries
      .filter(([key]) => typeof key === 'string')
      .map(([key, setting]) => [key as string, plain(setting)]),
  );
}

/** A list of plain values, or one. Deeper ones are no settings that are read, and could be inside themselves. */
function plain(value: unknown): unknown {
  const items = value instanceof PyReadTuple ? value.items : value;
  return Array.isArray(items) ? items.map(scalar) : scalar(value);
}

/** An enumeration's member is the value that it is made from. */
function scalar(value: unknown): unknown {
  const [own, ...others] =
    value instanceof PyObject && value.args instanceof PyReadTuple ? value.args.items : [value];
  return others.length > 0 || (typeof own === 'object' && own !== null) ? undefined : own;
}

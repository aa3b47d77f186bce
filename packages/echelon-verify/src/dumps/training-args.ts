import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PyDict, PyObject, PyReadTuple } from 'ray-client-ts/pickle/values';
import { BatchFormatError } from '../format/format-error.ts';
import { foldersOfRun } from './run-folders.ts';
import { withSource } from './source.ts';
import { openTorchFile } from './torch-zip.ts';

/** The settings of a `training_args.bin`: plain values only. */
export type TrainingArguments = Readonly<Record<string, unknown>>;

/**
 * The settings that transformers wrote in the folders of a run, by default those of the file: those of the first checkpoint that was
 * saved at the step of the file or after it, since a resumed run can have others; else those of the finished run, or of the
 * newest checkpoint. Undefined if there is none that can be read.
 */
export async function findTrainingArguments(
  file: string,
  folders: readonly string[] = foldersOfRun(file),
): Promise<{ file: string; settings: TrainingArguments } | undefined> {
  const step = Number(/(\d+)\.\w+$/.exec(file)?.[1] ?? Number.NaN);
  for (const folder of folders) {
    const checkpoints = checkpointsIn(folder);
    const places = [
      ...checkpoints.filter((at) => at >= step).map((at) => join(folder, `checkpoint-${at}`)),
      folder,
      ...checkpoints.toReversed().map((at) => join(folder, `checkpoint-${at}`)),
    ];
    for (const place of places) {
      const found = join(place, 'training_args.bin');
      const settings = await readArguments(found);
      if (settings !== undefined) return { file: found, settings };
    }
  }
  return undefined;
}

/** The steps of the checkpoints in a folder, the first first; none in a folder that cannot be listed. */
export function checkpointsIn(folder: string): number[] {
  try {
    return readdirSync(folder)
      .map((name) => Number(/^checkpoint-(\d+)$/.exec(name)?.[1] ?? Number.NaN))
      .filter((step) => !Number.isNaN(step))
      .sort((a, b) => a - b);
  } catch {
    return [];
  }
}

/** The settings in a torch file: its object, or that of a key. Undefined if there is none that can be read. */
export async function readArguments(file: string, key?: string): Promise<TrainingArguments | undefined> {
  return await readInert(file, (value) =>
    plainState(key !== undefined && value instanceof PyDict ? value.get(key) : value),
  );
}

/**
 * The class of the object in a torch file, as `trl.trainer.grpo_config.GRPOConfig`, with its settings. The name is text: nothing is
 * imported. Undefined if there is none that can be read.
 */
export async function readTypedArguments(
  file: string,
): Promise<{ readonly type: string; readonly settings: TrainingArguments } | undefined> {
  return await readInert(file, (value) => {
    const settings = plainState(value);
    return settings && { type: String((value as PyObject).callable), settings };
  });
}

/** What `read` makes of the object in a torch file; undefined if the file cannot be read. */
async function readInert<T>(file: string, read: (value: unknown) => T | undefined): Promise<T | undefined> {
  try {
    return await withSource(file, async (source) => read((await openTorchFile(source)).value));
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

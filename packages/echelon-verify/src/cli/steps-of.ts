/** The optimizer steps that a path holds, for the commands that name or explain one of them. */

import { open, stat } from 'node:fs/promises';
import { STEP_ADAPTERS } from '../dumps/steps/registry.ts';
import { inflateStart, isGzip } from '../format/inflate.ts';
import { partOf } from '../format/join-ranks.ts';
import { STEP_FORMAT } from '../format/read-step.ts';
import type { StepBatch } from '../format/step-batch.ts';
import { readBundleOf } from './batch-files.ts';
import { sourcesOf } from './dump-files.ts';
import { joinedSteps, type RankPart } from './rank-files.ts';

/**
 * The optimizer steps of a file, of a folder of captured steps or of a dump, read `from` a format; undefined if the path holds anything
 * else. The ranks of a step are joined.
 */
export async function stepsOf(path: string, from?: string): Promise<StepBatch[] | undefined> {
  if (await isStepFile(path)) return orNone(await recordedSteps([path]));
  const { sources } = await sourcesOf(
    [path],
    STEP_ADAPTERS.find(({ name }) => name === from),
  );
  const native: string[] = [];
  const steps: StepBatch[] = [];
  for (const source of sources) {
    if ('file' in source && (await isStepFile(source.file))) native.push(source.file);
    if ('steps' in source) for await (const { step } of source.steps.steps(source.files)) steps.push(step);
  }
  return orNone([...(await recordedSteps(native)), ...steps]);
}

const orNone = (steps: StepBatch[]): StepBatch[] | undefined => (steps.length === 0 ? undefined : steps);

async function recordedSteps(files: readonly string[]): Promise<StepBatch[]> {
  const parts: RankPart[] = [];
  const steps: StepBatch[] = [];
  for (const file of files) {
    for (const step of (await readBundleOf(file)).steps) {
      const key = partOf(step);
      if (key === undefined) steps.push(step);
      else parts.push({ file, key });
    }
  }
  for await (const { step } of joinedSteps(parts)) steps.push(step);
  return steps;
}

/** Bytes in which a file names its format. */
const START_BYTES = 4096;

/** False for a folder, a pipe, or what cannot be opened. */
async function isStepFile(path: string): Promise<boolean> {
  try {
    if (!(await stat(path)).isFile()) return false;
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(new Uint8Array(START_BYTES), 0, START_BYTES, 0);
      const bytes = buffer.subarray(0, bytesRead);
      const start = new TextDecoder('latin1').decode(isGzip(bytes) ? inflateStart(bytes) : bytes);
      return start.includes(STEP_FORMAT);
    } finally {
      await file.close();
    }
  } catch {
    return false;
  }
}

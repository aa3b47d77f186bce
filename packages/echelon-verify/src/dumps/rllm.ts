/**
 * rLLM with `episode_logging.log_episodes`: one JSON file an episode, in a folder for each training step. Trajectories of one
 * task with one name are a group; a trajectory without a reward has that of its last step. No advantages.
 */

import { dirname } from 'node:path';
import { BatchFormatError } from '../format/format-error.ts';
import type { DumpAdapter, DumpStep } from './adapter.ts';
import { numberIn, rewardsOf } from './cells.ts';
import { formsOf, namesOf } from './dump-batch.ts';
import { pickedLine } from './records.ts';
import { numberOf } from './rewards.ts';
import { withSource } from './source.ts';

/** Bytes of one episode at most. */
const MAX_EPISODE_BYTES = 2 ** 28;

const SELECTION = {
  training_step: true,
  episode_id: true,
  trajectories: { name: true, reward: true, steps: { reward: true } },
} as const;

/** See the head of this file. */
export const RLLM: DumpAdapter = {
  name: 'rllm',
  title: 'rLLM episodes (folders of JSON files)',
  matches: ({ path, keys }) =>
    ['training_step', 'episode_id', 'session_id'].every((key) => keys?.has(key)) && !VALIDATION.test(path),
  estimators: formsOf('rllm'),
  async *steps(files) {
    let rows: Row[] = [];
    const seen = new Set<string>();
    for (const [at, file] of files.entries()) {
      const own = await readEpisode(file);
      const [{ episode, step } = { episode: file, step: 0 }] = own;
      if (seen.size === seen.add(`${step}/${episode}`).size) throw again(file, episode);
      rows.push(...own);
      const after = files[at + 1];
      if (after !== undefined && dirname(after) === dirname(file)) continue;
      yield stepOf(file, rows);
      rows = [];
    }
  },
};

/** Validation episodes are not trained. */
const VALIDATION = /val_step_\d+_epoch_\d+[/\\][^/\\]*$/;

/** One trajectory. */
interface Row {
  readonly episode: string;
  readonly step: number;
  readonly group: string;
  readonly reward: number | undefined;
}

async function readEpisode(file: string): Promise<Row[]> {
  const bytes = await withSource(file, async (source) => {
    if (source.byteLength <= MAX_EPISODE_BYTES) return new Uint8Array(await source.slice(0));
    const expected = `an episode of at most ${MAX_EPISODE_BYTES} bytes`;
    throw new BatchFormatError({ code: 'too-large', file, expected, found: `${source.byteLength}` });
  });
  const picked = pickedLine(file, { number: 1, bytes }, SELECTION) as Record<string, unknown>;
  const { training_step: step, episode_id: id, trajectories } = picked;
  if (!Array.isArray(trajectories) || typeof id !== 'string')
    throw new BatchFormatError({ code: 'invalid', file, expected: 'an episode of rLLM' });
  const [task] = id.split(':');
  return trajectories.map((trajectory) => {
    const { name, reward, steps } = (trajectory ?? {}) as Record<string, unknown>;
    const last = Array.isArray(steps) ? (steps.at(-1) as Record<string, unknown> | null) : undefined;
    return {
      episode: id,
      step: numberOf(step),
      group: `${task}/${String(name)}`,
      reward: numberIn(reward ?? last?.reward, { file, field: 'trajectories.reward' }),
    };
  });
}

function again(file: string, episode: string): BatchFormatError {
  const expected = 'an episode_id that no other episode of the step has';
  return new BatchFormatError({ code: 'invalid', file, field: 'episode_id', expected, found: episode });
}

function stepOf(file: string, rows: readonly Row[]): DumpStep {
  const step = rows[0]?.step ?? Number.NaN;
  return {
    name: Number.isInteger(step) ? `step ${step}` : dirname(file),
    file,
    ...(Number.isInteger(step) ? { trainingStep: step } : {}),
    group: namesOf(rows.map(({ group }) => group)),
    ...rewardsOf(rows.map(({ reward }) => reward)),
    findings: [],
  };
}

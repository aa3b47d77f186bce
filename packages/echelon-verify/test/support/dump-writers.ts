/** Writes rows in the layout of each trainer's dump (synthetic: the layouts are documented, see docs/guides/verify-a-run.md). */

import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Batch } from '../../src/format/batch.ts';
import { estimate } from '../../src/identify/estimate.ts';
import { type Folder, jsonLines } from './dump-files.ts';
import { goldenEstimates } from './golden-estimators.ts';
import { pickled, torchFile } from './torch-bytes.ts';

/** One response. */
export interface WrittenRow {
  readonly group: number;
  readonly reward: number;
  readonly advantage: number;
}

/** The responses of one training step. */
export type WrittenStep = readonly WrittenRow[];

/** Writes the steps of a run, numbered from 1, and returns the files. */
export type DumpWriter = (dir: Folder, steps: readonly WrittenStep[]) => Promise<string[]>;

const numbered = (steps: readonly WrittenStep[]): [WrittenStep, number][] =>
  steps.map((rows, at) => [rows, at + 1]);

/** Responses have two tokens, prompts one. */
const TOKENS = [7, 8];

/** By the adapter's name. */
export const WRITERS: Readonly<Record<string, DumpWriter>> = {
  async 'ms-swift'(dir, steps) {
    const lines = numbered(steps).map(([rows, step]) => ({
      step: rows.map(() => String(step)),
      prompt: rows.map(({ group }) => `prompt ${step}.${group}`),
      completion: rows.map(() => 'text'),
      accuracy: rows.map(({ reward }) => reward),
      advantages: rows.map(({ advantage }) => advantage),
    }));
    return [await dir.write('completions.jsonl', jsonLines(lines))];
  },

  'nemo-rl': async (dir, steps) =>
    await Promise.all(
      numbered(steps).map(([rows, step]) => {
        const lines = rows.map(({ group, reward, advantage }, idx) => ({
          content: ['text'],
          rewards: [reward],
          token_ids: [[group, ...TOKENS]],
          token_loss_mask: [[0, 1, 1]],
          advantages: [[0, advantage, advantage]],
          idx,
        }));
        return dir.write(`train_data_step${step}.jsonl`, jsonLines(lines));
      }),
    ),

  slime: async (dir, steps) =>
    await Promise.all(
      numbered(steps).flatMap(([rows, step]) => {
        const { dict, list, int, float } = pickled;
        const file = (name: string, samples: Buffer[]) =>
          dir.write(name, torchFile(dict({ rollout_id: int(step), samples: list(...samples) })));
        const rollout = rows.map(({ group, reward }, at) =>
          dict({ group_index: int(group), index: int(at), reward: float(reward) }),
        );
        const train = rows.map(({ advantage }, at) =>
          dict({
            rollout_position: int(at),
            advantages: list(float(advantage), float(advantage)),
            loss_masks: list(int(1), int(1)),
          }),
        );
        return [file(`${step}.pt`, rollout), file(`${step}_0.pt`, train)];
      }),
    ),

  'prime-rl': async (dir, steps) =>
    await Promise.all(
      numbered(steps).flatMap(([rows, step]) =>
        ['all', 'effective'].map(async (part) => {
          const name = `step_${step}/train/${part}/traces.jsonl`;
          await mkdir(dirname(join(dir.path, name)), { recursive: true });
          const lines = rows.map(({ group, reward, advantage }, at) => ({
            id: `episode ${step}.${at}`,
            group: { id: `${step}.${group}` },
            errors: [],
            traces: [
              {
                id: `trace ${step}.${at}`,
                rewards: { answer: { score: reward, weight: 1 } },
                agent: { name: 'solver', trainable: true },
                nodes: [],
                info: part === 'all' ? {} : { advantage },
              },
            ],
          }));
          return await dir.write(name, jsonLines(lines));
        }),
      ),
    ),

  async table(dir, steps) {
    const lines = numbered(steps).flatMap(([rows, step]) =>
      rows.map(({ group, reward, advantage }) => [step, group, reward, advantage].join()),
    );
    return [await dir.write('run.csv', `${['step,group,reward,advantage', ...lines].join('\n')}\n`)];
  },
};

/** What the trainer's own function gave for three sets of rewards (scripts/golden/estimators.py), as batches. */
export function goldenRun(form: string): Batch[] {
  return ['binary', 'decimal', 'spread'].map((rewards) => {
    const found = goldenEstimates().find(({ batch }) => batch.name === `${form}, ${rewards}`);
    if (found === undefined) throw new RangeError(`no golden values of ${form}`);
    return found.batch;
  });
}

/** The rows of a batch, with its advantages or with what other parameters give. */
export function rowsOf(
  batch: Batch,
  params?: Readonly<Record<string, number | string | boolean>>,
): WrittenStep {
  const advantage =
    params === undefined ? batch.reportedAdvantage! : estimate(batch, { params }).advantage.map(Math.fround);
  return Array.from(advantage, (own, row) => ({
    group: batch.group[row]!,
    reward: batch.tokenLevelRewardSum![row]!,
    advantage: own,
  }));
}

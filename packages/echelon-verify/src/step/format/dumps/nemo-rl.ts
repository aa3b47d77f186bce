/**
 * NeMo-RL's `train_data_step{N}.jsonl`, one sample a line, each value a list of one. It has no current log-probs, so it shows the
 * statistics between rollout engine and trainer and the layout, not the gradient. With a forced ratio the old log-probs are zeros.
 */

import { basename } from 'node:path';
import { pickedLines } from '../../../format/dumps/records.ts';
import { numberOf } from '../../../format/dumps/rewards.ts';
import { withSource } from '../../../format/dumps/source.ts';
import { present } from '../../../present.ts';
import { type DumpRow, type StepAdapter, stepOfRows } from './step-adapter.ts';

const SELECTION = {
  input_lengths: true,
  token_ids: true,
  token_loss_mask: true,
  sample_loss_mask: true,
  advantages: true,
  generation_logprobs: true,
  prev_logprobs: true,
} as const;

/** See the head of this file. */
export const NEMO_RL_STEPS: StepAdapter = {
  name: 'nemo-rl-steps',
  title: 'NeMo-RL train data as optimizer steps (JSON lines)',
  async *steps(files) {
    for (const file of files) {
      const rows: DumpRow[] = [];
      await withSource(file, async (source) => {
        for await (const line of pickedLines(source, SELECTION))
          rows.push(rowOf(line as Record<string, unknown>));
      });
      const number = /(\d+)\.jsonl/.exec(file)?.[1];
      const step = {
        trainer: 'nemo-rl',
        microBatches: [{ rank: 0, index: 0, pass: 0 }],
        reported: {},
        ...present({ optimizerStep: number === undefined ? undefined : Number(number) }),
      };
      yield { file, step: stepOfRows(number === undefined ? basename(file) : `step ${number}`, step, rows) };
    }
  },
};

function rowOf(line: Record<string, unknown>): DumpRow {
  const [length = Number.POSITIVE_INFINITY] = numbersOf(line.input_lengths) ?? [];
  const cut = (value: unknown) => numbersOf(value)?.slice(0, length);
  const [valid = 1] = numbersOf(line.sample_loss_mask) ?? [];
  const old = cut(line.prev_logprobs);
  return {
    columns: present({
      mask: cut(line.token_loss_mask)?.map((flag) => (flag === 1 && valid === 1 ? 1 : 0)),
      id: cut(line.token_ids),
      oldLogProb: old?.some((value) => value !== 0) ? old : undefined,
      rolloutLogProb: cut(line.generation_logprobs),
      reportedAdvantage: cut(line.advantages),
    }),
  };
}

/** The numbers of a value that may stand in lists of one. */
function numbersOf(value: unknown): number[] | undefined {
  if (!Array.isArray(value)) return value === undefined || value === null ? undefined : [numberOf(value)];
  return value.length === 1 && Array.isArray(value[0]) ? numbersOf(value[0]) : value.map(numberOf);
}

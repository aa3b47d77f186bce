/**
 * NeMo-RL's `train_data_step{N}.jsonl`, one sample a line, each value a list of one. It has no current log-probs, so it shows the
 * statistics between rollout engine and trainer and the layout, not the gradient. With a forced ratio the old log-probs are zeros.
 */

import { basename } from 'node:path';
import { present } from '../../base/present.ts';
import { pickedLines } from '../records.ts';
import { withSource } from '../source.ts';
import { checkLengths, type ListKind, numberList } from '../token-lists.ts';
import { type DumpRow, type StepAdapter, selectionOf, stepOfRows } from './adapter.ts';

const COLUMNS = {
  token_loss_mask: 'mask',
  token_ids: 'id',
  prev_logprobs: 'oldLogProb',
  generation_logprobs: 'rolloutLogProb',
  advantages: 'reportedAdvantage',
} as const;
const SELECTION = selectionOf([...Object.keys(COLUMNS), 'input_lengths', 'sample_loss_mask']);

/** See the head of this file. */
export const NEMO_RL_STEPS: StepAdapter = {
  name: 'nemo-rl-steps',
  title: 'NeMo-RL train data as optimizer steps (JSON lines)',
  columns: COLUMNS,
  states: ['optimizerStep'],
  besides: { adapter: 'nemo-rl', holds: () => true },
  async *steps(files) {
    for (const file of files) {
      const rows: DumpRow[] = [];
      await withSource(file, async (source) => {
        for await (const line of pickedLines(source, SELECTION))
          rows.push(rowOf(line as Record<string, unknown>, { file, row: rows.length }));
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

const KINDS: Readonly<Record<string, ListKind>> = {
  token_loss_mask: 'flag',
  token_ids: 'integer',
  input_lengths: 'integer',
};

function rowOf(line: Record<string, unknown>, { file, row }: { file: string; row: number }): DumpRow {
  const list = (key: string) =>
    numberList(unwrapped(line[key]), KINDS[key] ?? 'number', { file, field: `row ${row}, ${key}` });
  const [length = Number.POSITIVE_INFINITY] = list('input_lengths') ?? [];
  const [valid = 1] = list('sample_loss_mask') ?? [];
  const lists: Record<string, number[] | undefined> = Object.fromEntries(
    Object.keys(COLUMNS).map((key) => [key, list(key)?.slice(0, length)]),
  );
  // An advantage may stand once for all tokens.
  const tokens = lists.token_ids?.length ?? lists.token_loss_mask?.length ?? 0;
  const { advantages } = lists;
  if (advantages?.length === 1) lists.advantages = Array.from({ length: tokens }, () => advantages[0]!);
  checkLengths(lists, { file, row });
  const own = Object.entries(COLUMNS).map(([from, to]) => [to, lists[from]]);
  const { mask, oldLogProb, ...rest }: Record<string, number[] | undefined> = Object.fromEntries(own);
  return {
    columns: present({
      mask: mask?.map((flag) => (flag === 1 && valid === 1 ? 1 : 0)),
      oldLogProb: oldLogProb?.some((value) => value !== 0) ? oldLogProb : undefined,
      ...rest,
    }),
  };
}

/** A value out of its list of one, and a single number as a list. */
function unwrapped(value: unknown): unknown {
  if (!Array.isArray(value)) return value === undefined || value === null ? undefined : [value];
  return value.length === 1 && Array.isArray(value[0]) ? unwrapped(value[0]) : value;
}

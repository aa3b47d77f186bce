/**
 * slime (and its fork miles) with `--save-debug-train-data` or `--dump-details`: torch files of training, `samples` with log-probs at
 * each token and `dp_shards` with the micro-batches of each rank and optimizer step. Without them a rollout is read as one step.
 * A token's loss is divided by the tokens of its rollout (`rollout_mask_sums`) and by the rollouts of the step.
 */

import { basename, dirname } from 'node:path';
import { PyDict } from 'ray-client-ts/pickle/values';
import { groupedBy } from '../../base/grouped-by.ts';
import { present } from '../../base/present.ts';
import { BatchFormatError } from '../../format/format-error.ts';
import type { StepBatch } from '../../format/step-batch.ts';
import { withSource } from '../source.ts';
import { numbersIn, TensorError } from '../torch-tensor.ts';
import { openTorchFile, type TorchFile } from '../torch-zip.ts';
import { type DumpRow, type StepAdapter, stepOfRows } from './adapter.ts';

const COLUMNS = {
  loss_masks: 'mask',
  tokens: 'id',
  log_probs: 'oldLogProb',
  rollout_log_probs: 'rolloutLogProb',
  ref_log_probs: 'referenceLogProb',
  advantages: 'reportedAdvantage',
  entropy: 'entropy',
} as const;

/** See the head of this file. */
export const SLIME_STEPS: StepAdapter = {
  name: 'slime-steps',
  title: 'slime training dumps as optimizer steps (torch; also miles)',
  columns: COLUMNS,
  states: ['aggregation'],
  statesOfMicroBatches: ['reportedDenominator'],
  besides: {
    adapter: 'slime',
    holds: (file) => basename(dirname(file)) === 'train_data' || /\d_\d+\.pt$/.test(file),
  },
  async *steps(files) {
    for (const file of files) {
      const { rows, updates } = await withSource(
        file,
        async (source) => await readDump(file, await openTorchFile(source)),
      );
      const number = /(\d+)(?:_\d+)?\.pt$/.exec(file)?.[1];
      const name = number === undefined ? basename(file) : `step ${number}`;
      for (const [at, update] of updates.entries())
        yield { file, step: stepOf(updates.length === 1 ? name : `${name}.${at + 1}`, rows, update) };
    }
  },
};

interface Row {
  readonly row: DumpRow;
  /** Place in the rollout, which `partition` of a shard refers to. */
  readonly position: number;
}

/** An optimizer step: its micro-batches, each with the positions of its samples, and the rollouts that divide the loss. */
interface Update {
  readonly ranks: number;
  readonly rollouts: number | undefined;
  readonly microBatches: readonly {
    readonly rank: number;
    readonly index: number;
    readonly positions: readonly number[];
  }[];
}

async function readDump(
  file: string,
  torch: TorchFile,
): Promise<{ rows: readonly Row[]; updates: readonly Update[] }> {
  const samples = torch.value instanceof PyDict ? torch.value.get('samples') : undefined;
  const expected = 'a training dump of slime';
  if (!Array.isArray(samples) || !samples.every((sample) => sample instanceof PyDict))
    throw new BatchFormatError({ code: 'invalid', file, expected, found: 'another object' });
  try {
    const rows: Row[] = [];
    const taken = new Set<number>();
    for (const sample of samples) {
      const [position = rows.length] = await numbersOf(torch, sample.get('rollout_position'));
      if (taken.size === taken.add(position).size)
        throw new TensorError(`two samples with rollout_position ${position}`);
      rows.push({ position, row: await rowOf(torch, sample) });
    }
    const whole = {
      ranks: 1,
      rollouts: undefined,
      microBatches: [{ rank: 0, index: 0, positions: rows.map(({ position }) => position) }],
    };
    return { rows, updates: (await updatesIn(torch, rows)) ?? [whole] };
  } catch (error) {
    if (!(error instanceof TensorError)) throw error;
    throw new BatchFormatError({ code: 'invalid', file, expected, found: error.message });
  }
}

/** The optimizer steps by the layout of all shards; undefined without one, or if it places samples that are not in the dump. */
async function updatesIn(torch: TorchFile, rows: readonly Row[]): Promise<Update[] | undefined> {
  const shards = torch.value instanceof PyDict ? torch.value.get('dp_shards') : undefined;
  if (!Array.isArray(shards) || !shards.every((shard) => shard instanceof PyDict)) return undefined;
  const ranks: { placed: number[][]; counts: number[] }[] = [];
  for (const shard of shards) {
    const microBatches = shard.get('micro_batch_indices');
    if (!Array.isArray(microBatches)) return undefined;
    const partition = await numbersOf(torch, shard.get('partition'));
    const placed: number[][] = [];
    for (const one of microBatches)
      placed.push((await numbersOf(torch, one)).map((at) => partition[at] ?? Number.NaN));
    ranks.push({ placed, counts: await numbersOf(torch, shard.get('num_microbatches')) });
  }
  const [{ counts } = { counts: [] }] = ranks;
  const rollouts = await numbersOf(torch, shards[0]?.get('global_batch_sizes'));
  const updates = counts.map((count, at): Update => {
    const first = counts.slice(0, at).reduce((sum, own) => sum + own, 0);
    const own = ranks.map(({ placed }) => placed.slice(first, first + count));
    const microBatches = own.flatMap((all, rank) =>
      all.map((positions, index) => ({ rank, index, positions })),
    );
    return { ranks: ranks.length, rollouts: rollouts[at], microBatches };
  });
  const all = updates.flatMap(({ microBatches }) => microBatches.flatMap(({ positions }) => positions));
  const known = new Set(rows.map(({ position }) => position));
  return all.length > 0 && all.every((position) => known.has(position)) ? updates : undefined;
}

function stepOf(name: string, rows: readonly Row[], { ranks, rollouts, microBatches }: Update): StepBatch {
  const placed = groupedBy(
    microBatches.flatMap(({ positions }, microBatch) =>
      positions.map((position) => ({ position, microBatch })),
    ),
    ({ position }) => position,
  );
  // A sample that is placed twice is trained twice: the rows name their samples, so that it shows.
  const isTwice = [...placed.values()].some((places) => places.length > 1);
  const own = rows.flatMap(({ position, row }) =>
    (placed.get(position) ?? []).map(({ microBatch }) => ({
      ...(isTwice ? withPositions(row, `sample ${position}`) : row),
      microBatch,
    })),
  );
  const counted = own.every(({ group, denominator }) => group !== undefined && denominator !== undefined);
  const masked = counted && isMaskedLater(own);
  const settings = {
    trainer: 'slime',
    dataParallelSize: ranks,
    microBatches: microBatches.map(({ rank, index }) => ({
      rank,
      index,
      pass: 0,
      ...present({ reportedDenominator: counted ? rollouts : undefined }),
    })),
    reported: {},
    ...(counted ? { aggregation: AGGREGATION } : {}),
  };
  return stepOfRows(name, settings, masked ? own.map(asKept) : own);
}

function withPositions(row: DumpRow, trajectory: string): DumpRow {
  const [column = []] = Object.values(row.columns);
  return { ...row, trajectory, columns: { ...row.columns, position: column.map((_, at) => at) } };
}

/** slime's mean over rollouts of the mean over the tokens of a rollout. */
const AGGREGATION = { mode: 'prompt-mean', scope: 'global', counts: 'mask', rowCount: 'all' } as const;

/**
 * True if the masks of the dump can be those that a function of the user (`--rollout-data-postprocess-path`) left of the counted
 * ones: no rollout counts fewer tokens than it has trained ones or more than it has, and some count more. Then the counted mask is
 * not in the dump.
 */
function isMaskedLater(rows: readonly DumpRow[]): boolean {
  const sums = new Map<string, { trained: number; tokens: number }>();
  for (const { group = '', columns } of rows) {
    const { trained, tokens } = sums.get(group) ?? { trained: 0, tokens: 0 };
    const mask = columns.mask ?? [];
    const own = mask.reduce((sum, flag) => sum + flag, 0);
    sums.set(group, { trained: trained + own, tokens: tokens + mask.length });
  }
  const siblings = new Map(rows.map(({ group, denominator }) => [group, denominator]));
  const isPossible = rows.every(({ group = '', denominator = 0 }) => {
    const { trained, tokens } = sums.get(group)!;
    return denominator === siblings.get(group) && denominator >= trained && denominator <= tokens;
  });
  return isPossible && rows.some(({ group = '', denominator }) => denominator !== sums.get(group)!.trained);
}

const asKept = (row: DumpRow): DumpRow => {
  const { mask, ...columns } = row.columns;
  return { ...row, columns: { ...columns, ...present({ kept: mask }) } };
};

async function numbersOf(torch: TorchFile, value: unknown): Promise<number[]> {
  return value === undefined || value === null ? [] : await numbersIn(torch, value);
}

async function rowOf(torch: TorchFile, sample: PyDict): Promise<DumpRow> {
  const columns: Record<string, number[]> = {};
  for (const [from, to] of Object.entries(COLUMNS)) {
    const value = sample.get(from) ?? null;
    if (value !== null) columns[to] = await numbersIn(torch, value);
  }
  const { mask, id, ...rest } = columns;
  const [rollout] = await numbersOf(torch, sample.get('rollout_ids'));
  const [denominator] = await numbersOf(torch, sample.get('rollout_mask_sums'));
  return {
    ...present({ group: rollout === undefined ? undefined : `rollout ${rollout}`, denominator }),
    columns: present({
      mask: mask?.map((flag) => (flag === 0 ? 0 : 1)),
      // `tokens` begins with the prompt.
      id: id?.slice(-(mask?.length ?? 0)),
      ...rest,
    }),
  };
}

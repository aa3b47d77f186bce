/**
 * slime (and its fork miles) with `--save-debug-train-data` or `--dump-details`: torch files of training, `samples` with log-probs at
 * each token and `dp_shards` with the micro-batches. A rollout with several optimizer steps is read as one; the statistics
 * between rollout engine and trainer hold for all of them. The old log-probs are those of the first step.
 */

import { basename } from 'node:path';
import { PyDict } from 'ray-client-ts/pickle/values';
import { withSource } from '../../../format/dumps/source.ts';
import { numbersIn, TensorError } from '../../../format/dumps/torch-tensor.ts';
import { openTorchFile, type TorchFile } from '../../../format/dumps/torch-zip.ts';
import { BatchFormatError } from '../../../format/format-error.ts';
import { present } from '../../../present.ts';
import { type DumpRow, type StepAdapter, stepOfRows } from './step-adapter.ts';

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
  states: [],
  async *steps(files) {
    for (const file of files) {
      const rows = await withSource(file, async (source) => await rowsIn(file, await openTorchFile(source)));
      const number = /(\d+)(?:_\d+)?\.pt$/.exec(file)?.[1];
      const step = { trainer: 'slime', microBatches: [{ rank: 0, index: 0, pass: 0 }], reported: {} };
      yield { file, step: stepOfRows(number === undefined ? basename(file) : `step ${number}`, step, rows) };
    }
  },
};

async function rowsIn(file: string, torch: TorchFile): Promise<DumpRow[]> {
  const samples = torch.value instanceof PyDict ? torch.value.get('samples') : undefined;
  const expected = 'a training dump of slime';
  if (!Array.isArray(samples) || !samples.every((sample) => sample instanceof PyDict))
    throw new BatchFormatError({ code: 'invalid', file, expected, found: 'another object' });
  try {
    const rows: DumpRow[] = [];
    for (const sample of samples) rows.push(await rowOf(torch, sample));
    return rows;
  } catch (error) {
    if (!(error instanceof TensorError)) throw error;
    throw new BatchFormatError({ code: 'invalid', file, expected, found: error.message });
  }
}

async function rowOf(torch: TorchFile, sample: PyDict): Promise<DumpRow> {
  const columns: Record<string, number[]> = {};
  for (const [from, to] of Object.entries(COLUMNS)) {
    const value = sample.get(from) ?? null;
    if (value !== null) columns[to] = await numbersIn(torch, value);
  }
  const { mask, id, ...rest } = columns;
  return {
    columns: present({
      mask: mask?.map((flag) => (flag === 0 ? 0 : 1)),
      // `tokens` begins with the prompt.
      id: id?.slice(-(mask?.length ?? 0)),
      ...rest,
    }),
  };
}

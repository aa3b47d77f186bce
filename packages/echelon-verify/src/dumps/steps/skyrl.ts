/**
 * SkyRL with `trainer.dump_data_batch`: `global_step_N_training_input.pkl`, a pickle of its TrainingInputBatch. It has no current
 * log-probs, so it shows the statistics between rollout engine and trainer, not the gradient. Its advantages are from before the
 * division by the denominator. The pickle is read as inert data.
 */

import { basename } from 'node:path';
import { counted } from 'command-kit/plural';
import { RayPickleError } from 'ray-client-ts/errors';
import { readPickle } from 'ray-client-ts/pickle/reader';
import { PyDict, PyObject, PyReadTuple } from 'ray-client-ts/pickle/values';
import { present } from '../../base/present.ts';
import { BatchFormatError } from '../../format/format-error.ts';
import type { Finding } from '../../report/report.ts';
import { stepFinding } from '../../report/step-findings.ts';
import { withSource } from '../source.ts';
import { numbersIn, TensorError } from '../torch-tensor.ts';
import { openTorchFile } from '../torch-zip.ts';
import { type DumpRow, type StepAdapter, stepOfRows } from './adapter.ts';

const MAX_BYTES = 2 ** 28;
/** Optimizer steps of one batch. */
const MAX_STEPS = 4096;
const REBUILD = 'training_batch._rebuild_tensor_batch';

const COLUMNS = {
  sequences: 'id',
  loss_mask: 'mask',
  action_log_probs: 'oldLogProb',
  rollout_logprobs: 'rolloutLogProb',
  base_action_log_probs: 'referenceLogProb',
  advantages: 'reportedAdvantage',
} as const;

/** See the head of this file. */
export const SKYRL_STEPS: StepAdapter = {
  name: 'skyrl-steps',
  title: 'SkyRL training batches (pickle)',
  columns: COLUMNS,
  states: [],
  matches: ({ path, bytes }) =>
    /\.pkl$/i.test(path) &&
    new TextDecoder('latin1').decode(bytes.subarray(0, 256)).includes('_rebuild_tensor_batch'),
  async *steps(files) {
    for (const file of files) {
      const { columns, padded, boundaries } = await batchOf(file);
      const rows = rowsOf(columns);
      const number = /global_step_(\d+)/.exec(basename(file))?.[1];
      const name = number === undefined ? basename(file) : `step ${number}`;
      const parts = boundaries.length === 0 ? [[0, rows.length] as const] : boundaries;
      const findings = [...trainedPadding(rows, padded), ...outside(rows.length - padded, parts)];
      for (const [at, [start, end]] of parts.entries()) {
        const step = { trainer: 'skyrl', microBatches: [{ rank: 0, index: 0, pass: 0 }], reported: {} };
        const own = stepOfRows(parts.length === 1 ? name : `${name}.${at + 1}`, step, rows.slice(start, end));
        yield { file, step: at === 0 && findings.length > 0 ? { ...own, findings } : own };
      }
    }
  },
};

type Matrix = readonly (readonly number[])[];

/** A training batch, and what its metadata say. */
interface SkyrlBatch {
  /** The columns of response tokens; `response_mask` says which of them a row has. */
  readonly columns: ReadonlyMap<string, Matrix>;
  /** Rows at the end that fill the last micro-batches. */
  readonly padded: number;
  /** First row and the row after the last of each optimizer step; none in older versions. */
  readonly boundaries: readonly (readonly [number, number])[];
}

/** Added rows must not be trained. */
function trainedPadding(rows: readonly DumpRow[], padded: number): Finding[] {
  const from = rows.length - padded;
  const trained = rows.flatMap(({ columns: { mask } }, row) =>
    row >= from && mask?.includes(1) === true ? [row] : [],
  );
  if (trained.length === 0) return [];
  const text = `${counted(trained.length, 'row')} of the ${padded} added ones (row ${trained[0]}).`;
  return [stepFinding('padding-trained', text, trained)];
}

/** Rows that are in none of the mini-batches. */
function outside(count: number, parts: SkyrlBatch['boundaries']): Finding[] {
  const covered = new Int32Array(count + 1);
  for (const [start, end] of parts) {
    covered[Math.min(start, count)]! += 1;
    covered[Math.min(end, count)]! -= 1;
  }
  let depth = 0;
  const rows = Array.from({ length: count }, (_, row) => row).filter((row) => {
    depth += covered[row]!;
    return depth === 0;
  });
  if (rows.length === 0) return [];
  return [
    stepFinding('rows-untrained', `${counted(rows.length, 'row')} of ${count} (row ${rows[0]}).`, rows),
  ];
}

async function batchOf(file: string): Promise<SkyrlBatch> {
  const fault = (found: string, cause?: unknown) =>
    new BatchFormatError({ code: 'invalid', file, expected: 'a training batch of SkyRL', found }, { cause });
  try {
    const bytes = await withSource(file, async (source) => {
      if (source.byteLength > MAX_BYTES)
        throw fault(`${source.byteLength} bytes, at most ${MAX_BYTES} are read`);
      return new Uint8Array(await source.slice(0));
    });
    const value = readPickle(bytes);
    const state =
      value instanceof PyObject && String(value.callable).endsWith(REBUILD) ? value.args : undefined;
    const [, own] = state instanceof PyReadTuple ? state.items : [];
    const tensors = own instanceof PyDict ? own.get('batch_dict') : undefined;
    if (!(tensors instanceof PyDict)) throw fault('another object');
    const columns = new Map<string, Matrix>();
    for (const key of ['response_mask', ...Object.keys(COLUMNS)]) {
      const tensor = tensors.get(key);
      if (tensor instanceof PyDict) columns.set(key, await matrixOf(tensor));
    }
    if (!columns.has('response_mask')) throw fault('no response_mask');
    return { columns, ...layoutIn(own instanceof PyDict ? own.get('metadata') : undefined) };
  } catch (error) {
    const isDamaged = [RayPickleError, TensorError, RangeError].some((kind) => error instanceof kind);
    throw isDamaged ? fault((error as Error).message, error) : error;
  }
}

function layoutIn(metadata: unknown): Omit<SkyrlBatch, 'columns'> {
  const of = (key: string) => (metadata instanceof PyDict ? metadata.get(key) : undefined);
  const padded = of('pad_size');
  const boundaries = of('policy_mini_batch_boundaries');
  return {
    padded: typeof padded === 'number' && padded > 0 ? padded : 0,
    boundaries: Array.isArray(boundaries) ? boundaries.slice(0, MAX_STEPS).flatMap(rangeOf) : [],
  };
}

function rangeOf(value: unknown): [number, number][] {
  const [start, end] = value instanceof PyReadTuple ? value.items : Array.isArray(value) ? value : [];
  const isRange = Number.isInteger(start) && Number.isInteger(end);
  return isRange && Number(start) >= 0 && Number(end) >= Number(start) ? [[Number(start), Number(end)]] : [];
}

const NUMPY: Readonly<Record<string, (data: ArrayBuffer) => ArrayLike<number | bigint>>> = {
  float32: (data) => new Float32Array(data),
  float64: (data) => new Float64Array(data),
  int64: (data) => new BigInt64Array(data),
  int32: (data) => new Int32Array(data),
  bool: (data) => new Uint8Array(data),
};

/** A tensor of two dimensions: the bytes of a numpy array, or a file of torch.save for a type that numpy lacks. */
async function matrixOf(tensor: PyDict): Promise<Matrix> {
  const data = tensor.get('data');
  if (!(data instanceof Uint8Array)) throw new TensorError('a tensor without data');
  const buffer = Uint8Array.from(data).buffer;
  if (tensor.get('format') === 'torch') return await torchMatrix(buffer);
  const make = NUMPY[String(tensor.get('dtype'))];
  const shape = tensor.get('shape');
  const [, width] = shape instanceof PyReadTuple ? shape.items : [];
  if (make === undefined || typeof width !== 'number')
    throw new TensorError(`a tensor of ${tensor.get('dtype')}`);
  return rowsOfWidth(Array.from(make(buffer), Number), width);
}

async function torchMatrix(buffer: ArrayBuffer): Promise<Matrix> {
  const torch = await openTorchFile({
    path: 'a tensor of the batch',
    byteLength: buffer.byteLength,
    slice: async (start, end) => buffer.slice(start, end),
    [Symbol.asyncDispose]: async () => {},
  });
  const sizes =
    torch.value instanceof PyObject && torch.value.args instanceof PyReadTuple
      ? torch.value.args.items[2]
      : [];
  const [, width] = sizes instanceof PyReadTuple ? sizes.items : [];
  if (typeof width !== 'number') throw new TensorError('a tensor of unknown size');
  return rowsOfWidth(await numbersIn(torch, torch.value), width);
}

function rowsOfWidth(numbers: readonly number[], width: number): Matrix {
  // A part of a column would make more rows than there are numbers.
  if (!Number.isSafeInteger(width) || width < 0) throw new TensorError(`a tensor of ${width} columns`);
  return Array.from({ length: width === 0 ? 0 : numbers.length / width }, (_, row) =>
    numbers.slice(row * width, (row + 1) * width),
  );
}

function rowsOf(columns: ReadonlyMap<string, Matrix>): DumpRow[] {
  const responses = columns.get('response_mask')!;
  return responses.map((response, row) => {
    const length = response.lastIndexOf(1) + 1;
    // Sequences begin with the prompt; responses are padded at the end.
    const own = Object.entries(COLUMNS).map(([from, to]) => [
      to,
      columns.get(from)?.[row]?.slice(-response.length).slice(0, length),
    ]);
    const { mask, ...rest }: Record<string, number[] | undefined> = Object.fromEntries(own);
    return { columns: present({ mask: mask?.map((flag) => (flag === 0 ? 0 : 1)), ...rest }) };
  });
}

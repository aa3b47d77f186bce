/** Findings about rows: repeated micro-batches, outputs that are empty, weights far below 1. */

import { percent, significant } from 'command-kit/number';
import { counted } from 'command-kit/plural';
import type { StepBatch } from '../../format/step-batch.ts';
import type { Finding } from '../../report/report.ts';
import { stepFinding } from '../../report/step-findings.ts';
import { flagsOf } from '../model/layout.ts';

/** All of them. */
export function rowFindings(batch: StepBatch): Finding[] {
  return [repeatedMicroBatch(batch), emptyOutputs(batch), lowWeights(batch)].filter(
    (found) => found !== undefined,
  );
}

/** Trained tokens of a micro-batch below which two may be equal by chance: short answers of a confident policy. */
const MIN_TOKENS = 32;

/** The first two micro-batches of one pass that have the same tokens with the same log-probs. */
function repeatedMicroBatch(batch: StepBatch): Finding | undefined {
  const { id, logProb, rolloutLogProb } = batch.tokens;
  const numbers = logProb ?? rolloutLogProb;
  const { microBatches } = batch.step;
  if (id === undefined || numbers === undefined || microBatches.length < 2) return undefined;
  const digests = digestsOf(batch, id, numbers);
  const seen = new Map<string, number>();
  for (const [at, { key, tokens }] of digests.entries()) {
    if (tokens < MIN_TOKENS) continue;
    const own = `${microBatches[at]!.pass} ${key}`;
    const first = seen.get(own);
    if (first !== undefined) {
      const [a, b] = [microBatches[first]!, microBatches[at]!];
      const text = `Micro-batch ${a.index} of rank ${a.rank} and micro-batch ${b.index} of rank ${b.rank} have the same ${counted(tokens, 'trained token')}.`;
      return stepFinding('micro-batch-repeated', text, rowsIn(batch, at));
    }
    seen.set(own, at);
  }
  return undefined;
}

/** A digest of the trained tokens of each micro-batch, whatever the order of its rows, and their number. */
function digestsOf(batch: StepBatch, id: Int32Array, numbers: Float32Array) {
  const { offset } = batch.tokens;
  const trained = flagsOf(batch, 'kept');
  const bits = new Int32Array(numbers.buffer, numbers.byteOffset, numbers.length);
  const found = batch.step.microBatches.map(() => ({ rows: [] as string[], tokens: 0 }));
  for (let row = 0; row < batch.rows; row++) {
    const own = found[batch.microBatch?.[row] ?? 0]!;
    let [a, b] = [0x811c9dc5, 0x01000193];
    for (let t = offset[row]!; t < offset[row + 1]!; t++) {
      if (trained?.[t] === 0) continue;
      own.tokens++;
      a = Math.imul(a ^ id[t]!, 0x01000193) ^ (a >>> 13);
      b = Math.imul(b ^ bits[t]! ^ id[t]!, 0x85ebca6b) ^ (b >>> 15);
    }
    own.rows.push(`${a}/${b}`);
  }
  return found.map(({ rows, tokens }) => ({ key: `${tokens} ${rows.toSorted().join()}`, tokens }));
}

function rowsIn({ microBatch, rows }: StepBatch, at: number): number[] {
  return Array.from({ length: rows }, (_, row) => row).filter((row) => (microBatch?.[row] ?? 0) === at);
}

/** Rows of one trained token whose log-probs are all 0: an engine that returned nothing still writes one token. */
function emptyOutputs(batch: StepBatch): Finding | undefined {
  const { offset, logProb, oldLogProb, rolloutLogProb } = batch.tokens;
  const columns = [logProb, oldLogProb, rolloutLogProb].filter((column) => column !== undefined);
  if (columns.length === 0) return undefined;
  const trained = flagsOf(batch, 'kept');
  const rows: number[] = [];
  for (let row = 0; row < batch.rows; row++) {
    let only = -1;
    let count = 0;
    for (let t = offset[row]!; t < offset[row + 1]! && count < 2; t++) {
      if (trained?.[t] === 0) continue;
      count++;
      only = t;
    }
    if (count === 1 && columns.some((column) => column[only] === 0)) rows.push(row);
  }
  if (rows.length === 0) return undefined;
  return stepFinding(
    'empty-outputs',
    `${counted(rows.length, 'row')} of ${batch.rows} (row ${rows[0]}).`,
    rows,
  );
}

/** Mean weights below this leave less than half of the update. */
const MIN_WEIGHT = 0.5;
/** Weights below which a mean says nothing. */
const MIN_WEIGHTS = 64;

function lowWeights(batch: StepBatch): Finding | undefined {
  const { rolloutWeight } = batch.tokens;
  // prime-rl's weights are the user's, and correct nothing.
  if (rolloutWeight === undefined || batch.step.trainer === 'prime-rl') return undefined;
  const trained = flagsOf(batch, 'mask');
  let [sum, count, zeros] = [0, 0, 0];
  rolloutWeight.forEach((weight, t) => {
    if (trained?.[t] === 0 || !Number.isFinite(weight)) return;
    sum += weight;
    count++;
    zeros += weight === 0 ? 1 : 0;
  });
  if (count < MIN_WEIGHTS || sum / count >= MIN_WEIGHT) return undefined;
  const text = `The mean weight of ${counted(count, 'token')} is ${significant(sum / count, 3)}; ${percent(zeros, count)} are 0.`;
  return stepFinding('rollout-weights-low', text);
}

/** How much memory a batch will need, before it is spent. */

import { estimatorOf } from '../kernel/estimators/registry.ts';
import { type Batch, usesOf } from './batch.ts';
import type { StepBatch } from './step-batch.ts';

/** Memory that the verification of one batch may take. */
export const MAX_VERIFICATION_BYTES = 2 * 2 ** 30;

const BYTES_PER_ROW = 250;

/** Three columns for each stage of a chain over tokens, their sources and the ids of their set. */
const BYTES_PER_TOKEN = 250;

/** Cluster ids, bounds of clusters (one per row at worst) and counters, per row and level. */
const BYTES_PER_LEVEL = 146;

/** The columns of a reward function and their intervals at each stage of its chain. */
const BYTES_PER_REWARD = 200;

/** Upper estimate, in bytes, of what verifying a batch takes beyond the batch itself. Linear in rows and tokens. */
export function verificationBytes(batch: Batch): number {
  const rewards = usesOf(batch.estimator).rewards ? (batch.rewards?.length ?? 0) : 0;
  const tokens = batch.tokens?.offset[batch.rows] ?? 0;
  const ofRows =
    batch.rows * (BYTES_PER_ROW + levelsOf(batch) * BYTES_PER_LEVEL + rewards * BYTES_PER_REWARD);
  return ofRows + tokens * BYTES_PER_TOKEN;
}

/** Names of a row, counts, denominators, and those of an identification. */
const BYTES_PER_ROW_OF_A_STEP = 400;

/** Sums and scales. */
const BYTES_PER_MICRO_BATCH = 1_000;

/** The flags of the exact stages; positions are in sets. */
const BYTES_PER_TOKEN_OF_A_STEP = { plain: 8, positions: 60 } as const;

/** The same for a step. */
export function stepBytes({ rows, step, tokens, trajectory }: StepBatch): number {
  const hasPositions = tokens.position !== undefined && trajectory !== undefined;
  const perToken = BYTES_PER_TOKEN_OF_A_STEP[hasPositions ? 'positions' : 'plain'];
  return (
    rows * BYTES_PER_ROW_OF_A_STEP +
    step.microBatches.length * BYTES_PER_MICRO_BATCH +
    tokens.offset[rows]! * perToken
  );
}

/** Levels that the batch can have: K + 1, but no trajectory has more levels than steps. */
function levelsOf(batch: Batch): number {
  const { name, params } = batch.estimator;
  const plan = estimatorOf(name).rowPlan(params);
  const terms = 'terms' in plan ? plan.terms : [];
  const depth = Math.max(0, ...terms.map((term) => (term.over === 'context' ? term.historyLength : 0)));
  if (depth === 0) return 2;
  const steps = new Int32Array(batch.trajectoryNames.length);
  for (let row = 0; row < batch.rows; row++) steps[batch.trajectory[row]!]! += 1;
  let longest = 0;
  for (const n of steps) longest = Math.max(longest, n);
  return Math.min(depth + 1, longest) + 1;
}

/** Bytes in words: `640 MiB`, `9.6 GiB`. */
export function bytesInWords(bytes: number): string {
  const gib = bytes / 2 ** 30;
  return gib >= 1 ? `${Number(gib.toFixed(1))} GiB` : `${Math.ceil(bytes / 2 ** 20)} MiB`;
}

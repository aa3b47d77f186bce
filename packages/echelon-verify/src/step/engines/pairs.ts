/** The pairs of log-probs of trainer and rollout engine that are compared. */

import type { StepBatch } from '../../format/step-batch.ts';

/** Two columns, and which of their tokens count. */
export interface EnginePairs {
  readonly engine: Float32Array;
  readonly trainer: Float32Array;
  counts(token: number): boolean;
}

/** Undefined without both columns. */
export function enginePairs(batch: StepBatch): EnginePairs | undefined {
  const { rolloutLogProb: engine, oldLogProb, logProb } = batch.tokens;
  const counts = sampledFlags(batch);
  // A loss without an old policy has the engine’s log-probs in its place: then they are those of the engine in two columns.
  const isEngine = engine !== undefined && oldLogProb !== undefined && areEqual(engine, oldLogProb, counts);
  const trainer = isEngine ? logProb : (oldLogProb ?? logProb);
  return engine === undefined || trainer === undefined ? undefined : { engine, trainer, counts };
}

/** True if two columns hold the same numbers at all tokens that count. */
function areEqual(a: Float32Array, b: Float32Array, counts: (token: number) => boolean): boolean {
  return a === b || a.every((value, token) => !counts(token) || Object.is(value, b[token]));
}

/**
 * Which tokens the policy sampled, of those of the mask: the identity holds for these alone. Without the column they are the tokens
 * that contribute, unless rejection dropped tokens by the very ratio that is measured.
 */
function sampledFlags({ tokens, step }: StepBatch): (token: number) => boolean {
  const { mask, kept, sampled } = tokens;
  const own = sampled === undefined && step.rolloutCorrection?.action !== 'mask' ? (kept ?? mask) : mask;
  return (token) => own?.[token] !== 0 && sampled?.[token] !== 0;
}

/** Small batches drawn by chance, clean by construction: with revisits, equal, nearly equal and large returns. */

import type { Batch } from '../../src/format/batch.ts';
import { type Stated, stated } from './stated.ts';

/** A generator of numbers in [0, 1), the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Kinds of step returns, each an edge for float32. */
const RETURNS: readonly ((random: () => number, step: number, steps: number) => number)[] = [
  (random, step, steps) => (random() < 0.5 ? 10 : 0) * 0.95 ** (steps - step),
  (_random, step, steps) => 10 * 0.95 ** (steps - step),
  (random) => 9.5 + Math.floor(random() * 3) * 2 ** -20,
  (random) => 1e6 + Math.floor(random() * 5),
  (random) => Math.floor(random() * 4) - 1,
  (random) => (random() - 0.5) * 1e-5,
  (random) => random() * 10 - 5,
  (random) => 0.1 * Math.floor(random() * 3),
  (random) => 9.9 - (random() < 0.3 ? 0.1 : 0),
  (random) => 3000.3 + 0.1 * Math.floor(random() * 4),
  () => 0.3,
];

/** What {@link randomBatch} leaves to the caller. */
export type BatchChoices = Stated;

/**
 * A batch without reported advantages; its step returns are float32 numbers, stated rather than derived. Its scores are
 * float32 numbers or not, by chance; one per trajectory where the estimator's statistics run over trajectories.
 */
export function randomBatch(random: () => number, choices: BatchChoices): Batch {
  const score = random() < 0.5 ? Math.fround : (x: number): number => x;
  const perTrajectory = choices.statistics === 'trajectories';
  const groups = 1 + Math.floor(random() * 3);
  const states = 1 + Math.floor(random() * 6);
  const kind = RETURNS[Math.floor(random() * RETURNS.length)]!;
  const rows = {
    group: [] as number[],
    trajectory: [] as number[],
    step: [] as number[],
    observation: [] as number[],
  };
  const values: number[] = [];
  let trajectory = 0;
  for (let g = 0; g < groups; g++) {
    const size = 1 + Math.floor(random() * (random() < 0.4 ? 3 : 12));
    for (let t = 0; t < size; t++, trajectory++) {
      const steps = 1 + Math.floor(random() * 8);
      for (let step = 0; step < steps; step++) {
        rows.group.push(g);
        rows.trajectory.push(trajectory);
        rows.step.push(step);
        rows.observation.push(random() < 0.5 ? step % states : Math.floor(random() * states));
        values.push(kind(random, step, steps));
      }
    }
  }
  return {
    name: 'random',
    rows: values.length,
    estimator: stated({
      historyLength: Math.floor(random() * 4),
      mode: random() < 0.7 ? 'mean_std_norm' : 'mean_norm',
      lengthWeightAlpha: [0, 0.5, 1, 2][Math.floor(random() * 4)]!,
      baseGroup: random() < 0.4,
      stepAdvantageWeight: [0.5, 1][Math.floor(random() * 2)]!,
      normalizeByStd: random() < 0.7,
      gamma: 0.95,
      invalidActionPenalty: 0.1,
      epsilon: [1e-6, 1e-6, 1e-4, 1e-8][Math.floor(random() * 4)]!,
      precision: 'float32',
      ...choices,
    }),
    group: Int32Array.from(rows.group),
    groupNames: Array.from({ length: groups }, (_, g) => `g${g}`),
    trajectory: Int32Array.from(rows.trajectory),
    trajectoryNames: Array.from({ length: trajectory }, (_, t) => `t${t}`),
    step: Int32Array.from(rows.step),
    observation: Int32Array.from(rows.observation),
    observationLabel: (id) => `s${id}`,
    ...(choices.name === 'g2po' && {
      reward: Float64Array.from(values, (x) => (random() < 0.6 ? 0 : random() < 0.5 ? 10 : Math.fround(x))),
      actionValid: Uint8Array.from(values, () => (random() < 0.8 ? 1 : 0)),
    }),
    // Any next observations: the returns are stated.
    ...(choices.name === 'graphgpo' && { nextObservation: Int32Array.from(rows.observation) }),
    tokenLevelRewardSum: Float64Array.from(values, (x, row) =>
      score(
        perTrajectory
          ? values[rows.trajectory.indexOf(rows.trajectory[row]!)]!
          : x * (random() < 0.8 ? 1 : 0.5),
      ),
    ),
    responseLength: Int32Array.from(values, () => 1 + Math.floor(random() * 40)),
    reportedStepReward: Float64Array.from(values, Math.fround),
  };
}

/** A file of one small batch, as a trainer would write it; `changes` replaces fields of the batch. */
export function sampleFile(changes: Record<string, unknown> = {}): Uint8Array {
  return Buffer.from(JSON.stringify({ format: 'echelon-batch/1', batches: [sampleBatch(changes)] }));
}

/** Columns of two reward functions, one of which did not score the second row. */
export const REWARDS = {
  rewards: { format: [1, null, 0, 1], answer: [0.1, 2, -1, 1e3] },
  rewardWeights: { answer: 0 },
};

/** The batch itself: two trajectories of two steps through the same states. */
export function sampleBatch(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: 'two',
    params: {
      historyLength: 1,
      mode: 'mean_norm',
      lengthWeightAlpha: 1,
      baseGroup: false,
      gamma: 0.5,
      invalidActionPenalty: 0.25,
      epsilon: 1e-6,
    },
    group: ['g', 'g', 'g', 'g'],
    trajectory: ['a', 'a', 'b', 'b'],
    step: [0, 1, 0, 1],
    observation: ['start', 'end', 'start', 'end'],
    reward: [0, 8, 0, 0],
    actionValid: [true, true, false, true],
    tokenLevelRewardSum: [8, 8, -0.25, 0],
    responseLength: [3, 4, 5, 6],
    reported: { stepReward: [4, 8, -0.25, 0], advantage: [2.125, 4, -2.125, -4] },
    ...changes,
  };
}

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { batchOf, estimatorOfId } from '../../src/dumps/dump-batch.ts';
import { type Batch, type BatchEstimator, estimatorFrom } from '../../src/format/batch.ts';
import { estimate } from '../../src/identify/estimate.ts';
import { verifyBatch } from '../../src/verify/verify-batch.ts';
import { randomFrom } from '../support/random-batch.ts';

const GRPO = estimatorOfId('verl/grpo');
const SIZE = 8;

/** Four groups of rewards with decimals, or of 0 and 1, and the advantages of the estimator. */
function batchWith(seed: number, estimator: BatchEstimator = GRPO, isBinary = false): Batch {
  const random = randomFrom(seed);
  const rows = 4 * SIZE;
  const step = {
    name: `step ${seed}`,
    reward: Float64Array.from({ length: rows }, () =>
      isBinary ? Math.round(random()) : Math.fround(Math.round(100 * random()) / 100),
    ),
    group: {
      ids: Int32Array.from({ length: rows }, (_, row) => Math.floor(row / SIZE)),
      names: ['a', 'b', 'c', 'd'],
    },
    responseLength: Int32Array.from({ length: rows }, () => 1 + Math.floor(30 * random())),
    findings: [],
    file: 'f',
  };
  const batch = batchOf(step, estimator);
  return reporting(batch, estimate(batch).advantage);
}

const reporting = (batch: Batch, values: Float64Array): Batch => ({
  ...batch,
  reportedAdvantage: values.map(Math.fround),
});

function causeOf(batch: Batch, previous?: Batch): string | undefined {
  const wrong = verifyBatch(batch, previous).findings.find(({ code }) => code === 'wrong-rows');
  assert.ok(wrong, 'no row is wrong');
  return /Likely cause(?: in \d+ % of them)?: (.*?)\. Explain/.exec(wrong.message)?.[1];
}

const meanOf = (values: Float64Array): number => values.reduce((sum, x) => sum + x, 0) / values.length;
const centered = (values: Float64Array): Float64Array => values.map((x) => x - meanOf(values));

const WHITENING = estimatorFrom('reinforce_plus_plus');

/** The fault, what its trainer reports, and the cause that is named. */
const FAULTS: Readonly<
  Record<string, [cause: string, (batch: Batch, previous: Batch) => Float64Array, BatchEstimator?]>
> = {
  'a flipped sign': ['the sign was flipped', ({ reportedAdvantage: a }) => a!.map((x) => -x)],
  'advantages that are one row late': [
    'each row has the advantage of the row before it',
    ({ reportedAdvantage: a }) => a!.map((_, row) => a!.at(row - 1)!),
  ],
  'stale rewards': [
    'the rewards are those of the step before',
    (batch, { tokenLevelRewardSum }) =>
      estimate({ ...batch, tokenLevelRewardSum: tokenLevelRewardSum! }).advantage,
  ],
  'halves of groups': [
    'the mean and deviation were taken over halves of the groups',
    (batch) =>
      estimate({
        ...batch,
        group: batch.group.map((_, row) => Math.floor((2 * row) / SIZE)),
        groupNames: 'abcdefgh'.split(''),
      }).advantage,
  ],
  'statistics over the whole batch': [
    'the mean and deviation were taken over the whole batch, not over each group',
    (batch) => estimate({ ...batch, group: batch.group.map(() => 0), groupNames: ['all'] }).advantage,
  ],
  'a mean over the whole batch, with nothing divided': [
    'the mean was taken over the whole batch, not over each group, and nothing was divided',
    ({ tokenLevelRewardSum }) => centered(tokenLevelRewardSum!),
  ],
  'statistics over the whole batch, with the population deviation': [
    'the mean and deviation were taken over the whole batch, not over each group',
    ({ tokenLevelRewardSum: reward }) => {
      const off = centered(reward!);
      const deviation = Math.sqrt(off.reduce((sum, x) => sum + x * x, 0) / off.length);
      return off.map((x) => x / (deviation + 1e-8));
    },
  ],
  'a mean over the whole batch and the deviation of the group': [
    'the mean was taken over the whole batch, the deviation over each group',
    ({ tokenLevelRewardSum: reward, group }) => {
      const deviations = [0, 1, 2, 3].map((g) => {
        const off = centered(reward!.filter((_, row) => group[row] === g));
        return Math.sqrt(off.reduce((sum, x) => sum + x * x, 0) / (SIZE - 1));
      });
      return centered(reward!).map((x, row) => x / (deviations[group[row]!]! + 1e-6));
    },
  ],
  'the mean of the group and a deviation over the whole batch': [
    'the deviation was taken over the whole batch, not over each group',
    ({ tokenLevelRewardSum: reward, group }) => {
      const off = centered(reward!);
      const deviation = Math.sqrt(off.reduce((sum, x) => sum + x * x, 0) / off.length);
      const means = [0, 1, 2, 3].map((g) => meanOf(reward!.filter((_, row) => group[row] === g)));
      return reward!.map((x, row) => (x - means[group[row]!]!) / (deviation + 1e-8));
    },
  ],
  'rewards that were kept': [
    'the advantages are the rewards themselves',
    ({ tokenLevelRewardSum }) => tokenLevelRewardSum!,
  ],
  'groups of every fourth row': [
    'each group was made of every 4th row, so that rows of different prompts were compared',
    (batch) => estimate({ ...batch, group: batch.group.map((_, row) => row % 4) }).advantage,
  ],
  'a factor': [
    'every advantage is 0.7 times what the formula gives',
    ({ reportedAdvantage: a }) => a!.map((x) => 0.7 * x),
  ],
  'whitening over tokens': [
    'the advantages were whitened over the tokens of the batch, in which long responses count more',
    ({ reportedAdvantage: a, responseLength: n }) => {
      const sum = (of: (row: number) => number) => a!.reduce((all, _, row) => all + of(row), 0);
      const tokens = sum((row) => n![row]!);
      const mean = sum((row) => n![row]! * a![row]!) / tokens;
      const squares = sum((row) => n![row]! * (a![row]! - mean) ** 2);
      return a!.map((x) => (x - mean) / Math.sqrt(squares / (tokens - 1)));
    },
  ],
  'a second normalisation': [
    'the advantages were normalised twice',
    (batch) => estimate({ ...batch, tokenLevelRewardSum: batch.reportedAdvantage! }).advantage,
    estimatorFrom('grpo', { epsilon: 0.1 }),
  ],
  'counted padding': [
    'padding was counted as response tokens',
    (batch) =>
      estimate({
        ...batch,
        responseLength: batch.responseLength!.map(() => Math.max(...batch.responseLength!)),
      }).advantage,
    WHITENING,
  ],
  'clipped advantages': [
    'the advantages were clipped',
    ({ reportedAdvantage: a }) => a!.map((x) => Math.max(-0.8, Math.min(0.8, x))),
  ],
};

describe('the cause of wrong rows', () => {
  for (const [fault, [cause, values, estimator]] of Object.entries(FAULTS))
    test(`is named for ${fault}`, () => {
      const [previous, batch] = [batchWith(1, estimator), batchWith(2, estimator)];
      assert.equal(verifyBatch(batch, previous).wrong, 0);
      assert.equal(causeOf(reporting(batch, values(batch, previous)), previous), cause);
    });

  test('is another known form if its values fit every row', () => {
    const batch = batchWith(3, estimatorOfId('openrlhf/reinforce-baseline'));
    const stated = { ...batch, estimator: { ...GRPO } };
    assert.match(causeOf(stated) ?? 'none', /^these values fit reinforce_plus_plus\(baseline=group,/);
  });

  test('is not named for a few wrong rows of binary rewards, which repeat themselves', () => {
    for (let seed = 10; seed < 40; seed++) {
      const batch = batchWith(seed, GRPO, true);
      const values = batch.reportedAdvantage!.slice();
      // Two neighbours changed places, and a third row has the value of another group.
      const at = values.findIndex((x, row) => row + 1 < values.length && x !== values[row + 1]);
      [values[at], values[at + 1]] = [values[at + 1]!, values[at]!];
      values[20] = values[0]! + 0.5;
      assert.equal(
        causeOf(reporting(batch, values), batchWith(seed + 1, GRPO, true)),
        undefined,
        `seed ${seed}`,
      );
    }
  });

  test('is another choice of a parameter of the estimator, such as its guard', () => {
    const batch = batchWith(5, estimatorFrom('grpo', { guard: 'keep', guardAbove: 10 }));
    const other = estimate(batch, { params: { guard: 'none' } }).advantage;
    assert.equal(causeOf(reporting(batch, other)), 'guard none instead of keep');
  });

  test('is a variant of the formula if that explains all rows', () => {
    const batch = batchWith(4);
    const population = estimate(batch, { params: { deviation: 'population' } }).advantage;
    assert.match(causeOf(reporting(batch, population), batchWith(3)) ?? '', /population deviation/);
  });
});

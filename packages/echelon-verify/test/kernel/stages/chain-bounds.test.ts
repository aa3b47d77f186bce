import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { PRECISIONS } from '../../../src/arithmetic/arithmetic.ts';
import { createJudge } from '../../../src/bounds/outcomes.ts';
import type { Batch, TokenColumns } from '../../../src/format/batch.ts';
import type { EstimatorName } from '../../../src/kernel/estimators/registry.ts';
import { estimatorOf } from '../../../src/kernel/estimators/registry.ts';
import type { RewardColumn } from '../../../src/kernel/stages/chain.ts';
import { perToken } from '../../../src/kernel/stages/token-sequences.ts';
import type { AnyParameters } from '../../../src/kernel.ts';
import { completeParameters } from '../../../src/kernel.ts';
import { bfloat16, float16, halfMachine } from '../../support/bfloat16.ts';
import { type ChainColumns, chainOn } from '../../support/chain-machine.ts';
import { goldenEstimates } from '../../support/golden-estimators.ts';
import { randomFrom } from '../../support/random-batch.ts';
import { type Machine, randomMachine } from '../../support/recipe.ts';

const RUNS = Number(process.env.ECHELON_CHAIN_RUNS ?? 60);

/** Every estimator that is a chain, in the forms of the trainers that have it. */
const CHAINS: readonly (readonly [EstimatorName, AnyParameters])[] = [
  ['grpo', { deviationOver: 'batch', singleton: 'zero', epsilon: 1e-4, missing: 'exclude' }],
  ['grpo', { singleton: 'zero', epsilon: 1e-4, missing: 'exclude' }],
  ['grpo', { singleton: 'zero', epsilon: 1e-4, missing: 'zero' }],
  ['grpo', { normalizeByStd: false, missing: 'exclude', singleton: 'zero' }],
  ['grpo', { epsilon: 1e-9, clip: 10, singleton: 'zero' }],
  ['grpo', { baseline: 'leave-one-out', guard: 'keep', singleton: 'zero' }],
  ['grpo', { guard: 'zero', guardAbove: 1e-6, singleton: 'zero', clip: 1 }],
  ['grpo', { deviation: 'population', guard: 'zero', singleton: 'zero' }],
  ['grpo', { epsilonPlace: 'floor' }],
  ['grpo', { epsilonPlace: 'variance-floor', singleton: 'nan' }],
  ['grpo', { epsilonPlace: 'variance-added', deviation: 'population' }],
  ['rloo', { normalize: 'whiten', epsilon: 1e-4, missing: 'exclude', singleton: 'zero' }],
  ['rloo', { normalize: 'group', epsilon: 1e-4, singleton: 'zero' }],
  ['rloo', { normalize: 'batch', epsilon: 1e-4, missing: 'zero', singleton: 'zero' }],
  ['reinforce_plus_plus', {}],
  ['reinforce_plus_plus', { baseline: 'group' }],
  ['reinforce_plus_plus', { baseline: 'group', deviation: 'population', epsilonPlace: 'variance-floor' }],
  [
    'reinforce_plus_plus',
    {
      baseline: 'group',
      recentre: false,
      weight: 'row',
      deviation: 'population',
      epsilon: 1e-6,
      epsilonPlace: 'added',
      singleton: 'zero',
    },
  ],
  ['max_rl', {}],
  ['max_rl', { epsilon: 1e-6, guard: 'none', singleton: 'raw' }],
  ['gdpo', { missing: 'exclude' }],
  ['gdpo', { epsilon: 1e-8, batchEpsilon: 1e-8, missing: 'zero' }],
  [
    'gdpo',
    {
      epsilon: 1e-6,
      batchEpsilon: 1e-8,
      batchEpsilonPlace: 'variance-added',
      weight: 'token',
      singleton: 'raw',
    },
  ],
  ['gdpo', { baseline: 'leave-one-out', epsilon: 1e-6, batchEpsilon: 0 }],
  ['opo', {}],
  ['gpg', {}],
  ['grpo_passk', {}],
  ['grpo_passk', { normalizeByStd: false }],
  ['rae', { decay: 0.9 }],
  ['gae', {}],
  ['gae', { discount: 0.99, lambda: 0.95 }],
  ['gae', { discount: 0.9, lambda: 0.5, maskedTokens: 'include', deviation: 'population' }],
  ['gae', { lambda: 0.95, maskedTokens: 'zero', epsilonPlace: 'variance-floor' }],
  ['gae', { discount: 0.997, lambda: 0.97, maskedTokens: 'include', recentre: false, normalizeByStd: false }],
  ['reinforce_plus_plus_token', {}],
  ['reinforce_plus_plus_token', { discount: 0.99 }],
  ['reinforce_plus_plus_token', { discount: 0.9, maskedTokens: 'zero' }],
  ['reinforce_plus_plus_token', { discount: 0.999, maskedTokens: 'reset', normalizeByStd: false }],
  ['remax', {}],
  ['optimal_token_baseline', {}],
  ['optimal_token_baseline', { align: 'trained-token', rolloutWeights: true }],
  ['optimal_token_baseline', { zeroTail: false }],
];

/** Kinds of scores, each an edge for float32. */
const SCORES: readonly ((random: () => number) => number)[] = [
  (random) => (random() < 0.3 ? 1 : 0),
  (random) => [0, 0.1, 0.35, 1][Math.floor(random() * 4)]!,
  () => 0.35,
  (random) => (random() < 0.1 ? 1 : 0.35),
  (random) => 0.5 + 2e-4 * Math.floor(random() * 3),
  (random) => (random() < 0.5 ? -1e6 : 1e6) + Math.floor(random() * 3),
  (random) => random() * 10 - 5,
  (random) => (random() - 0.5) * 1e-5,
  // bfloat16 numbers.
  (random) => Math.round(random() * 256) / 256,
];

function drawn(random: () => number, name: EstimatorName, changes: AnyParameters): Batch {
  const missing = 'missing' in changes && changes.missing !== 'propagate';
  const group: number[] = [];
  const groups = 1 + Math.floor(random() * 5);
  for (let g = 0; g < groups; g++) {
    const size = 1 + Math.floor(random() * (random() < 0.4 ? 3 : 9));
    for (let i = 0; i < size; i++) group.push(g);
  }
  const column = (): Float64Array => {
    const kind = SCORES[Math.floor(random() * SCORES.length)]!;
    return Float64Array.from(group, () => (missing && random() < 0.1 ? Number.NaN : kind(random)));
  };
  const rewards: RewardColumn[] = [1, 0.5, 2].map((weight, k) => ({
    name: `r${k}`,
    weight,
    value: column(),
  }));
  const rows = group.length;
  const ids = Int32Array.from({ length: rows }, (_, row) => row);
  const params = completeParameters(estimatorOf(name).parameters, changes) as Batch['estimator']['params'];
  return {
    name: 'random',
    rows,
    estimator: { name, params, gamma: 1, invalidActionPenalty: 0, precision: 'float32' },
    group: Int32Array.from(group),
    groupNames: Array.from({ length: groups }, String),
    trajectory: ids,
    trajectoryNames: Array.from(ids, String),
    observationLabel: String,
    tokenLevelRewardSum: column(),
    rewards,
    responseLength: Int32Array.from(group, () => 1 + Math.floor(random() * 6)),
    ...('tokens' in estimatorOf(name).uses(params)
      ? { tokens: drawnTokens(random, rows), rewardBaseline: column() }
      : {}),
  };
}

/** Responses of 1 to 40 tokens, some of 300; rewards at the last token, at each, or at some. */
function drawnTokens(random: () => number, rows: number): TokenColumns {
  const offset = new Int32Array(rows + 1);
  for (let row = 0; row < rows; row++)
    offset[row + 1] = offset[row]! + (random() < 0.05 ? 300 : 1 + Math.floor(random() * 40));
  const count = offset[rows]!;
  const kind = SCORES[Math.floor(random() * SCORES.length)]!;
  const rare = [0, 0.1, 1][Math.floor(random() * 3)]!;
  const mask = new Uint8Array(count).map(() => (random() < 0.85 ? 1 : 0));
  const reward = new Float64Array(count).map(() => (random() < rare ? kind(random) * 0.01 : 0));
  for (let row = 0; row < rows; row++) {
    const last = offset[row + 1]! - 1;
    mask[last] = 1;
    reward[last] = kind(random);
  }
  const size = random() < 0.3 ? 100 : 1;
  const value = new Float64Array(count).map(() => Math.fround(size * (random() - 0.3)));
  // Nearly certain tokens make sums of equal numbers that cancel.
  const logProb = new Float64Array(count).map(() => Math.fround(-random() * (random() < 0.1 ? 1e-6 : 3)));
  const squaredProbabilities = logProb.map((x) =>
    Math.fround(Math.exp(2 * x) + random() * (1 - Math.exp(x)) ** 2),
  );
  const rolloutWeight = new Float64Array(count).map(() => Math.fround(2 * random()));
  return { offset, mask, reward, value, logProb, squaredProbabilities, rolloutWeight };
}

const REPORTED = {
  float32: Math.fround,
  float64: Math.fround,
  bfloat16,
  'bfloat16-output': bfloat16,
  float16,
  'float16-output': float16,
};

function machineOf({ precision, forms }: Batch['estimator'], random: () => number): Machine {
  if (precision === 'bfloat16') return halfMachine(random, bfloat16, forms);
  return randomMachine(random, precision === 'float64' ? (x) => x : Math.fround, forms);
}

function reportedBy(batch: Batch, machine: Machine): Float64Array {
  const plan = estimatorOf(batch.estimator.name).rowPlan(batch.estimator.params);
  assert.ok('stages' in plan, 'the estimator is a chain');
  if (batch.tokens !== undefined) return chainOn(plan, tokenColumns(batch, machine), machine);
  const columns = {
    group: batch.group,
    score: batch.tokenLevelRewardSum!,
    tokens: batch.responseLength!,
    rewards: batch.rewards!,
  };
  return chainOn(plan, columns, machine);
}

function tokenColumns({ tokens, group, rewardBaseline }: Batch, machine: Machine): ChainColumns {
  const { offset, mask, reward, ...others } = tokens!;
  const one = new Int32Array(reward!.length).fill(1);
  const all = { ...others, rewardBaseline: perToken(offset, rewardBaseline!) };
  const column = Object.fromEntries(
    Object.entries(all).map(([key, x]) => [key, machine.roundsInputs ? x.map(machine.round) : x]),
  );
  const sequences = { offset, mask: mask!, group, column };
  return { group: new Int32Array(one.length), score: reward!, tokens: one, rewards: [], sequences };
}

/** Token-level rewards with the score at the last token. */
function lastTokens({ offset, reward }: TokenColumns, score: Float64Array): Float64Array {
  const own = new Float64Array(reward!.length);
  score.forEach((x, row) => {
    own[offset[row + 1]! - 1] = x;
  });
  return own;
}

/** The batch with each row one to three times, as steps of one trajectory. */
function repeated(batch: Batch, random: () => number): { batch: Batch; source: Int32Array } {
  const times = Array.from({ length: batch.rows }, () => 1 + Math.floor(random() * 3));
  const source = Int32Array.from(times.flatMap((n, row) => new Array<number>(n).fill(row)));
  const again = <C extends Int32Array | Float64Array>(column: C): C =>
    (column instanceof Int32Array
      ? source.map((row) => column[row]!)
      : Float64Array.from(source, (row) => column[row]!)) as C;
  const { estimator } = batch;
  return {
    source,
    batch: {
      ...batch,
      rows: source.length,
      estimator: { ...estimator, params: { ...estimator.params, statistics: 'trajectories' } },
      group: again(batch.group),
      trajectory: source,
      tokenLevelRewardSum: again(batch.tokenLevelRewardSum!),
      responseLength: again(batch.responseLength!),
    },
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, x) => total + x, 0);

/** Each formula as its papers have it, in float64. */
const EXACT_MACHINE: Machine = {
  mean: 'divided',
  deviation: 'two-pass',
  leaveOneOut: 'others',
  reciprocal: false,
  roundsInputs: false,
  round: (x) => x,
  sum,
  deviationSum: sum,
  fused: false,
  wideDeviation: true,
  wideWeights: true,
};

describe('the values of chains', () => {
  for (const [name, changes] of CHAINS) {
    test(`${name} ${JSON.stringify(changes)} are those of an independent float64 evaluation`, () => {
      const random = randomFrom(3);
      for (let i = 0; i < 20; i++) {
        const batch = distinct(drawn(random, name, changes), random);
        const judge = createJudge({ ...batch, estimator: { ...batch.estimator, precision: 'float64' } });
        assert.ok('model' in judge);
        const { truth } = judge.model;
        const expected = reportedBy(batch, EXACT_MACHINE);
        for (const [at, x] of expected.entries()) {
          if (batch.tokens?.mask?.[at] === 0) continue;
          const isSame =
            Object.is(x, truth[at]) || Math.abs(x - truth[at]!) <= 1e-9 * Math.max(1, Math.abs(x));
          assert.ok(isSame, `value ${at} is ${truth[at]}, expected ${x}`);
        }
      }
    });
  }
});

/** The batch with numbers that are all far from each other, so that no difference is one of rounding. */
function distinct(batch: Batch, random: () => number): Batch {
  const other = (x: number) => (Number.isNaN(x) ? x : Math.fround(random() * 10 - 5));
  const { tokens } = batch;
  return {
    ...batch,
    tokenLevelRewardSum: batch.tokenLevelRewardSum!.map(other),
    rewards: batch.rewards!.map((one) => ({ ...one, value: one.value.map(other) })),
    ...(tokens && {
      tokens: { ...tokens, reward: tokens.reward!.map(other), logProb: tokens.logProb!.map((x) => x - 0.1) },
    }),
  };
}

describe('the bounds of chains', () => {
  for (const [name, changes] of CHAINS.filter(([own]) => own === 'grpo' || own === 'rloo')) {
    test(`${name} ${JSON.stringify(changes)} with statistics over trajectories admits what it gives trajectories of one row, and finds changes of a tenth`, () => {
      const random = randomFrom(11);
      let tried = 0;
      let found = 0;
      for (let i = 0; i < 60; i++) {
        const plain = drawn(random, name, changes);
        const reported = reportedBy(plain, machineOf(plain.estimator, random)).map(Math.fround);
        const { batch, source } = repeated(plain, random);
        const judge = createJudge(batch);
        const single = createJudge(plain);
        assert.ok('model' in judge && 'model' in single);
        source.forEach((row, at) => {
          const truth = judge.model.truth[at]!;
          assert.ok(Object.is(truth, single.model.truth[row]), `row ${at} is ${truth}`);
          assert.notEqual(judge.judge(at, reported[row]!), 'wrong', `row ${at} reports ${reported[row]}`);
          if (!Number.isFinite(truth) || Math.abs(truth) < 1e-3) return;
          tried++;
          if (judge.judge(at, Math.fround(truth * 1.1)) === 'wrong') found++;
        });
      }
      assert.ok(tried > 50 && found / tried > 0.5, `${found} of ${tried}`);
    });
  }

  for (const [name, changes] of CHAINS) {
    for (const precision of PRECISIONS.filter((one) => one !== 'float16')) {
      test(`no ${precision} evaluation of ${name} ${JSON.stringify(changes)} is called wrong, in any form and order`, () => {
        fc.assert(
          fc.property(fc.integer(), (seed) => {
            const random = randomFrom(seed);
            const plain = drawn(random, name, changes);
            const forms = plain.tokens !== undefined && random() < 0.5 ? 'recipe' : 'any';
            const batch: Batch = { ...plain, estimator: { ...plain.estimator, precision, forms } };
            const reported = reportedBy(batch, machineOf(batch.estimator, random)).map(REPORTED[precision]);
            const judge = createJudge(batch);
            assert.ok('model' in judge);
            for (let row = 0; row < reported.length; row++) {
              if (batch.tokens?.mask?.[row] === 0) continue;
              const outcome = judge.judge(row, reported[row]!);
              assert.notEqual(
                outcome,
                'wrong',
                `row ${row} reports ${reported[row]}, true is ${judge.model.truth[row]}`,
              );
            }
          }),
          { numRuns: RUNS },
        );
      });
    }
  }

  test('are not known for steps in float16: the rows are unverifiable, with the reason', () => {
    const plain = drawn(randomFrom(1), 'opo', {});
    const judge = createJudge({ ...plain, estimator: { ...plain.estimator, precision: 'float16' } });
    assert.deepEqual(judge, { unbounded: 'each step rounded to float16' });
  });

  test('call nothing wrong that the published functions of trainers gave', () => {
    for (const { batch } of goldenEstimates()) {
      const judge = createJudge(batch);
      assert.ok('model' in judge, batch.name);
      batch.reportedAdvantage!.forEach((value, row) => {
        assert.notEqual(judge.judge(row, value), 'wrong', `${batch.name}, row ${row}`);
      });
    }
  });

  // Not all: if the values of a group are equal, their mean may round in some forms, and a small ε makes the residue large.
  // Statistics of the batch take it in. GDPO against the others has no useful bounds then.
  test('find an advantage that is off by a thousandth', () => {
    for (const [name, changes] of CHAINS) {
      if (name === 'gdpo' && 'baseline' in changes) continue;
      const random = randomFrom(7);
      let tried = 0;
      let found = 0;
      for (let i = 0; i < 120; i++) {
        const batch = drawn(random, name, changes);
        const binary = Float64Array.from({ length: batch.rows }, () => (random() < 0.4 ? 1 : 0));
        const plain: Batch = {
          ...batch,
          ...(batch.tokens && { estimator: { ...batch.estimator, forms: 'recipe' } }),
          ...(batch.tokens && { tokens: { ...batch.tokens, reward: lastTokens(batch.tokens, binary) } }),
          tokenLevelRewardSum: binary,
          rewards: [{ name: 'r', weight: 1, value: binary }],
        };
        const judge = createJudge(plain);
        assert.ok('model' in judge);
        judge.model.truth.forEach((truth, row) => {
          if (!Number.isFinite(truth) || Math.abs(truth) < 1e-3) return;
          tried++;
          if (judge.judge(row, Math.fround(truth * 1.001)) === 'wrong') found++;
        });
      }
      assert.ok(
        tried > 50 && found / tried > 0.85,
        `${name} ${JSON.stringify(changes)}: ${found} of ${tried}`,
      );
    }
  });
});

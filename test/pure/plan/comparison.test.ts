import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { randomFrom } from '../../../packages/echelon-verify/test/support/random-batch.ts';
import { compareRuns } from '../../../src/plan/comparison/compare-runs.ts';
import { type GameResult, judgeResults, UnpairedError } from '../../../src/plan/comparison/judge-results.ts';
import {
  detectableWith,
  pairedDifference,
  seedsFor,
} from '../../../src/plan/comparison/paired-difference.ts';
import { criticalT } from '../../../src/plan/comparison/student-t.ts';
import type { ComparisonPlan, RecordedRun } from '../../../src/schemas/comparison.ts';

const NAMES = { candidate: 'a', baseline: 'b' };

test('six known differences give the published figures', () => {
  const found = pairedDifference([4.3, 1.4, -0.7, 3.6, 2.1, 5], 3);
  const [low, high] = found.interval;
  const figures = [found.mean, found.deviation, found.standardError, low, high, found.p, found.signFlipP!];
  assert.deepEqual(
    figures.map((one, at) => Number(one.toFixed(at < 3 ? 3 : at < 5 ? 2 : at === 5 ? 3 : 4))),
    [2.617, 2.108, 0.861, 0.4, 4.83, 0.029, 0.0625],
  );
  assert.equal(found.outcome, 'better-size-open');
});

test('the number of seeds and the detectable difference are those of the published table', () => {
  const deviations = [2, 3, 4, 5, 6, 8];
  assert.deepEqual(
    deviations.map((one) => seedsFor(3, one)),
    [6, 10, 16, 24, 34, 58],
  );
  assert.deepEqual(
    deviations.map((one) => seedsFor(5, one)),
    [4, 6, 8, 10, 14, 23],
  );
  const detectable = [3, 5, 10].map((seeds) =>
    deviations.map((one) => Number(detectableWith(seeds, one).toFixed(1))),
  );
  assert.deepEqual(detectable, [
    [6.5, 9.8, 13.1, 16.3, 19.6, 26.1],
    [3.4, 5, 6.7, 8.4, 10.1, 13.5],
    [2, 3, 4, 5, 6, 8],
  ]);
});

test('the interval clustered by seed covers the true difference in 93 to 97 % of trainings, one over all games does not', () => {
  const random = randomFrom(20261125);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const [trials, seeds, games] = [500, 6, 140];
  let [clustered, naive] = [0, 0];
  for (let trial = 0; trial < trials; trial += 1) {
    const shares = ['a', 'b'].map(() =>
      Array.from({ length: seeds }, () => {
        const level = Math.min(1, Math.max(0, 0.8 + 0.04 * normal()));
        let solved = 0;
        for (let game = 0; game < games; game += 1) if (random() < level) solved += 1;
        return solved / games;
      }),
    );
    const [low, high] = pairedDifference(
      shares[0]!.map((own, at) => own - shares[1]![at]!),
      0.03,
    ).interval;
    if (low <= 0 && high >= 0) clustered += 1;
    const [p, q] = shares.map((own) => own.reduce((sum, one) => sum + one, 0) / seeds);
    const reach = 1.96 * Math.sqrt((p! * (1 - p!) + q! * (1 - q!)) / (seeds * games));
    if (Math.abs(p! - q!) <= reach) naive += 1;
  }
  assert.ok(clustered >= 0.93 * trials && clustered <= 0.97 * trials, `${clustered} of ${trials}`);
  assert.ok(naive < 0.88 * trials, `${naive} of ${trials}`);
});

/** Results of both methods with these seeds, games and replicates; `success` says what each came to. */
function resultsOf(
  [seeds, games, replicates]: [number, number, number],
  success: (method: string, seed: number, game: number) => number,
): GameResult[] {
  const results: GameResult[] = [];
  for (const method of ['a', 'b'])
    for (let seed = 0; seed < seeds; seed += 1)
      for (let game = 0; game < games; game += 1)
        for (let replicate = 0; replicate < replicates; replicate += 1)
          results.push({
            method,
            seed: `${seed}`,
            game: `g${game}`,
            replicate: `${replicate}`,
            success: success(method, seed, game),
          });
  return results;
}

test('exchanged names turn the sign, and a failed run never improves its method', () => {
  const outcomes = fc.array(fc.boolean(), { minLength: 48, maxLength: 48 });
  fc.assert(
    fc.property(outcomes, fc.nat(2), (solved, failed) => {
      const draw = (method: string, seed: number, game: number) =>
        Number(solved[(method === 'a' ? 0 : 24) + seed * 8 + game]);
      const found = judgeResults(resultsOf([3, 8, 1], draw), NAMES, 0.03);
      const turned = judgeResults(resultsOf([3, 8, 1], draw), { candidate: 'b', baseline: 'a' }, 0.03);
      assert.equal(turned.difference.mean + found.difference.mean, 0);
      assert.equal(turned.difference.p, found.difference.p);
      const without = (method: string, seed: number, game: number) =>
        method === 'a' && seed === failed ? 0 : draw(method, seed, game);
      const worse = judgeResults(resultsOf([3, 8, 1], without), NAMES, 0.03);
      assert.ok(worse.difference.mean <= found.difference.mean);
    }),
    { numRuns: 50 },
  );
});

test('each position of the interval has its outcome', () => {
  const at = (mean: number, spread: number) =>
    pairedDifference([mean - spread, mean, mean + spread, mean], 3).outcome;
  const found = [at(9, 1), at(3, 1), at(0, 5), at(0, 1), at(-3, 1), at(-9, 1)];
  assert.deepEqual(found, ['better', 'better-size-open', 'not-decided', 'equal', 'worse-size-open', 'worse']);
});

test('the replicates of each game separate the noise of an evaluation from the deviation between runs', () => {
  const once = resultsOf([2, 4, 1], (method, _seed, game) => Number(method === 'a' || game < 2));
  assert.ok(Math.abs(judgeResults(once, NAMES, 0.03).baseline.evaluationError - Math.sqrt(0.25 / 4)) < 1e-12);
  const equal = resultsOf([2, 4, 3], (method, seed, game) => Number(method === 'a' || game < seed + 1));
  const { baseline } = judgeResults(equal, NAMES, 0.03);
  assert.equal(baseline.evaluationError, 0);
  assert.ok(Math.abs(baseline.runDeviation - Math.sqrt(1 / 32)) < 1e-12);
});

test('results that cannot be paired are refused with the run and the game', () => {
  const all = resultsOf([2, 3, 2], () => 1);
  const refused = (results: GameResult[], message: RegExp) =>
    assert.throws(
      () => judgeResults(results, NAMES, 0.03),
      (error) => error instanceof UnpairedError && message.test(error.message),
    );
  refused(
    all.filter(({ method, seed }) => method !== 'a' || seed !== '1'),
    /^a has no results of seed 1\. Repeat/,
  );
  refused(
    all.filter(({ seed }) => seed === '0'),
    /1 seed, which compares two checkpoints/,
  );
  refused(all.slice(0, -1), /^b, seed 1 has 1 replicates of the game g2, not 2/);
  refused([...all, { ...all[0]!, game: 'other' }], /^a, seed 0 has the game other/);
  refused([...all, all[0]!], /^a, seed 0, game g0, replicate 0 is there twice/);
});

test('the critical t is that of the tables', () => {
  const table = [
    [1, 12.7062],
    [2, 4.3027],
    [5, 2.5706],
    [9, 2.2622],
    [30, 2.0423],
    [999, 1.9623],
  ] as const;
  for (const [freedom, value] of table)
    assert.ok(Math.abs(criticalT(0.05, freedom) - value) < 1e-4, `${freedom}`);
});

test('a failed run counts, never improves its method, and keeps the number of seeds', () => {
  const plan: ComparisonPlan = {
    ...{ name: 'c', spec: {}, baseline: 'b', panel: 'p', step: 1, replicates: 1, margin: 5, deviation: 5 },
    methods: ['b', 'a'].map((name) => ({ name, set: { estimator: name } })),
    seeds: [1, 2, 3, 4],
  };
  const runOf = (at: number, solved: readonly boolean[]): RecordedRun => ({
    ...{ method: plan.methods[at % 2]!.name, seed: plan.seeds[at >> 1]!, experiment: `exp-${at}` },
    ...{
      state: 'succeeded',
      startedAt: 1,
      resolved: {},
      rowsSeen: 0,
      rowsVerified: 0,
      wrong: 0,
      signal: null,
    },
    panel: {
      ...{ digest: 'd'.repeat(64), decoding: {} },
      games: solved.map((one, game) => ({
        ...{ game: `g${game}`, replicate: 1, success: Number(one), score: 0, steps: 1, invalidSteps: 0 },
      })),
    },
  });
  const panels = fc.array(fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }), {
    minLength: 8,
    maxLength: 8,
  });
  fc.assert(
    fc.property(panels, fc.nat(3), fc.constantFrom('failed', 'cancelled'), (solved, seed, state) => {
      const runs = solved.map((one, at) => runOf(at, one));
      const failed = runs.map((run, at) => (at === 2 * seed + 1 ? { ...run, state, panel: null } : run));
      const [before, after] = [compareRuns(plan, runs), compareRuns(plan, failed)];
      assert.ok(after.results[0]!.difference <= before.results[0]!.difference);
      assert.deepEqual([after.results[0]!.seeds, after.look.seeds, after.refusals], [4, 4, []]);
      assert.ok(after.findings.some((text) => text.includes('counts with success 0')));
    }),
    { numRuns: 50 },
  );
});

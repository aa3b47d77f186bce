/** Mistakes that a trainer can make with the baselines of ReMax and of single tokens: each is planted into golden batches. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { explainRow } from '../../src/explain/explain.ts';
import { formatExplanation } from '../../src/explain/explain-text.ts';
import type { Batch } from '../../src/format/batch.ts';
import { decodeBatch, encodeBatch } from '../../src/format/batch-wire.ts';
import { estimate } from '../../src/identify/estimate.ts';
import { identify } from '../../src/identify/identify.ts';
import type { TokenColumnName } from '../../src/kernel/stages/token-sequences.ts';
import { verifyBatch } from '../../src/verify/verify-batch.ts';
import { reporting, tokenBatch, without } from '../support/token-batch.ts';

const REMAX = tokenBatch('verl/remax, kl');
const OTB = tokenBatch('verl/optimal-token-baseline, kl');
const TIR = tokenBatch('verl/tir-optimal-token-baseline, kl');
const WEIGHTED = tokenBatch('verl/optimal-token-baseline-weighted, kl');

type Columns = Partial<Record<TokenColumnName, Float64Array>>;

/** What a trainer reports that computes with other columns, groups or parameters. */
function by(batch: Batch, changes: Partial<Batch> = {}, of: Columns = {}, params = {}): Batch {
  const other = { ...batch, ...changes, tokens: { ...(changes.tokens ?? batch.tokens!), ...of } };
  return reporting(batch, estimate(other, { params }).tokenAdvantage!);
}

/** What a trainer reports that changes each of its values. */
function map(batch: Batch, change: (x: number, t: number, row: number) => number): Batch {
  const { offset, reportedAdvantage } = batch.tokens!;
  const rowOf = (t: number) => offset.findIndex((at) => at > t) - 1;
  return reporting(
    batch,
    reportedAdvantage!.map((x, t) => change(x, t, rowOf(t))),
  );
}

const column = (batch: Batch, name: TokenColumnName, of: (x: number, t: number) => number): Columns => ({
  [name]: batch.tokens![name]!.map(of),
});

const isFirst = ({ tokens }: Batch, t: number): boolean => tokens!.offset.includes(t);

/** Returns less one baseline for each response. */
function against(batch: Batch, baseline: (row: number) => number): Batch {
  return by({
    ...batch,
    rewardBaseline: Float64Array.from({ length: batch.rows }, (_, row) => baseline(row)),
  });
}

/** The mean over the responses of a row's group of the sums of rewards. */
function groupMean({ tokens, group, rows }: Batch, row: number): number {
  const mates = Array.from({ length: rows }, (_, i) => i).filter((i) => group[i] === group[row]);
  const sum = (i: number) =>
    tokens!.reward!.slice(tokens!.offset[i]!, tokens!.offset[i + 1]!).reduce((a, b) => a + b, 0);
  return mates.reduce((total, i) => total + sum(i), 0) / mates.length;
}

const greedy = (row: number): number => REMAX.rewardBaseline![row]!;

/** A fault of ReMax reports what another batch, of the same rows, would be right for. */
function remaxAgainst(baseline: (row: number) => number): Batch {
  return { ...against(REMAX, baseline), rewardBaseline: REMAX.rewardBaseline! };
}

const last = (batch: Batch, row: number): number => batch.tokens!.offset[row + 1]! - 1;

const FAULTS: readonly (readonly [string, Batch, RegExp?])[] = [
  ['remax: no baseline', remaxAgainst(() => 0)],
  ['remax: the baseline is added', remaxAgainst((row) => -greedy(row))],
  ['remax: the baseline of the row before', remaxAgainst((row) => REMAX.rewardBaseline!.at(row - 1)!)],
  ['remax: the baseline of the first prompt for all', remaxAgainst(() => 1 - greedy(0))],
  ['remax: the mean of the group instead', remaxAgainst((row) => groupMean(REMAX, row))],
  ['remax: the baseline is discounted', remaxAgainst((row) => 0.99 * greedy(row) + 0.01)],
  [
    'remax: the baseline at the last token only',
    map(REMAX, (x, t, row) => (t === last(REMAX, row) ? x : x + greedy(row) + 0.5)),
  ],
  [
    'remax: rewards outside the mask',
    by(REMAX, {}, {}, { maskedTokens: 'include' }),
    /rewards outside the mask were counted/,
  ],
  [
    'remax: rewards shifted by one',
    by(
      REMAX,
      {},
      column(REMAX, 'reward', (_, t) => REMAX.tokens!.reward![t + 1] ?? 0),
    ),
  ],
  [
    'remax: rewards without KL',
    by(
      REMAX,
      {},
      column(REMAX, 'reward', (x) => Math.max(x, 0)),
    ),
  ],
  ['remax: the sign is flipped', map(REMAX, (x) => -x), /the sign was flipped/],
  ['remax: whitened', map(REMAX, (x) => (x - 0.1) / 0.7)],
  ['remax: one token of one row', map(REMAX, (x, t) => (t === last(REMAX, 1) ? x + 0.01 : x))],
  [
    'token baseline: other places',
    by(OTB, {}, {}, { align: 'trained-token' }),
    /the j-th trained tokens were compared/,
  ],
  ['token baseline of turns: positions', by(TIR, {}, {}, { align: 'position' }), /positions were compared/],
  [
    'token baseline: a baseline in the tail',
    by(OTB, {}, {}, { zeroTail: false }),
    /the tail of the longest response has a baseline/,
  ],
  [
    'token baseline: weights of the rollout',
    by(OTB, {}, {}, { rolloutWeights: true }),
    /weights of the rollout correction were applied/,
  ],
  [
    'token baseline: no weights of the rollout',
    by(WEIGHTED, {}, {}, { rolloutWeights: false }),
    /rollout correction were omitted/,
  ],
  ['token baseline: weights not squared', by(WEIGHTED, {}, column(WEIGHTED, 'rolloutWeight', Math.sqrt))],
  [
    'token baseline: π once',
    by(
      OTB,
      {},
      column(OTB, 'logProb', (x) => x - Math.LN2),
    ),
  ],
  [
    'token baseline: no Σπ²',
    by(
      OTB,
      {},
      column(OTB, 'squaredProbabilities', () => 0),
    ),
  ],
  [
    'token baseline: Σπ² shifted by one',
    by(
      OTB,
      {},
      column(OTB, 'squaredProbabilities', (_, t) => OTB.tokens!.squaredProbabilities![t + 1] ?? 0),
    ),
  ],
  [
    'token baseline: the log-probs of another policy',
    by(
      OTB,
      {},
      column(OTB, 'logProb', (x) => 0.9 * x),
    ),
  ],
  [
    'token baseline: uniform weights',
    by(
      OTB,
      {},
      {
        ...column(OTB, 'logProb', () => -1e9),
        ...column(OTB, 'squaredProbabilities', (_, t) => (isFirst(OTB, t) ? 0 : -1)),
      },
    ),
  ],
  ['token baseline: none', by(OTB, { group: Int32Array.from({ length: OTB.rows }, (_, row) => row) })],
  ['token baseline: all prompts are one group', by(OTB, { group: new Int32Array(OTB.rows) })],
  ['token baseline: half groups', by(OTB, { group: OTB.group.map((g, row) => 2 * g + (row % 2)) })],
  [
    'token baseline: rewards outside the mask',
    by(TIR, {}, { reward: TIR.tokens!.reward!.map((x, t) => (TIR.tokens!.mask![t] === 0 ? x : 2 * x)) }),
  ],
  [
    'token baseline: a mask without gaps',
    by(OTB, { tokens: { ...OTB.tokens!, mask: OTB.tokens!.mask!.map(() => 1) } }),
  ],
  [
    'token baseline: rewards of the row before',
    by(
      OTB,
      {},
      column(OTB, 'reward', (_, t) => OTB.tokens!.reward!.at(t - 6)!),
    ),
  ],
  ['token baseline: the sign is flipped', map(OTB, (x) => -x), /the sign was flipped/],
];

describe('baselines of ReMax and of single tokens', () => {
  for (const [fault, batch, cause] of FAULTS) {
    test(`${fault}: the fault is found`, () => {
      const report = verifyBatch(batch);
      assert.ok(report.wrong > 0 && !report.ok, JSON.stringify(report.findings));
      const { message } = report.findings.find(({ code }) => code === 'wrong-rows')!;
      if (cause !== undefined) assert.match(message, cause);
    });
  }

  test('the clean batches have no wrong row, also after the wire', () => {
    for (const batch of [REMAX, OTB, TIR, WEIGHTED]) {
      const report = verifyBatch(batch);
      assert.deepEqual([report.ok, report.exact], [true, report.rows], batch.name);
      assert.deepEqual(verifyBatch(decodeBatch(encodeBatch(batch))), report);
    }
  });

  test('identify names the estimator and its places', () => {
    for (const batch of [REMAX, TIR]) {
      const [first] = identify([batch]).fits;
      assert.equal(`${first!.forms[0]!.id}, kl`, batch.name);
    }
  });

  test('a column that is missing makes every row unverifiable, and is named', () => {
    const { rewardBaseline: _none, ...alone } = REMAX;
    for (const [batch, needs] of [
      [alone, 'remax needs rewardBaseline'],
      [without(OTB, 'squaredProbabilities'), 'optimal_token_baseline needs tokens.squaredProbabilities'],
      [without(WEIGHTED, 'rolloutWeight'), 'needs tokens.rolloutWeight'],
    ] as const) {
      const report = verifyBatch(batch);
      assert.deepEqual([report.unverifiable, report.wrong], [report.rows, 0]);
      assert.ok(
        report.findings.some(({ message }) => message.includes(needs)),
        needs,
      );
    }
  });

  test('the explanation says what the baseline is', () => {
    assert.match(formatExplanation(explainRow(REMAX, 0)), /less the reward of the greedy response/);
    assert.match(
      formatExplanation(explainRow(TIR, 0)),
      /less the weighted mean of the group’s tokens trained at its place/,
    );
  });

  test('nearly certain tokens are rounding whatever they report, and a row without others is unverifiable', () => {
    const sure = column(OTB, 'logProb', () => -1e-8);
    const squares = column(OTB, 'squaredProbabilities', () => 1);
    const batch = { ...OTB, tokens: { ...OTB.tokens!, ...sure, ...squares } };
    const { unverifiable, wrong, rows } = verifyBatch(batch);
    // The last response is alone in its group and the first is the longest of its own: they have tokens without a baseline.
    assert.deepEqual([unverifiable, wrong], [rows - 2, 0]);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { explainRow } from '../../src/explain/explain.ts';
import { formatExplanation } from '../../src/explain/explain-text.ts';
import { rowColumns } from '../../src/explain/row-columns.ts';
import { type Batch, estimatorFrom, type TokenColumns } from '../../src/format/batch.ts';
import { decodeBatch, encodeBatch } from '../../src/format/batch-wire.ts';
import { verificationBytes } from '../../src/format/budget.ts';
import { estimate } from '../../src/identify/estimate.ts';
import { identify } from '../../src/identify/identify.ts';
import type { AnyParameters } from '../../src/kernel.ts';
import { verifyBatch } from '../../src/verify/verify-batch.ts';
import { goldenEstimates } from '../support/golden-estimators.ts';
import { goldenTokens } from '../support/golden-tokens.ts';
import { handBatch } from '../support/hand-batch.ts';
import { reporting, tokenBatch, without } from '../support/token-batch.ts';

const GAE = 'verl/gae-0.95, kl';
const PLUS = 'verl/reinforce-plus-plus-0.99, kl';

/** What a trainer reports that computes with other parameters or from other tokens. */
function mistaken(name: string, params: AnyParameters, changes: Partial<TokenColumns> = {}): Batch {
  const batch = tokenBatch(name);
  const own = { ...batch, tokens: { ...batch.tokens!, ...changes } };
  return reporting(batch, estimate(own, { params }).tokenAdvantage!);
}

/** Columns shifted by one token. */
function shifted(column: Float64Array | undefined): Float64Array {
  return column!.map((_, t) => column![t + 1] ?? 0);
}

describe('token-level batches', () => {
  test('nothing that published trainers gave is wrong, and the true form explains it', () => {
    for (const { form, batch } of goldenTokens()) {
      const report = verifyBatch(batch);
      assert.deepEqual([report.wrong, report.unverifiable, report.ok], [0, 0, true], batch.name);
      assert.ok(
        identify([batch]).fits.some(({ forms }) => forms.some(({ id }) => id === form)),
        batch.name,
      );
    }
  });

  test('identify names the form first if the rewards can tell it', () => {
    for (const name of [
      'verl/gae',
      'trl/ppo',
      'openrlhf/gae',
      'slime/ppo-0.95',
      'skyrl/reinforce-plus-plus-token',
    ]) {
      const [first] = identify([tokenBatch(`${name}, kl`)]).fits;
      assert.equal(first!.forms[0]!.id, name);
    }
  });

  const { mask, value, reward } = tokenBatch(GAE).tokens!;
  const all = mask!.map(() => 1);
  const faults: [string, Batch, RegExp | undefined][] = [
    ['another λ', mistaken(GAE, { lambda: 0.9 }), /lambda 0\.9\b/],
    ['another γ', mistaken(GAE, { discount: 0.99 }), /discount 0\.99/],
    [
      'a mask that is ignored in the sums',
      mistaken(GAE, { maskedTokens: 'include' }),
      /the mask was ignored/,
    ],
    ['whitening over all tokens', mistaken(GAE, { maskedTokens: 'skip' }, { mask: all }), undefined],
    ['the population deviation', mistaken(GAE, { deviation: 'population' }), /population deviation instead/],
    ['no whitening', mistaken(GAE, { recentre: false, normalizeByStd: false }), /not whitened/],
    ['values shifted by one', mistaken(GAE, {}, { value: shifted(value) }), undefined],
    ['rewards shifted by one', mistaken(GAE, {}, { reward: shifted(reward) }), undefined],
    ['no values', mistaken(GAE, {}, { value: new Float64Array(value!.length) }), undefined],
    ['returns without discount', mistaken(PLUS, { discount: 1 }), /discount 1\b/],
    ['returns reset at masked tokens', mistaken(PLUS, { maskedTokens: 'reset' }), /reset at tokens outside/],
    [
      'returns discounted at masked tokens',
      mistaken(PLUS, { maskedTokens: 'zero' }),
      /discounted at tokens outside/,
    ],
    ['returns whitened over all tokens', mistaken(PLUS, {}, { mask: all }), undefined],
    [
      'the population deviation of returns',
      mistaken(PLUS, { deviation: 'population' }),
      /population deviation/,
    ],
  ];
  for (const [fault, batch, cause] of faults) {
    test(`${fault} is found`, () => {
      const report = verifyBatch(batch);
      const found = report.findings.find(({ code }) => code === 'wrong-rows');
      assert.ok(report.wrong > 0 && !report.ok && found !== undefined);
      assert.match(found.message, /token \d+ of row \d+ reports/);
      if (cause !== undefined) assert.match(found.message, cause);
    });
  }

  test('the explanation of a row names its worst token, with its value, interval and stages', () => {
    const batch = tokenBatch(GAE);
    const values = batch.tokens!.reportedAdvantage!.slice();
    const at = batch.tokens!.offset[2]! + 6;
    assert.equal(batch.tokens!.mask![at], 1);
    values[at]! += 0.5;
    const wrong = reporting(batch, values);
    const explained = explainRow(wrong, 2);
    assert.deepEqual([explained.token, explained.outcome, explained.row], [6, 'wrong', 2]);
    assert.ok(explained.interval!.low <= explained.true! && explained.true! <= explained.interval!.high);
    assert.equal(explained.reported, Math.fround(values[at]!));
    assert.equal(explained.stages!.length, 3);
    assert.equal(explained.stages!.at(-1)!.value, explained.true);
    const text = formatExplanation(explained);
    assert.match(text, /token {5}6, the worst of the row/);
    assert.match(text, /generalised advantage, lambda 0\.95, discount 1/);
    const columns = rowColumns(wrong, { first: 0, count: 9 });
    assert.deepEqual(columns.outcome, ['exact', 'exact', 'wrong', 'exact']);
    assert.deepEqual([columns.reported[2], columns.true[2]], [explained.reported, explained.true]);
  });

  test('a column of tokens that is missing makes every row unverifiable, and is named', () => {
    for (const column of ['mask', 'reward', 'value'] as const) {
      const report = verifyBatch(without(tokenBatch(GAE), column));
      assert.deepEqual([report.unverifiable, report.wrong, report.ok], [report.rows, 0, false]);
      assert.ok(
        report.findings.some(({ message }) => message.includes(`gae needs tokens.${column}`)),
        column,
      );
    }
    const { tokens: _none, ...plain } = tokenBatch(GAE);
    assert.equal(verifyBatch(plain).unverifiable, plain.rows);
    const silent = without(tokenBatch(GAE), 'reportedAdvantage');
    assert.ok(verifyBatch(silent).findings.some(({ code }) => code === 'advantages-missing'));
    assert.deepEqual(explainRow(silent, 0).missing, ['tokens.reportedAdvantage']);
  });

  test('an estimator with one advantage per row says nothing of tokens that differ', () => {
    const batch = tokenBatch(GAE);
    const { estimator } = goldenTokens().find(({ form }) => form === 'verl/gae')!.batch;
    const score = Float64Array.of(1, 0, 0, 1);
    const grpo = {
      ...estimator,
      name: 'grpo',
      params: { normalizeByStd: false },
    } as unknown as Batch['estimator'];
    const report = verifyBatch({ ...batch, estimator: grpo, tokenLevelRewardSum: score });
    assert.deepEqual([report.unverifiable, report.wrong, report.ok], [4, 0, false]);
    assert.ok(report.findings.some(({ code }) => code === 'advantage-per-token'));
  });

  test('a token that differs from the stated advantage of its row makes the row wrong', () => {
    const rows = [0, 1, 0, 1].map((score, row) => ({
      trajectory: `t${row}`,
      step: 0,
      score,
      advantage: score - 0.5,
    }));
    const batch: Batch = { ...handBatch(rows), estimator: estimatorFrom('grpo', { normalizeByStd: false }) };
    assert.equal(verifyBatch(batch).exact, 4);
    const faulty: Batch = {
      ...batch,
      tokens: {
        offset: Int32Array.of(0, 0, 3, 3, 3),
        mask: Uint8Array.of(1, 0, 1),
        reportedAdvantage: Float64Array.of(0.5, 7, -0.5),
      },
    };
    const report = verifyBatch(faulty);
    assert.deepEqual([report.exact, report.wrongRows], [3, [1]]);
    assert.match(report.findings[0]!.message, /token 2 of row 1 reports -0\.5, true is 0\.5/);
    assert.deepEqual([explainRow(faulty, 1).token, explainRow(faulty, 0).token], [2, undefined]);
    assert.deepEqual(verifyBatch(decodeBatch(encodeBatch(faulty))).wrongRows, [1]);
  });

  test('memory grows with tokens', () => {
    const batch = tokenBatch(GAE);
    const { tokens: _none, ...plain } = batch;
    assert.ok(verificationBytes(batch) - verificationBytes(plain) >= 100 * batch.tokens!.mask!.length);
  });
});

const OF_VERL_AGENT = [...goldenTokens(), ...goldenEstimates()].filter(({ form }) =>
  form.startsWith('verl-agent/'),
);

test('the golden values of verl-agent are of its PPO, both REINFORCE++, ReMax and pass@k', () => {
  assert.deepEqual(
    new Set(OF_VERL_AGENT.map(({ form }) => form)),
    new Set(
      ['gae', 'reinforce-plus-plus', 'grpo-passk', 'reinforce-plus-plus-baseline', 'remax'].map(
        (form) => `verl-agent/${form}`,
      ),
    ),
  );
});

/** The advantages that a batch reports, of tokens or of rows. */
function advantagesOf(batch: Batch): Float64Array {
  return batch.tokens?.reportedAdvantage ?? batch.reportedAdvantage!;
}

for (const { batch } of OF_VERL_AGENT.filter(({ batch: { name } }) => /outcome|kl|binary|decimal/.test(name)))
  test(`${batch.name}: what the function of verl-agent gave verifies, and an advantage that is a tenth too large is wrong`, () => {
    const recipe: Batch = { ...batch, estimator: { ...batch.estimator, forms: 'recipe' } };
    assert.equal(verifyBatch(recipe).wrong, 0);
    const changed = advantagesOf(recipe).slice();
    const largest = changed.reduce((most, x, at) => (Math.abs(x) > Math.abs(changed[most]!) ? at : most), 0);
    changed[largest] = Math.fround(changed[largest]! * 1.1);
    const faulty: Batch =
      recipe.tokens === undefined
        ? { ...recipe, reportedAdvantage: changed }
        : { ...recipe, tokens: { ...recipe.tokens, reportedAdvantage: changed } };
    const { wrongRows } = verifyBatch(faulty);
    const row =
      recipe.tokens === undefined
        ? largest
        : recipe.tokens.offset.findIndex(
            (start, i) => start <= largest && largest < recipe.tokens!.offset[i + 1]!,
          );
    assert.deepEqual(wrongRows, [row]);
  });

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { explainRow } from '../../src/explain/explain.ts';
import { formatExplanation } from '../../src/explain/explain-text.ts';
import { type BatchReport, MAX_LISTED_ROWS } from '../../src/report/report.ts';
import { unverifiedReport, verifyBatch } from '../../src/verify/verify-batch.ts';
import { goldenBatch } from '../support/golden-batches.ts';
import { handBatch } from '../support/hand-batch.ts';
import { reportBy } from '../support/mutants/tools.ts';

describe('verifyBatch', () => {
  test('a clean batch is ok, with its fingerprint and diagnosis', () => {
    const report = verifyBatch(goldenBatch('walk-K2-mean_std_norm-base0'));
    assert.deepEqual([report.ok, report.exact, report.wrong, report.findings], [true, report.rows, 0, []]);
    assert.match(report.fingerprint, /^hgpo\(K=2,mean_std_norm/);
    assert.equal(report.diagnosis?.levels.length, 3);
  });

  test('counters add up and lists are capped', () => {
    const report = verifyBatch(reportBy(goldenBatch('alfworld-scale'), { deviation: 'sample' }));
    assert.equal(report.exact + report.rounding + report.wrong + report.unverifiable, report.rows);
    assert.ok(report.wrong > MAX_LISTED_ROWS);
    assert.equal(report.wrongRows.length, MAX_LISTED_ROWS);
    assert.equal(report.findings[0]?.code, 'wrong-rows');
    assert.match(report.findings[0]!.message, /Likely cause: the sample deviation/);
    assert.equal(report.ok, false);
  });

  test('the same batch gives the same report, as plain JSON', () => {
    const batch = goldenBatch('late-n7');
    const report = verifyBatch(batch);
    assert.deepEqual(JSON.parse(JSON.stringify(report)), report);
    assert.deepEqual(verifyBatch(batch), report);
  });

  test('GRPO with statistics over trajectories is ok if stated, and unverifiable with several scores a trajectory', () => {
    const scores = [10, 10, 10, 0, 0, 4];
    const mean = 14 / 3;
    const deviation = Math.sqrt(((10 - mean) ** 2 + mean ** 2 + (4 - mean) ** 2) / 2);
    const rows = scores.map((score, i) => ({
      trajectory: 'aaabbc'[i]!,
      score,
      advantage: Math.fround((score - mean) / (deviation + 1e-6)),
    }));
    const verified = (statistics: 'rows' | 'trajectories', changed = rows): BatchReport =>
      verifyBatch(handBatch(changed, { estimator: { name: 'grpo', statistics } }));
    const report = verified('trajectories');
    assert.deepEqual([report.ok, report.exact], [true, 6]);
    assert.match(report.fingerprint, /over=trajectories/);
    assert.equal(verified('rows').wrong, 6);
    const uneven = verified(
      'trajectories',
      rows.map((row, i) => (i === 1 ? { ...row, score: 9.5 } : row)),
    );
    assert.deepEqual([uneven.wrong, uneven.unverifiable], [0, 6]);
    assert.match(
      uneven.findings.find((f) => f.code === 'inputs-missing')!.message,
      /for all rows of a trajectory/,
    );
  });

  test('a formula without error bounds makes every row unverifiable, and the finding and the explanation name it', () => {
    const rows = [1, 0, 0].map((reward, i) => ({
      trajectory: `t${i}`,
      state: 's',
      return: reward,
      advantage: 5,
    }));
    const batch = handBatch(rows, { estimator: { mode: 'mean_std_norm', epsilonPlace: 'floor' } });
    const report = verifyBatch(batch);
    assert.deepEqual([report.ok, report.unverifiable, report.wrong], [false, 3, 0]);
    assert.match(report.fingerprint, /eps-place=floor/);
    const found = report.findings.find((f) => f.code === 'bounds-missing');
    assert.match(found!.message, /There are no error bounds for hgpo with epsilon floor/);
    assert.match(formatExplanation(explainRow(batch, 0)), /there are no error bounds for epsilon floor/);
  });

  test('what only a one-pass deviation gives is rounding if no form is stated, and wrong if the recipe’s form is', () => {
    const scores = [3000.25, 3000.5, 3000.25, 3000.75].map(Math.fround);
    const f = Math.fround;
    const sum = scores.reduce((s, x) => f(s + x), 0);
    const squares = scores.reduce((s, x) => f(s + f(x * x)), 0);
    const deviation = f(Math.sqrt(Math.max(0, f(f(squares - f(f(sum * sum) / 4)) / 3))));
    const rows = scores.map((score, i) => ({
      trajectory: `t${i}`,
      score,
      advantage: f(f(score - f(sum / 4)) / f(deviation + f(1e-6))),
    }));
    const verified = (forms?: 'recipe'): BatchReport =>
      verifyBatch(
        handBatch(rows, { estimator: { name: 'grpo', ...(forms === undefined ? {} : { forms }) } }),
      );
    const open = verified();
    assert.deepEqual([open.ok, open.wrong, open.rounding], [true, 0, 4]);
    assert.match(
      open.findings.find((f) => f.code === 'rounding-rows')!.message,
      /All need a one-pass or running/,
    );
    assert.equal(verified('recipe').wrong, 4);
  });

  test('rounding alone is ok, with a warning', () => {
    const report = verifyBatch(goldenBatch('late-n7'));
    assert.deepEqual([report.ok, report.wrong], [true, 0]);
    assert.equal(report.rounding, report.roundingRows.length);
    assert.ok(report.findings.some((f) => f.code === 'rounding-rows' && f.severity === 'warning'));
  });

  test('what a batch does not carry is unverifiable, never ok', () => {
    const { reportedAdvantage: _, ...silent } = goldenBatch('walk-K0-mean_norm-base0');
    const unreported = verifyBatch(silent);
    assert.deepEqual([unreported.unverifiable, unreported.ok], [unreported.rows, false]);
    assert.ok(unreported.findings.some((f) => f.code === 'advantages-missing'));
    const { observation: _o, ...blind } = goldenBatch('walk-K0-mean_norm-base0');
    const unseen = verifyBatch(blind);
    assert.deepEqual([unseen.unverifiable, unseen.exact, unseen.ok], [unseen.rows, 0, false]);
    assert.match(unseen.findings[0]!.message, /hgpo needs observation/);
  });

  test('an error of provenance is not ok though all rows are exact', () => {
    const clean = goldenBatch('one-step-episodes');
    const report = verifyBatch({ ...clean, provenance: { groupSize: 8 } });
    assert.deepEqual([report.exact, report.ok], [5, false]);
  });

  test('values that may overflow are unverifiable and said to be', () => {
    const rows = [0, 3e38].map((value, i) => ({
      trajectory: `t${i}`,
      step: 0,
      state: 's',
      return: value,
      advantage: 0,
    }));
    const report = verifyBatch(handBatch(rows));
    assert.equal(report.unverifiable, 2);
    assert.ok(report.findings.some((f) => f.code === 'overflow-possible'));
  });

  test('errors come before warnings', () => {
    const clean = goldenBatch('all-unique');
    const report = verifyBatch({ ...clean, provenance: { groupSize: 8 } });
    assert.deepEqual(
      report.findings.map((f) => f.severity),
      ['error', 'warning'],
    );
  });

  test('an empty batch has nothing wrong, and is not ok', () => {
    const report = verifyBatch(handBatch([], { estimator: {} }));
    assert.deepEqual(
      [report.rows, report.wrong, report.ok, report.findings.map((f) => f.code)],
      [0, 0, false, ['batch-empty']],
    );
  });

  test('a batch that was given up has all rows unverifiable', () => {
    const report = unverifiedReport({ name: 'b', rows: 7, fingerprint: 'f' }, 'Too large.');
    assert.deepEqual([report.unverifiable, report.ok, report.findings[0]?.severity], [7, false, 'warning']);
    assert.match(report.findings[0]!.message, /^Too large\. /);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describeSignal } from '../../src/explain/describe-signal.ts';
import { asCollected } from '../../src/format/as-collected.ts';
import type { Batch, BatchProvenance } from '../../src/format/batch.ts';
import { decodeBatch, encodeBatch } from '../../src/format/batch-wire.ts';
import { readBundleHead, writeBundle } from '../../src/format/bundle.ts';
import { readBatches } from '../../src/format/read-batch.ts';
import { identify } from '../../src/identify/identify.ts';
import { verifyBatch } from '../../src/verify/verify-batch.ts';
import { goldenBatch } from '../support/golden-batches.ts';
import { allRows, pick, reportBy } from '../support/mutants/tools.ts';

const CLEAN = goldenBatch('gigpo-mean_norm-w1.0-1');
const COPIES = [200, 3, 77, 41, 120];
const PADDED = [...allRows(CLEAN), ...COPIES];
/** Rows and copies in another order. */
const BALANCED = PADDED.map((_, i) => PADDED[(i * 101) % PADDED.length]!);

/** What a trainer reports that prepares the rows and then computes; `provenance` is what it states. */
function prepared(order: readonly number[], provenance: BatchProvenance = {}): Batch {
  return { ...reportBy(pick(CLEAN, order)), provenance };
}

const stated = { rowsCollected: CLEAN.rows, preparation: 'padded-balanced' } as const;

const errorsOf = (batch: Batch): string[] =>
  verifyBatch(batch)
    .findings.filter(({ severity }) => severity === 'error')
    .map(({ code }) => code);

describe('rows that a trainer prepared before it computed', () => {
  test('are verified with their copies and in their order if that is stated, and are errors if it is not', () => {
    const report = verifyBatch(prepared(BALANCED, stated));
    assert.deepEqual([report.ok, report.exact, report.rows], [true, CLEAN.rows + 5, CLEAN.rows + 5]);
    const codes = (findings: typeof report.findings) => findings.map(({ code }) => code);
    assert.deepEqual(codes(report.findings), codes(verifyBatch(reportBy(CLEAN)).findings));
    assert.match(report.fingerprint, /,rows=padded-balanced\)$/);
    for (const code of ['row-duplicated', 'steps-out-of-order', 'returns-mismatch', 'score-mismatch'])
      assert.ok(errorsOf(prepared(BALANCED)).includes(code), code);
    assert.deepEqual(errorsOf(prepared(PADDED, { ...stated, preparation: 'padded' })), []);
    const balanced = BALANCED.filter((row, i) => BALANCED.indexOf(row) === i);
    assert.deepEqual(errorsOf(prepared(balanced, { preparation: 'balanced' })), []);
  });

  test('are errors as far as another preparation is stated', () => {
    assert.ok(
      errorsOf(prepared(BALANCED, { ...stated, preparation: 'padded' })).includes('steps-out-of-order'),
    );
    assert.ok(
      errorsOf(prepared(BALANCED, { ...stated, preparation: 'balanced' })).includes('row-duplicated'),
    );
    const uncounted = errorsOf(prepared(BALANCED, { ...stated, rowsCollected: CLEAN.rows - 1 }));
    assert.ok(uncounted.includes('row-duplicated') && uncounted.includes('rows-surplus'));
    assert.ok(errorsOf(prepared(BALANCED, { preparation: 'padded-balanced' })).includes('row-duplicated'));
  });

  test('are errors if a copy differs from its original, or if a row is lost', () => {
    const batch = prepared(PADDED, stated);
    const reward = batch.reward!.slice();
    reward[PADDED.length - 1]! += 1;
    assert.ok(errorsOf({ ...batch, reward }).includes('row-duplicated'));
    const middle = CLEAN.trajectory.findIndex(
      (t, row) => row > 50 && t === CLEAN.trajectory[row + 1] && !COPIES.includes(row),
    );
    const lost = BALANCED.filter((row) => row !== middle);
    const report = verifyBatch(prepared(lost, { ...stated, rowsCollected: CLEAN.rows - 1 }));
    const gap = report.findings.find(({ code }) => code === 'step-gap')!;
    assert.equal(CLEAN.trajectory[lost[gap.rows[0]!]!], CLEAN.trajectory[middle]);
  });

  test('have the returns and scores of their trajectory, and a wrong one is found at its row', () => {
    const batch = prepared(BALANCED, stated);
    const at = BALANCED.lastIndexOf(77);
    const { reportedStepReward: _returns, ...unreported } = batch;
    assert.equal(verifyBatch({ ...unreported }).wrong, 0);
    const score = batch.tokenLevelRewardSum!.slice();
    for (const row of BALANCED.keys()) if (BALANCED[row] === 77) score[row]! += 0.5;
    const report = verifyBatch({ ...batch, tokenLevelRewardSum: score });
    const found = report.findings.find(({ code }) => code === 'score-mismatch')!;
    assert.deepEqual([found.rows.length, found.rows.includes(at)], [2, true]);
  });

  test('have the signal of the rows as the rollout collected them', () => {
    const figures = (batch: Batch) =>
      JSON.parse(
        JSON.stringify(describeSignal(batch), (_key, x) =>
          typeof x === 'number' ? Number(x.toPrecision(9)) : x,
        ),
      );
    const moved = pick(CLEAN, BALANCED);
    assert.deepEqual(figures({ ...moved, provenance: stated }), figures(CLEAN));
    assert.notDeepEqual(figures(moved), figures(CLEAN));
  });

  test('are stated on the wire and in bundles, and identify keeps to them', () => {
    const batch = prepared(BALANCED, stated);
    assert.deepEqual(decodeBatch(encodeBatch(batch)).provenance, stated);
    const origin = { experiment: 'e', attempt: 1, batch: 1, step: 1, digest: '', report: null, version: '1' };
    const bundle = writeBundle(batch, origin);
    assert.deepEqual(readBatches(bundle, 'f')[0]!.provenance, stated);
    assert.match(readBundleHead(bundle, 'f')!.fingerprint, /rows=padded-balanced/);
    assert.match(identify([batch]).fits[0]!.fingerprint, /^gigpo\(.*rows=padded-balanced\)$/);
    const odd = JSON.stringify({
      format: 'echelon-batch/1',
      batches: [
        { provenance: { preparation: 'odd' }, params: { estimator: 'grpo' }, group: [], trajectory: [] },
      ],
    });
    assert.throws(
      () => readBatches(Buffer.from(odd), 'f'),
      /provenance\.preparation.*padded, balanced, padded-balanced/,
    );
  });

  test('cannot be undone without step numbers or a statement', () => {
    const { step: _none, ...unnumbered } = prepared(BALANCED, stated);
    assert.equal(asCollected(unnumbered), undefined);
    assert.equal(asCollected(prepared(BALANCED)), undefined);
  });
});

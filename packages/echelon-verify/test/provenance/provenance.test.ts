import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chooseInputs } from '../../src/bounds/inputs.ts';
import type { Batch } from '../../src/format/batch.ts';
import { checkProvenance } from '../../src/provenance/provenance.ts';
import { type HandRow, handBatch } from '../support/hand-batch.ts';

const row = (trajectory: string, step: number, more: Partial<HandRow> = {}): HandRow => ({
  trajectory,
  step,
  state: 's',
  ...more,
});

function codes(batch: Batch): string[] {
  return checkProvenance(batch, chooseInputs(batch)).map((finding) => finding.code);
}

function only(batch: Batch): { code: string; rows: number[]; message: string } {
  const findings = checkProvenance(batch, chooseInputs(batch));
  assert.equal(findings.length, 1, JSON.stringify(findings));
  return findings[0]!;
}

describe('provenance', () => {
  test('interleaved rows in time order are fine', () => {
    assert.deepEqual(codes(handBatch([row('a', 0), row('b', 0), row('a', 1), row('b', 1)])), []);
  });

  test('a repeated step, a step behind a later one, a gap', () => {
    assert.deepEqual(only(handBatch([row('a', 0), row('a', 1), row('a', 1)])).rows, [2]);
    const disordered = only(handBatch([row('a', 0), row('a', 2), row('a', 1)]));
    assert.deepEqual([disordered.code, disordered.rows], ['steps-out-of-order', [2]]);
    const gap = only(handBatch([row('a', 0), row('a', 1), row('a', 3), row('b', 0)]));
    assert.equal(gap.code, 'step-gap');
    assert.match(gap.message, /a lacks step 2/);
    assert.equal(only(handBatch([row('a', 1), row('a', 2)])).code, 'step-gap');
  });

  test('without step numbers the order is taken on trust, and said so', () => {
    const unstated = (...names: string[]) =>
      codes(handBatch(names.map((trajectory) => ({ trajectory, state: 's', group: 'g' }))));
    assert.deepEqual(unstated('a', 'b', 'a'), ['steps-unstated']);
    assert.deepEqual([unstated('a'), unstated('a', 'b')], [[], []]);
  });

  test('stated sizes against what is there', () => {
    const rows = [row('a', 0), row('b', 0)];
    assert.deepEqual(
      codes(handBatch(rows, { provenance: { groupSize: 2, groups: 1, rowsCollected: 2 } })),
      [],
    );
    assert.deepEqual(codes(handBatch(rows, { provenance: { groupSize: 4 } })), ['group-size']);
    assert.deepEqual(codes(handBatch(rows, { provenance: { groups: 2 } })), ['group-count']);
    assert.deepEqual(codes(handBatch(rows, { provenance: { rowsCollected: 3 } })), ['rows-missing']);
    assert.deepEqual(codes(handBatch(rows, { provenance: { rowsCollected: 1 } })), ['rows-surplus']);
  });

  test('one trajectory in two groups', () => {
    const finding = only(handBatch([row('a', 0, { group: 'g' }), row('a', 1, { group: 'h' })]));
    assert.deepEqual([finding.code, finding.rows], ['trajectory-in-two-groups', [1]]);
  });

  test('groups that are keyed by the trajectory', () => {
    const keyed = [row('a', 0, { group: 'a' }), row('b', 0, { group: 'b' })];
    assert.deepEqual(codes(handBatch(keyed)), ['grouped-by-trajectory']);
    assert.deepEqual(codes(handBatch([row('a', 0, { group: 'a' }), row('b', 0, { group: 'a' })])), []);
    assert.deepEqual(codes(handBatch(keyed.slice(0, 1))), []);
  });

  test('returns against rewards, gamma and penalty', () => {
    const rows = [
      row('a', 0, { reward: 0, valid: false, return: 9 - 0.5 }),
      row('a', 1, { reward: 10, valid: true, return: 10 }),
    ];
    assert.deepEqual(codes(handBatch(rows, { estimator: { gamma: 0.9 } })), []);
    const finding = only(handBatch(rows, { estimator: { gamma: 0.95 } }));
    assert.deepEqual([finding.code, finding.rows], ['returns-mismatch', [0]]);
    assert.match(finding.message, /reports 8.5, the rewards give 9/);
    const untold = [row('a', 0, { reward: 1, return: 1 })];
    assert.deepEqual(codes(handBatch(untold)), ['returns-unchecked']);
    assert.deepEqual(codes(handBatch(untold, { estimator: { invalidActionPenalty: 0 } })), []);
  });

  test('scores against rewards', () => {
    const rows = [
      row('a', 0, { reward: 0, valid: false, score: 9.5 }),
      row('a', 1, { reward: 10, valid: true, score: 10 }),
    ];
    assert.deepEqual(codes(handBatch(rows)), []);
    const finding = only(handBatch([{ ...rows[0]!, score: 10 }, rows[1]!]));
    assert.deepEqual([finding.code, finding.rows], ['score-mismatch', [0]]);
    const scored = [row('a', 0, { score: 1 })];
    assert.deepEqual(codes(handBatch(scored, { estimator: { name: 'grpo' } })), ['scores-unchecked']);
    assert.deepEqual(codes(handBatch(scored)), []);
  });

  test('values that are no numbers', () => {
    const rows = [row('a', 0, { reward: Number.NaN, valid: true }), row('b', 0, { reward: 1, valid: true })];
    const finding = only(handBatch(rows));
    assert.deepEqual([finding.code, finding.rows], ['non-finite-input', [0]]);
  });

  test('a score of NaN is an error, unless the estimator leaves such rows out', () => {
    const rows = [row('a', 0, { score: Number.NaN }), row('b', 0, { score: 1 })];
    const found = (missing: 'propagate' | 'exclude') =>
      codes(handBatch(rows, { estimator: { name: 'grpo', missing } }));
    assert.deepEqual(found('propagate'), ['non-finite-input', 'scores-unchecked']);
    assert.deepEqual(found('exclude'), ['rows-unscorable', 'scores-unchecked']);
  });

  test('an empty batch', () => {
    assert.deepEqual(codes(handBatch([])), ['batch-empty']);
  });
});

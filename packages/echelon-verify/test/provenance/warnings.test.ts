import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Batch } from '../../src/format/batch.ts';
import { findWarnings } from '../../src/provenance/warnings.ts';
import { type HandRow, handBatch } from '../support/hand-batch.ts';

const codes = (batch: Batch): string[] => findWarnings(batch).map((finding) => finding.code);

/** Two trajectories of four steps through states by `state`. */
function walks(
  state: (trajectory: number, step: number) => string,
  more: (t: number, s: number) => Partial<HandRow> = () => ({}),
): HandRow[] {
  return [0, 1].flatMap((t) =>
    [0, 1, 2, 3].map((step) => ({ trajectory: `t${t}`, step, state: state(t, step), ...more(t, step) })),
  );
}

describe('warnings', () => {
  test('a batch with recurring states raises none', () => {
    assert.deepEqual(codes(handBatch(walks((_t, s) => `s${s}`))), []);
    assert.deepEqual(codes(handBatch([])), []);
  });

  test('no state recurs', () => {
    assert.deepEqual(codes(handBatch(walks((t, s) => `s${t}${s}`))), ['no-state-recurs']);
  });

  test('trajectories of a group start apart, where starts recur at all', () => {
    const started = (starts: string[]): Batch =>
      handBatch(
        starts.flatMap((start, t) =>
          [start, 'between', 'end'].map((state, step) => ({
            trajectory: `t${t}`,
            group: `g${t >> 1}`,
            step,
            state,
          })),
        ),
      );
    assert.deepEqual(codes(started(['a', 'a', 'b', 'b'])), []);
    assert.deepEqual(codes(started(['a', 'b', 'a', 'b'])), ['group-starts-differ']);
    assert.deepEqual(codes(started(['a', 'b', 'c', 'd'])), []);
  });

  test('groups of different sizes, if none is stated', () => {
    const rows = [0, 1, 2, 3, 4].flatMap((t) =>
      ['a', 'b'].map((state, step) => ({
        trajectory: `t${t}`,
        group: `g${t >> 1 === 2 ? 1 : t >> 1}`,
        step,
        state,
      })),
    );
    const batch = handBatch(rows);
    const { provenance: _none, ...unstated } = batch;
    assert.deepEqual(codes(unstated), ['group-sizes-differ']);
    assert.deepEqual(codes({ ...batch, provenance: { groupSize: 2 } }), []);
  });

  test('all observations equal', () => {
    assert.deepEqual(codes(handBatch(walks(() => 's'))), ['observations-constant']);
    assert.deepEqual(codes(handBatch(walks((t) => `s${t}`))), ['observations-constant']);
  });

  test('groups of one trajectory', () => {
    const rows = walks(
      (_t, s) => `s${s % 2}`,
      (t) => ({ group: `g${t}` }),
    );
    assert.deepEqual(codes(handBatch(rows)), ['groups-of-one']);
  });

  test('one advantage for all steps, where the estimator is step-wise', () => {
    const rows = walks(
      (_t, s) => `s${s}`,
      (t) => ({ advantage: t === 0 ? 1 : -1 }),
    );
    assert.deepEqual(codes(handBatch(rows)), ['advantage-constant']);
    assert.deepEqual(codes(handBatch(rows, { estimator: { name: 'grpo' } })), []);
    assert.deepEqual(codes(handBatch(rows.map((row) => ({ ...row, advantage: 0 })))), []);
  });

  test('advantages that lean to one side', () => {
    const rows = walks(
      (_t, s) => `s${s}`,
      (t, s) => ({ advantage: 0.2 + 0.01 * (t + s) }),
    );
    assert.deepEqual(codes(handBatch(rows)), ['group-mean-drift']);
    assert.deepEqual(
      codes(handBatch(rows.map((row, i) => ({ ...row, advantage: i % 2 === 0 ? 1 : -1.1 })))),
      [],
    );
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { explainRow, MAX_MEMBERS } from '../../src/explain/explain.ts';
import { goldenBatch, inForms } from '../support/golden-batches.ts';
import { handBatch } from '../support/hand-batch.ts';
import { reportBy } from '../support/mutants/tools.ts';

const BATCH = handBatch([
  { trajectory: 't1', step: 0, state: 'X', return: 0, advantage: 0 },
  { trajectory: 't1', step: 1, state: 'S', return: 9, advantage: Math.fround(3.8) },
  { trajectory: 't2', step: 0, state: 'X', return: 0, advantage: 0 },
  { trajectory: 't2', step: 1, state: 'S', return: 3, advantage: Math.fround(-2.2) },
  { trajectory: 't3', step: 0, state: 'Y', return: 0, advantage: 0 },
  { trajectory: 't3', step: 1, state: 'S', return: 0, advantage: -4 },
]);

describe('an explanation', () => {
  test('shows the clusters with members, mean, weight and share', () => {
    const e = explainRow(BATCH, 1);
    assert.deepEqual([e.group, e.trajectory, e.step, e.observation, e.outcome], ['g', 't1', 1, 'S', 'exact']);
    const [same, before] = e.levels;
    assert.deepEqual(
      [same!.title, same!.size, same!.mean, same!.advantage, same!.weight],
      ['same state', 3, 4, 5, 2],
    );
    assert.deepEqual(same!.members, [
      { row: 1, trajectory: 't1', step: 1, value: 9 },
      { row: 3, trajectory: 't2', step: 1, value: 3 },
      { row: 5, trajectory: 't3', step: 1, value: 0 },
    ]);
    assert.deepEqual(
      [before!.states, before!.size, before!.mean, before!.deviation],
      [['S', 'X'], 2, 6, null],
    );
    assert.ok(Math.abs(same!.share - 0.4) < 1e-6 && Math.abs(before!.share - 0.6) < 1e-6);
  });

  test('says what was dropped and why', () => {
    const reasons = (row: number): unknown[] =>
      explainRow(BATCH, row).levels.map((level) => level.dropped?.reason);
    assert.deepEqual(reasons(0), ['equal', 'no-such-step']);
    assert.deepEqual(reasons(4), ['singleton', 'no-such-step']);
    assert.deepEqual(reasons(5), [undefined, 'singleton']);
  });

  test('shares times advantages add up to the true value', () => {
    for (const name of [
      'walk-K4-mean_std_norm-base1',
      'gigpo-mean_std_norm-w0.5-0',
      'grpo-std-1',
      'rloo-3',
    ]) {
      const batch = goldenBatch(name);
      for (let row = 0; row < batch.rows; row += 7) {
        const e = explainRow(batch, row);
        const sum = e.levels.reduce((total, level) => total + level.share * level.advantage!, 0);
        assert.ok(Math.abs(sum - e.true!) < 1e-9, `${name}, row ${row}`);
        assert.ok(e.interval !== null && e.reported! >= e.interval.low && e.reported! <= e.interval.high);
      }
    }
  });

  test('a wrong row comes with the variant that gives it', () => {
    const wrong = explainRow(
      reportBy(inForms(goldenBatch('alfworld-scale'), 'recipe'), { deviation: 'sample' }),
      45,
    );
    assert.equal(wrong.outcome, 'wrong');
    assert.match(wrong.likelyCause ?? '', /^the sample deviation .* \(it gives all 4,234 wrong rows\)$/);
  });

  test('members are capped, the size is not', () => {
    const rows = Array.from({ length: MAX_MEMBERS + 50 }, (_, i) => ({
      trajectory: `t${i}`,
      step: 0,
      state: 's',
      return: i,
    }));
    const [level] = explainRow(handBatch(rows), 0).levels;
    assert.deepEqual([level!.size, level!.members.length], [MAX_MEMBERS + 50, MAX_MEMBERS]);
  });

  test('what a batch lacks is named, and is plain JSON', () => {
    const { observation: _, reportedAdvantage: __, ...poor } = BATCH;
    const e = explainRow(poor, 2);
    assert.deepEqual([e.outcome, e.missing], ['unverifiable', ['observation', 'reported.advantage']]);
    assert.deepEqual(JSON.parse(JSON.stringify(e)), e);
  });

  test('what is not finite is null, so that it stays JSON', () => {
    const clean = goldenBatch('one-step-episodes');
    const e = explainRow({ ...clean, reportedStepReward: clean.reportedStepReward!.with(0, Number.NaN) }, 1);
    assert.deepEqual([e.true, e.levels[0]!.mean, e.levels[0]!.members[0]!.value], [null, null, null]);
    assert.deepEqual(JSON.parse(JSON.stringify(e)), e);
  });

  test('rows that are not there are refused', () => {
    for (const row of [-1, 6, 0.5, Number.NaN]) assert.throws(() => explainRow(BATCH, row), RangeError);
  });

  test('without step numbers, an explanation has positions', () => {
    const { step: _, ...unstated } = BATCH;
    assert.equal(explainRow(unstated, 3).step, 1);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { explainRow } from '../../src/explain/explain.ts';
import { rowColumns } from '../../src/explain/row-columns.ts';
import { readBatches } from '../../src/format/read-batch.ts';
import { verifyBatch } from '../../src/verify/verify-batch.ts';
import { REWARDS, sampleFile } from '../sample-batch.ts';
import { goldenBatch } from '../support/golden-batches.ts';
import { handBatch } from '../support/hand-batch.ts';

const ALL = { first: 0, count: 100_000 };
const BATCH = handBatch([
  { trajectory: 't1', step: 0, state: 'X', return: 0, advantage: 0 },
  { trajectory: 't1', step: 1, state: 'S', return: 9, advantage: 3 },
  { trajectory: 't2', step: 0, state: 'X', return: 0, advantage: 0 },
  { trajectory: 't2', step: 1, state: 'S', return: 3, advantage: Math.fround(-2.2) },
]);

describe('rows in columns', () => {
  test('equal the explanation of each row, for estimators of every kind', () => {
    for (const name of [
      'walk-K4-mean_std_norm-base1',
      'gigpo-mean_std_norm-w0.5-0',
      'grpo-std-1',
      'rloo-3',
    ]) {
      const batch = goldenBatch(name);
      const columns = rowColumns(batch, ALL);
      assert.deepEqual([columns.rows, columns.matching, columns.row.length], Array(3).fill(batch.rows));
      for (let row = 0; row < batch.rows; row += 5) {
        const e = explainRow(batch, row);
        assert.deepEqual(
          {
            group: columns.groups[columns.group[row]!],
            trajectory: columns.trajectories[columns.trajectory[row]!],
            step: columns.step[row],
            observation: columns.observations?.[columns.observation![row]!] ?? null,
            outcome: columns.outcome[row],
            interval: { low: columns.low[row], high: columns.high[row] },
            values: [columns.reported, columns.true, columns.stepReturn, columns.score].map((c) => c[row]),
            levels: columns.levels.map(({ level, advantage, share, dropped }) => ({
              ...{ level, advantage: advantage[row], share: share[row], dropped: dropped[row] },
            })),
          },
          {
            ...{ group: e.group, trajectory: e.trajectory, step: e.step, observation: e.observation },
            ...{ outcome: e.outcome, interval: e.interval },
            values: [e.reported, e.true, e.stepReturn, e.score],
            levels: e.levels.map(({ level, advantage, share, dropped }) => ({
              ...{ level, advantage, share, dropped: dropped?.reason ?? null },
            })),
          },
          `${name}, row ${row}`,
        );
      }
    }
  });

  test('have the outcomes that the report counts', () => {
    const report = verifyBatch(BATCH);
    const { outcome } = rowColumns(BATCH, ALL);
    assert.deepEqual(
      [...outcome.keys()].filter((row) => outcome[row] === 'wrong'),
      report.wrongRows,
    );
    assert.deepEqual(report.wrongRows, [3]);
  });

  test('of one trajectory, of one state, and of a page', () => {
    assert.deepEqual(rowColumns(BATCH, { ...ALL, trajectory: 't2' }).row, [2, 3]);
    assert.deepEqual(rowColumns(BATCH, { ...ALL, trajectory: 'unknown' }).row, []);
    assert.deepEqual(rowColumns(BATCH, { ...ALL, sameStateAs: 3 }).row, [1, 3]);
    const page = rowColumns(BATCH, { first: 1, count: 2 });
    assert.deepEqual([page.row, page.matching, page.first], [[1, 2], 4, 1]);
    assert.deepEqual(
      [page.trajectories, page.trajectory],
      [
        ['t1', 't2'],
        [0, 1],
      ],
    );
    assert.throws(() => rowColumns(BATCH, { ...ALL, sameStateAs: 4 }), RangeError);
  });

  test('have the texts of the actions that the rows took', () => {
    const acted = { ...BATCH, action: Int32Array.of(0, 2, 1, 0), actionTexts: ['up', 'down', 'wait'] };
    const { actions, action } = rowColumns(acted, { ...ALL, trajectory: 't2' });
    assert.deepEqual(
      [actions, action],
      [
        ['down', 'up'],
        [0, 1],
      ],
    );
  });

  test('have null for what a batch lacks', () => {
    const { reportedAdvantage: _, ...without } = BATCH;
    const columns = rowColumns(without, ALL);
    assert.deepEqual([columns.actions, columns.action], [null, null]);
    assert.deepEqual(columns.reported, [null, null, null, null]);
    assert.deepEqual(new Set(columns.outcome), new Set(['unverifiable']));
  });
});

test('each reward function has a column of its own, null in rows that it did not score', () => {
  const [batch] = readBatches(sampleFile(REWARDS), 'f');
  assert.deepEqual(rowColumns(batch!, { first: 1, count: 2 }).rewards, [
    { name: 'format', weight: 1, value: [null, 0] },
    { name: 'answer', weight: 0, value: [2, -1] },
  ]);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { clusterLevels } from '../../src/kernel.ts';
import { batches, columnsOf, slowClusters } from './reference.ts';

describe('clusterLevels', () => {
  test('are the clusters of the definition, at every level', () => {
    fc.assert(
      fc.property(batches({ observations: 2 }), fc.nat({ max: 9 }), ({ steps }, historyLength) => {
        const levels = clusterLevels(steps, historyLength);
        const expected = slowClusters(steps, historyLength);
        const deepest = Math.max(0, ...expected.map((of) => of.length));
        assert.equal(levels.length, steps.rows === 0 ? 0 : deepest);
        for (const { level, cluster, count } of levels) {
          assert.deepEqual(
            [...new Set(cluster)].filter((id) => id >= 0).sort((a, b) => a - b),
            [...Array(count).keys()],
          );
          const membersOf = Map.groupBy(cluster.keys(), (row) => cluster[row]);
          expected.forEach((of, row) => {
            const members = of[level];
            if (members === undefined) assert.equal(cluster[row], -1);
            else assert.equal(String(membersOf.get(cluster[row])), String(members));
          });
        }
      }),
      { numRuns: 500 },
    );
  });

  test('are nested: rows that share a level share every level below it', () => {
    fc.assert(
      fc.property(batches({ observations: 2 }), ({ steps }) => {
        const levels = clusterLevels(steps, 5);
        for (let k = 1; k < levels.length; k++) {
          const parentOf = new Map<number, number>();
          levels[k]!.cluster.forEach((id, row) => {
            if (id < 0) return;
            const parent = levels[k - 1]!.cluster[row]!;
            assert.equal(parentOf.get(id) ?? parent, parent);
            parentOf.set(id, parent);
          });
        }
      }),
    );
  });

  test('a state of another group is another state', () => {
    const { steps } = columnsOf([
      { group: 0, trajectory: 0, observation: 0, ret: 0 },
      { group: 1, trajectory: 1, observation: 0, ret: 0 },
    ]);
    assert.deepEqual(Array.from(clusterLevels(steps, 0)[0]!.cluster), [0, 1]);
  });

  test('a history length that is none is refused, and so is a result that would not fit', () => {
    const { steps } = columnsOf([]);
    assert.throws(() => clusterLevels(steps, -1), RangeError);
    assert.throws(() => clusterLevels(steps, 1e6), RangeError);
    const rows = 600_000;
    const one = new Int32Array(rows);
    assert.throws(
      () => clusterLevels({ rows, group: one, trajectory: one, observation: one }, 1024),
      /cluster ids/,
    );
  });
});

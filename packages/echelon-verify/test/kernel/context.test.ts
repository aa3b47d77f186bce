import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ContextLevels, Keep } from '../../src/kernel/context.ts';
import { createLevels, loadGroup, measureClusters, refineGroup } from '../../src/kernel/context.ts';

/** The members of each cluster, as they stand. */
function membersOf(levels: ContextLevels): number[][] {
  const clusters: number[][] = Array.from({ length: levels.clusters }, () => []);
  for (let j = 0; j < levels.live; j++) clusters[levels.cluster[j]!]!.push(levels.member[j]!);
  return clusters;
}

const drop: Keep = { keepSingles: false, keepEqual: false };

function load(observation: number[], values: number[], options: { keep?: Keep; trajectory?: number[] } = {}) {
  const rows = observation.length;
  const levels = createLevels(rows, Math.max(0, ...observation) + 1, options.keep ?? drop);
  const slice = {
    trajectory: Int32Array.from(options.trajectory ?? observation.map((_, at) => at)),
    observation: Int32Array.from(observation),
    values: Float64Array.from(values),
    order: undefined,
    from: 0,
    to: rows,
  };
  loadGroup(levels, slice);
  return { levels, slice };
}

describe('context levels', () => {
  test('clusters of one and clusters of equal values leave, unless they are to be kept', () => {
    const [observation, values] = [
      [0, 1, 1, 2, 2],
      [5, 1, 1, 1, 2],
    ];
    assert.deepEqual(membersOf(load(observation, values).levels), [[3, 4]]);
    const all = { keepSingles: true, keepEqual: true };
    assert.deepEqual(membersOf(load(observation, values, { keep: all }).levels), [[0], [1, 2], [3, 4]]);
    assert.deepEqual(membersOf(load(observation, values, { keep: { ...all, keepSingles: false } }).levels), [
      [1, 2],
      [3, 4],
    ]);
  });

  test('equal infinities do not leave: they are no advantage of 0', () => {
    const { levels } = load([0, 0], [Infinity, Infinity]);
    assert.deepEqual(membersOf(levels), [[0, 1]]);
  });

  test('the next level parts by the observation before, and early rows leave', () => {
    const { levels } = load([0, 3, 1, 3, 0, 3, 3], [0, 1, 0, 2, 0, 3, 4], {
      trajectory: [0, 0, 1, 1, 2, 2, 3],
    });
    assert.deepEqual(membersOf(levels), [[1, 3, 5, 6]]);
    refineGroup(levels, 1);
    assert.deepEqual(membersOf(levels), [[1, 5]]);
    assert.equal(levels.mean[0], 2);
    refineGroup(levels, 2);
    assert.equal(levels.live, 0);
  });

  test('one group after another shares the tables without traces', () => {
    const group = fc.array(fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 2 })), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(group, { minLength: 1, maxLength: 6 }), (groups) => {
        const shared = createLevels(8, 4, drop);
        for (const rows of groups) {
          const observation = rows.map(([o]) => o);
          const values = rows.map(([, v]) => v);
          const { levels, slice } = load(observation, values, { trajectory: rows.map((_, at) => at >> 2) });
          loadGroup(shared, slice);
          for (const level of [1, 2, 3]) {
            assert.deepEqual(membersOf(shared), membersOf(levels));
            assert.deepEqual(shared.mean.slice(0, shared.clusters), levels.mean.slice(0, levels.clusters));
            refineGroup(shared, level);
            refineGroup(levels, level);
          }
        }
      }),
    );
  });

  test('the divisor of a cluster that has no spread is 1, so that 0 stays 0', () => {
    const { levels } = load([0, 0, 1, 1], [3, 3, 1, 5], { keep: { keepSingles: false, keepEqual: true } });
    const by = new Float64Array(4);
    measureClusters(levels, { deviation: 'population', epsilon: 0, epsilonPlace: 'added' }, by);
    assert.deepEqual(Array.from(by.subarray(0, 2)), [1, 2]);
  });
});

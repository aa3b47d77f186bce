import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { orderRows } from '../../src/kernel/order.ts';
import { batches } from './reference.ts';

test('rows come out by group, then trajectory, then in their own order', () => {
  fc.assert(
    fc.property(batches(), fc.boolean(), ({ steps }, backwards) => {
      const group = backwards ? steps.group.slice().reverse() : steps.group;
      const trajectory = backwards ? steps.trajectory.slice().reverse() : steps.trajectory;
      const { order, starts, largest } = orderRows({ rows: steps.rows, group, trajectory });
      const expected = Array.from(group.keys()).sort(
        (x, y) => group[x]! - group[y]! || trajectory[x]! - trajectory[y]! || x - y,
      );
      assert.deepEqual(Array.from(order ?? group.keys()), expected);
      const sizes = Array.from(starts.subarray(1), (end, g) => end - starts[g]!);
      sizes.forEach((size, g) => {
        assert.equal(size, group.filter((id) => id === g).length);
      });
      assert.equal(largest, Math.max(0, ...sizes));
      assert.equal(starts.at(-1), steps.rows);
    }),
  );
});

test('rows that already stand in order are left alone, also with groups that have no rows', () => {
  const { order, starts } = orderRows({
    rows: 4,
    group: Int32Array.of(1, 1, 3, 3),
    trajectory: Int32Array.of(0, 0, 1, 2),
  });
  assert.equal(order, undefined);
  assert.deepEqual(Array.from(starts), [0, 0, 2, 2, 4]);
});

test('ids above the number of rows are taken too', () => {
  const { order, starts } = orderRows({
    rows: 2,
    group: Int32Array.of(9, 0),
    trajectory: Int32Array.of(7, 8),
  });
  assert.deepEqual(Array.from(order ?? []), [1, 0]);
  assert.equal(starts.length, 11);
});

test('negative ids are refused wherever they stand', () => {
  for (const at of [0, 1, 2]) {
    const bent = Int32Array.of(0, 1, 2);
    bent[at] = -1;
    const good = Int32Array.of(0, 1, 2);
    assert.throws(() => orderRows({ rows: 3, group: bent, trajectory: good }), /negative/);
    assert.throws(() => orderRows({ rows: 3, group: good, trajectory: bent }), /negative/);
  }
});

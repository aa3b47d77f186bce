import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { rloo } from '../../../src/kernel.ts';
import { batches } from '../reference.ts';

describe('rloo', () => {
  test('scores 10 and 0 over three rows each give ±6', () => {
    const a = rloo(new Int32Array(6), Float64Array.of(10, 10, 10, 0, 0, 0));
    assert.deepEqual(
      Array.from(a, (x) => Math.round(x * 1e9) / 1e9),
      [6, 6, 6, -6, -6, -6],
    );
  });

  test('is each score less the mean of the others', () => {
    fc.assert(
      fc.property(batches(), ({ steps, score }) => {
        const a = rloo(steps.group, score, { singleton: 'zero' });
        a.forEach((value, row) => {
          const others = Array.from(steps.group.keys()).filter(
            (at) => at !== row && steps.group[at] === steps.group[row],
          );
          const mean = others.reduce((sum, at) => sum + score[at]!, 0) / others.length;
          const expected = others.length === 0 ? 0 : score[row]! - mean;
          const scale = Math.max(1, Math.abs(score[row]!));
          assert.ok(Math.abs(value - expected) <= 1e-12 * scale, `${value}, expected ${expected}`);
        });
      }),
    );
  });

  test('a group of one passes its score through, or gives 0', () => {
    assert.deepEqual(Array.from(rloo(new Int32Array(1), Float64Array.of(7))), [7]);
    assert.deepEqual(Array.from(rloo(new Int32Array(1), Float64Array.of(7), { singleton: 'zero' })), [0]);
  });

  test('equal scores give exactly 0, and statistics may run over trajectories', () => {
    assert.deepEqual(Array.from(rloo(new Int32Array(3), Float64Array.of(0.1, 0.1, 0.1))), [0, 0, 0]);
    const a = rloo(
      new Int32Array(3),
      Float64Array.of(4, 4, 0),
      { statistics: 'trajectories' },
      Int32Array.of(0, 0, 1),
    );
    assert.deepEqual(Array.from(a), [4, 4, -4]);
  });
});

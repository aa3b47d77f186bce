import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { setSums } from '../../../src/kernel/sets/row-sets.ts';
import { idCount } from '../../../src/kernel/sets/steps.ts';
import type { GrpoParameters } from '../../../src/kernel.ts';
import { grpo } from '../../../src/kernel.ts';
import { batches } from '../reference.ts';

const one = (...score: number[]) => ({
  group: new Int32Array(score.length),
  score: Float64Array.from(score),
});
const run = (score: number[], p: Partial<GrpoParameters> = {}) =>
  Array.from(grpo(one(...score).group, one(...score).score, p));

function close(actual: readonly number[], expected: readonly number[], within = 1e-4): void {
  assert.equal(actual.length, expected.length);
  actual.forEach((a, row) => {
    assert.ok(Math.abs(a - expected[row]!) <= within, `row ${row}: ${a}, expected ${expected[row]}`);
  });
}

describe('grpo: worked values', () => {
  test('scores 10 and 0 over three rows each, and over two and four', () => {
    close(run([10, 10, 10, 0, 0, 0]), [0.9129, 0.9129, 0.9129, -0.9129, -0.9129, -0.9129]);
    close(run([10, 10, 0, 0, 0, 0]), [1.291, 1.291, -0.6455, -0.6455, -0.6455, -0.6455]);
  });

  test('a group of one passes its score through, or gives 0', () => {
    close(run([7]), [7 / (1 + 1e-6)], 1e-12);
    close(run([7], { normalizeByStd: false }), [7], 0);
    close(run([7], { singleton: 'zero' }), [0], 0);
  });
});

describe('grpo: the variants of other trainers', () => {
  const scores = [1, 1.0005];

  test('deviation over n instead of n - 1', () => {
    close(run([0, 1, 1, 0], { deviation: 'population' }), [-1, 1, 1, -1], 1e-5);
    close(run([0, 1, 1, 0]), [-0.866, 0.866, 0.866, -0.866], 1e-3);
  });

  test('variance floored at epsilon, as the vectorised form does', () => {
    close(run(scores, { epsilonPlace: 'variance-floor' }), [-0.25, 0.25], 1e-3);
    close(run(scores), [-0.705, 0.705], 2e-3);
  });

  test('epsilon as a floor of the deviation, and inside the root', () => {
    close(run(scores, { epsilonPlace: 'floor', epsilon: 1 }), [-0.00025, 0.00025], 1e-9);
    close(run([0, 2], { epsilonPlace: 'variance-added', epsilon: 2 }), [-0.5, 0.5], 1e-12);
  });

  test('without deviation, only the mean goes', () => {
    close(run([0, 1, 2], { normalizeByStd: false }), [-1, 0, 1], 0);
  });

  test('one value per trajectory: a long trajectory does not weigh more', () => {
    const group = new Int32Array(4);
    const score = Float64Array.of(6, 6, 6, 0);
    const trajectory = Int32Array.of(0, 0, 0, 1);
    const p = { normalizeByStd: false, statistics: 'trajectories' as const };
    close(Array.from(grpo(group, score, p, trajectory)), [3, 3, 3, -3], 0);
    close(Array.from(grpo(group, score, { normalizeByStd: false })), [1.5, 1.5, 1.5, -4.5], 0);
    assert.throws(() => grpo(group, score, p), /need the trajectory ids/);
  });

  test('against the mean and deviation of the others', () => {
    const p = { baseline: 'leave-one-out' as const, epsilon: 0 };
    close(run([9, 1, 3], p), [7 / Math.SQRT2, -5 / Math.sqrt(18), -2 / Math.sqrt(32)], 1e-9);
    close(run([9, 1, 3], { ...p, normalizeByStd: false }), [7, -5, -2], 1e-12);
    close(run([5, 5, 5], p), [0, 0, 0], 0);
  });
});

describe('grpo: properties', () => {
  test('without deviation each group adds up to zero; a shift and a scale change nothing with it', () => {
    fc.assert(
      fc.property(batches(), fc.integer({ min: -500, max: 500 }), ({ steps, score }, shift) => {
        const plain = grpo(steps.group, score, { normalizeByStd: false });
        const sums = setSums(steps.group, idCount('group', steps.group), plain);
        sums.mean.forEach((mean, g) => {
          const scale = score.reduce((largest, s) => Math.max(largest, Math.abs(s)), 1);
          if (sums.rows[g]! > 1) assert.ok(Math.abs(mean) <= 1e-12 * scale);
        });
        const base = grpo(steps.group, score, { singleton: 'zero' });
        const moved = grpo(
          steps.group,
          score.map((s) => s + shift),
          { singleton: 'zero' },
        );
        close(Array.from(moved), Array.from(base), 1e-5);
      }),
    );
  });

  test('equal scores give exactly 0, also where their sum rounds', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, min: -1e6, max: 1e6 }),
        fc.integer({ min: 2, max: 50 }),
        (s, n) => {
          const { group, score } = one(...Array<number>(n).fill(s));
          assert.ok(grpo(group, score).every((a) => a === 0));
        },
      ),
    );
  });

  test('NaN stays in its group', () => {
    const group = Int32Array.of(0, 1, 0, 1);
    const a = grpo(group, Float64Array.of(Number.NaN, 1, 2, 0));
    assert.deepEqual([Number.isNaN(a[0]!), Number.isNaN(a[1]!), Number.isNaN(a[2]!)], [true, false, true]);
    assert.ok(
      Array.from(grpo(group, Float64Array.of(Infinity, 1, Infinity, 0)))
        .slice(0, 1)
        .every(Number.isNaN),
    );
  });

  test('the empty batch has no advantages; unequal columns are refused', () => {
    assert.equal(grpo(new Int32Array(0), new Float64Array(0)).length, 0);
    assert.throws(() => grpo(new Int32Array(1), new Float64Array(2)), RangeError);
  });
});

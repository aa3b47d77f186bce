import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { HgpoParameters } from '../../../src/kernel.ts';
import { GIGPO_RECIPE, gigpoStepTerm, HGPO_RECIPE, hgpo } from '../../../src/kernel.ts';
import { batches, columnsOf, slowClusters, slowHgpo } from '../reference.ts';

const anyParameters: fc.Arbitrary<HgpoParameters> = fc.record({
  historyLength: fc.nat({ max: 5 }),
  mode: fc.constantFrom('mean_std_norm' as const, 'mean_norm' as const),
  lengthWeightAlpha: fc.constantFrom(0, 0.5, 1, 2, -1),
  baseGroup: fc.boolean(),
  epsilon: fc.constantFrom(1e-6, 1e-3),
  epsilonPlace: fc.constant('added' as const),
  deviation: fc.constant('population' as const),
  singleton: fc.constant('drop' as const),
  zero: fc.constantFrom('drop' as const, 'keep' as const),
  weightOffset: fc.constantFrom(1 as const, 2 as const),
  weightEpsilon: fc.constantFrom(1e-6, 0),
  baseDeviation: fc.constant('sample' as const),
  baseSingleton: fc.constant('raw' as const),
  baseStatistics: fc.constant('rows' as const),
});

/** Equal up to rounding: nearly equal returns far from 0 leave few digits of a deviation. */
function assertClose(actual: ArrayLike<number>, expected: ArrayLike<number>, relative = 1e-6): void {
  assert.equal(actual.length, expected.length);
  for (let row = 0; row < expected.length; row++) {
    const [a, e] = [actual[row]!, expected[row]!];
    const close = Object.is(a, e) || a === e || Math.abs(a - e) <= relative * Math.max(1e-3, Math.abs(e));
    assert.ok(close, `row ${row}: ${a}, expected ${e}`);
  }
}

const group = (rows: [trajectory: number, observation: number, ret: number, score?: number][]) =>
  columnsOf(
    rows.map(([trajectory, observation, ret, score]) => ({
      group: 0,
      trajectory,
      observation,
      ret,
      score: score ?? 0,
    })),
  );

describe('hgpo: worked values of the recipe', () => {
  const [X, S, Y] = [0, 1, 2];
  const three = group([
    [0, X, 0, 10],
    [0, S, 9, 10],
    [1, X, 0, 0],
    [1, S, 3, 0],
    [2, Y, 0, 0],
    [2, S, 0, 0],
  ]);

  test('levels weigh 2 and 3, a row without the longer history has the shorter alone', () => {
    assertClose(hgpo(three.steps, three.stepReturn, { mode: 'mean_norm' }), [0, 3.8, 0, -2.2, 0, -4]);
  });

  test('the base group is one more level of weight 1', () => {
    const a = hgpo(three.steps, three.stepReturn, { mode: 'mean_norm', baseGroup: true }, three.score);
    for (const [row, value] of [
      [0, 6.6667],
      [1, 4.2778],
      [3, -2.3889],
      [5, -3.7778],
    ] as const) {
      assert.ok(Math.abs(a[row]! - value) < 1e-4, `row ${row}: ${a[row]}`);
    }
  });

  test('two trajectories through the same two states', () => {
    const b = group([
      [0, 0, 9.5],
      [0, 1, 10],
      [1, 0, 0],
      [1, 1, 0],
    ]);
    assertClose(hgpo(b.steps, b.stepReturn), [0.999999, 1, -0.999999, -1], 2e-6);
    assertClose(
      hgpo(b.steps, b.stepReturn, { mode: 'mean_norm' }),
      [4.749998, 4.999999, -4.749998, -4.999999],
      1e-6,
    );
  });

  test('a trajectory alone is compared with its own later visits', () => {
    const b = group([
      [0, 0, 8],
      [0, 0, 9],
      [0, 0, 9.5],
      [0, 1, 10],
    ]);
    assertClose(hgpo(b.steps, b.stepReturn), [-1.336303, -0.493093, 1.027615, 0], 2e-6);
  });

  test('a member equal to the mean gives that level away', () => {
    const b = group([
      [0, 0, 0],
      [1, 0, 5],
      [2, 0, 10],
    ]);
    assertClose(hgpo(b.steps, b.stepReturn), [-1.224744, 0, 1.224744], 2e-6);
  });

  test('a base group of one row passes its score through', () => {
    const b = group([[0, 0, 7, 7]]);
    assertClose(hgpo(b.steps, b.stepReturn, { baseGroup: true }, b.score), [6.99999], 1e-6);
  });
});

describe('hgpo: properties', () => {
  test('agrees with the definition evaluated row by row, for all parameters', () => {
    fc.assert(
      fc.property(batches(), anyParameters, (batch, p) => {
        assertClose(hgpo(batch.steps, batch.stepReturn, p, batch.score), slowHgpo(batch, p));
      }),
      { numRuns: 1000 },
    );
  });

  test('with K = 0 it is the step term of GiGPO, by population deviation', () => {
    const p = { ...GIGPO_RECIPE, deviation: 'population' as const };
    fc.assert(
      fc.property(
        batches(),
        fc.constantFrom('mean_norm' as const, 'mean_std_norm' as const),
        (batch, mode) => {
          const a = hgpo(batch.steps, batch.stepReturn, { historyLength: 0, mode, weightEpsilon: 0 });
          assertClose(a, gigpoStepTerm(batch.steps, batch.stepReturn, { ...p, mode }), 1e-12);
        },
      ),
    );
  });

  test('mean_norm adds up to zero over every state of a group, and over the batch', () => {
    fc.assert(
      fc.property(batches(), (batch) => {
        const a = hgpo(batch.steps, batch.stepReturn, { historyLength: 0, mode: 'mean_norm', zero: 'keep' });
        slowClusters(batch.steps, 0).forEach(([members]) => {
          const sum = members!.reduce((total, row) => total + a[row]!, 0);
          const scale = members!.reduce(
            (largest, row) => Math.max(largest, Math.abs(batch.stepReturn[row]!)),
            1,
          );
          assert.ok(Math.abs(sum) <= 1e-12 * scale * members!.length, `${sum}`);
        });
      }),
    );
  });

  test('a shift of all returns changes nothing', () => {
    fc.assert(
      fc.property(batches(), anyParameters, fc.integer({ min: -1000, max: 1000 }), (batch, p, shift) => {
        const parameters = { ...p, baseGroup: false };
        const moved = batch.stepReturn.map((value) => value + shift);
        assertClose(hgpo(batch.steps, moved, parameters), hgpo(batch.steps, batch.stepReturn, parameters));
      }),
    );
  });

  test('other names for groups, trajectories and observations change nothing', () => {
    fc.assert(
      fc.property(batches(), anyParameters, (batch, p) => {
        const renamed = (ids: Int32Array) => ids.map((id) => 7 * (Math.max(0, ...ids) - id) + 3);
        const { steps } = batch;
        const other = {
          rows: steps.rows,
          group: renamed(steps.group),
          trajectory: renamed(steps.trajectory),
          observation: renamed(steps.observation),
        };
        assertClose(
          hgpo(other, batch.stepReturn, p, batch.score),
          hgpo(steps, batch.stepReturn, p, batch.score),
        );
      }),
    );
  });

  test('the order in which trajectories stand or interleave changes nothing', () => {
    fc.assert(
      fc.property(batches(), anyParameters, fc.infiniteStream(fc.nat()), (batch, p, random) => {
        const rank = new Map<number, number>();
        for (const t of batch.steps.trajectory) if (!rank.has(t)) rank.set(t, random.next().value!);
        const order = Array.from(batch.steps.trajectory.keys()).sort(
          (x, y) => rank.get(batch.steps.trajectory[x]!)! - rank.get(batch.steps.trajectory[y]!)! || x - y,
        );
        const take = <T extends Int32Array | Float64Array>(column: T) =>
          column.map((_, at) => column[order[at]!]!) as T;
        const moved = {
          rows: batch.steps.rows,
          group: take(batch.steps.group),
          trajectory: take(batch.steps.trajectory),
          observation: take(batch.steps.observation),
        };
        const a = hgpo(moved, take(batch.stepReturn), p, take(batch.score));
        assertClose(a, take(hgpo(batch.steps, batch.stepReturn, p, batch.score)));
      }),
    );
  });

  test('equal returns give exactly 0, whatever their value', () => {
    fc.assert(
      fc.property(batches(), fc.float({ noNaN: true, noDefaultInfinity: true }), (batch, value) => {
        const a = hgpo(
          batch.steps,
          batch.stepReturn.map(() => value),
          { historyLength: 3 },
        );
        assert.ok(a.every((advantage) => advantage === 0));
      }),
    );
  });

  test('returns one rounding apart are not taken for equal', () => {
    const near = 1 + 2 ** -52;
    const b = group([
      [0, 0, 1],
      [1, 0, near],
    ]);
    assertClose(
      hgpo(b.steps, b.stepReturn, { historyLength: 0, mode: 'mean_norm', weightEpsilon: 0 }),
      [0, 2 ** -52],
      1,
    );
  });

  test('NaN and infinities reach their clusters and nothing else', () => {
    const bad = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY);
    fc.assert(
      fc.property(batches(), fc.nat(), bad, fc.nat({ max: 3 }), (batch, pick, value, historyLength) => {
        if (batch.steps.rows === 0) return;
        const at = pick % batch.steps.rows;
        const spoiled = batch.stepReturn.slice();
        spoiled[at] = value;
        const before = hgpo(batch.steps, batch.stepReturn, { historyLength });
        const after = hgpo(batch.steps, spoiled, { historyLength });
        slowClusters(batch.steps, historyLength).forEach((levels, row) => {
          const hit = levels.some((members) => members.length > 1 && members.includes(at));
          if (hit) assert.ok(Number.isNaN(after[row]), `row ${row} is ${after[row]}`);
          else assert.equal(after[row], row === at ? 0 : before[row]);
        });
      }),
    );
  });

  test('rewards near the end of the range stay contained as well', () => {
    const b = columnsOf([
      { group: 0, trajectory: 0, observation: 0, ret: 1e308 },
      { group: 0, trajectory: 1, observation: 0, ret: -1e308 },
      { group: 1, trajectory: 2, observation: 0, ret: 1 },
      { group: 1, trajectory: 3, observation: 0, ret: 0 },
    ]);
    const a = hgpo(b.steps, b.stepReturn, { historyLength: 0 });
    assertClose(a.slice(2), [0.9999975, -0.9999975], 1e-6);
  });
});

describe('hgpo: parameters and bad calls', () => {
  const b = group([
    [0, 0, 4],
    [1, 0, 4],
    [2, 0, 1],
    [0, 1, 4],
    [1, 1, 4],
  ]);

  test('zero levels keep their weight where asked to', () => {
    // Row 3 has only a level of equal returns; row 0 has one level, its own.
    const p = { historyLength: 1, mode: 'mean_norm' as const, weightEpsilon: 0 };
    assertClose(hgpo(b.steps, b.stepReturn, p), [1, 1, -2, 0, 0]);
    assertClose(hgpo(b.steps, b.stepReturn, { ...p, zero: 'keep' }), [1, 1, -2, 0, 0]);
    const chain = group([
      [0, 5, 0],
      [0, 0, 4],
      [1, 5, 0],
      [1, 0, 4],
      [2, 0, 1],
    ]);
    assertClose(hgpo(chain.steps, chain.stepReturn, p), [0, 1, 0, 1, -2]);
    assertClose(hgpo(chain.steps, chain.stepReturn, { ...p, zero: 'keep' }), [0, 0.4, 0, 0.4, -2]);
  });

  test('a cluster of one keeps its weight where asked to', () => {
    const chain = group([
      [0, 5, 0],
      [0, 0, 4],
      [1, 6, 0],
      [1, 0, 1],
    ]);
    const p = { historyLength: 1, mode: 'mean_norm' as const, weightEpsilon: 0, zero: 'keep' as const };
    assertClose(hgpo(chain.steps, chain.stepReturn, { ...p, singleton: 'zero' }), [0, 0.6, 0, -0.6]);
    assertClose(hgpo(chain.steps, chain.stepReturn, p), [0, 1.5, 0, -1.5]);
  });

  test('epsilon stands in both denominators, as in the recipe', () => {
    const two = group([
      [0, 0, 4],
      [1, 0, 0],
    ]);
    const p = { historyLength: 0, mode: 'mean_norm' as const, lengthWeightAlpha: 0 };
    assertClose(hgpo(two.steps, two.stepReturn, { ...p, epsilon: 1 }), [1, -1]);
    assertClose(hgpo(two.steps, two.stepReturn, { ...p, epsilon: 1, weightEpsilon: 0 }), [2, -2]);
  });

  test('an epsilon of 0 does not spoil equal returns', () => {
    const p = { epsilon: 0, zero: 'keep' as const, singleton: 'zero' as const };
    const a = hgpo(b.steps, b.stepReturn, p);
    assert.ok(a.every(Number.isFinite));
  });

  test('the empty batch has no advantages', () => {
    const empty = columnsOf([]);
    assert.equal(hgpo(empty.steps, empty.stepReturn).length, 0);
  });

  test('a history length that is none is refused', () => {
    for (const historyLength of [-1, 0.5, Number.NaN, 1e6]) {
      assert.throws(() => hgpo(b.steps, b.stepReturn, { historyLength }), RangeError);
    }
  });

  test('columns of unequal length and negative ids are refused', () => {
    assert.throws(() => hgpo(b.steps, b.stepReturn.slice(1)), /stepReturn has 4 entries, expected 5/);
    const bent = { ...b.steps, observation: Int32Array.of(0, 0, -1, 0, 0) };
    assert.throws(() => hgpo(bent, b.stepReturn), /observation holds a negative id/);
    assert.throws(() => hgpo({ ...b.steps, group: new Int32Array(2) }, b.stepReturn), RangeError);
  });

  test('a base group without scores is refused', () => {
    assert.throws(() => hgpo(b.steps, b.stepReturn, { baseGroup: true }), TypeError);
  });

  test('an omitted parameter has the value of the recipe', () => {
    assert.deepEqual(hgpo(b.steps, b.stepReturn), hgpo(b.steps, b.stepReturn, HGPO_RECIPE));
  });
});

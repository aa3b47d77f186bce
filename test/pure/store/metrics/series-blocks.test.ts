import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { decodeBlock, decodeRows, encodeBlock } from '../../../../src/store/metrics/series-blocks.ts';
import { join, pointOf } from '../../../../src/store/metrics/series-items.ts';

const ODD = [0, -0, 5e-324, -1e308, Number.MAX_VALUE, Number.NaN, Infinity, -Infinity, 0.1 + 0.2];

/** A repeatable source of values in [0, 1) with 53 random bits. */
function random(seed: number): () => number {
  let drawn = 0;
  return () => {
    const digest = createHash('sha256').update(`${seed} ${drawn++}`).digest();
    return Number(digest.readBigUInt64LE() >> 11n) / 2 ** 53;
  };
}

test('a block of points contains every value to the bit, at any steps', () => {
  const points = [...ODD, 7].map((value, at) => pointOf(at === 9 ? 2 ** 32 - 1 : (at * 7919) % 10, value));
  assert.deepEqual(decodeBlock(encodeBlock(points, true), true), points);
});

test('a block of aggregates contains all of their figures', () => {
  const next = random(1);
  const aggregates = Array.from({ length: 256 }, (_, block) =>
    Array.from({ length: 64 }, (_v, at) =>
      pointOf(block * 64 + at, at % 9 === 8 ? ODD[block % ODD.length]! : next()),
    ).reduce(join),
  );
  assert.deepEqual(decodeBlock(encodeBlock(aggregates, false), false), aggregates);
});

test('rows become points by attempt and metric, and an incomplete row is ignored', () => {
  const row = (attempt: number, step: number, values: [number, number][]) => {
    const bytes = Buffer.alloc(10 + values.length * 10);
    bytes.writeUInt32LE(attempt, 0);
    bytes.writeUInt32LE(step, 4);
    bytes.writeUInt16LE(values.length, 8);
    for (const [at, [metric, value]] of values.entries()) {
      bytes.writeUInt16LE(metric, 10 + at * 10);
      bytes.writeDoubleLE(value, 12 + at * 10);
    }
    return bytes;
  };
  const rows = [
    row(1, 4, [
      [2, 0.25],
      [300, 1],
    ]),
    row(1, 5, [[2, 8]]),
    row(2, 5, [[2, Number.NaN]]),
  ];
  const whole = Buffer.concat(rows);
  const expected = new Map([
    ['1:2', [pointOf(4, 0.25), pointOf(5, 8)]],
    ['1:300', [pointOf(4, 1)]],
    ['2:2', [pointOf(5, Number.NaN)]],
  ]);
  assert.deepEqual(decodeRows(whole), { columns: expected, bytes: whole.length });
  for (let cut = whole.length - 1; cut > whole.length - 20; cut--) {
    const { bytes, columns } = decodeRows(whole.subarray(0, cut));
    assert.deepEqual([bytes, columns.has('2:2')], [whole.length - 20, false]);
  }
  assert.deepEqual(decodeRows(Buffer.alloc(0)), { columns: new Map(), bytes: 0 });
});

describe('bytes of a value in a block of 1,024 points', () => {
  const next = random(7);
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const cases: Record<string, [limit: number, value: (step: number) => number]> = {
    'of a constant, such as a learning rate': [0.1, () => 1e-6],
    'of a counter': [0.4, (step) => step],
    'of whole numbers, such as token counts': [1.7, () => Math.round(3000 + 200 * normal())],
    'of means of 16 rewards': [1.7, () => Math.round(160 * next()) / 16],
    'of a float32 loss, as PyTorch logs': [
      4.3,
      (step) => Math.fround(2 * Math.exp(-step / 300) + 0.05 * normal()),
    ],
    'of a smooth float64 curve': [6.8, (step) => Math.sin(step / 50) * 1e-3],
    'of seconds of a step': [6.8, () => 12 + 0.3 * normal()],
    'of uniform float64 noise': [7.4, next],
    // Of its 64 bits only the exponent is not random.
    'of normally distributed float64 noise': [7.8, normal],
  };
  for (const [what, [limit, value]] of Object.entries(cases)) {
    test(`${what}: at most ${limit}`, () => {
      const points = Array.from({ length: 1024 }, (_, at) => pointOf(5000 + at, value(at)));
      const block = encodeBlock(points, true);
      assert.deepEqual(decodeBlock(block, true), points);
      assert.ok(block.length / 1024 <= limit, `${block.length / 1024} B`);
    });
  }
});

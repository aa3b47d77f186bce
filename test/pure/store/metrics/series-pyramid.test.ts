import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Item, pointOf } from '../../../../src/store/metrics/series-items.ts';
import {
  extend,
  headField,
  itemsOf,
  openBlocks,
  partsOf,
  readHead,
} from '../../../../src/store/metrics/series-pyramid.ts';

const NAME = '1:0';

/** Compacts points in portions of these lengths. */
function compacted(lengths: readonly number[], stepOf = (at: number) => at): Map<string, Buffer> {
  const fields = new Map<string, Buffer>();
  let recorded = 0;
  for (const length of lengths) {
    const points = Array.from({ length }, (_, at) => pointOf(stepOf(recorded + at), recorded + at));
    const head = readHead(fields.get(headField(NAME)));
    const open = new Map(openBlocks(NAME, head).map((field) => [field, fields.get(field)!]));
    for (const [field, bytes] of extend(NAME, head, { points, open })) fields.set(field, bytes);
    recorded += length;
  }
  return fields;
}

function read(
  fields: ReadonlyMap<string, Buffer>,
  query: Parameters<typeof partsOf>[2],
  head = fields,
): Item[] {
  const parts = partsOf(NAME, readHead(head.get(headField(NAME))), query);
  return parts.flatMap((part) => itemsOf(part, fields.get(part.field)!));
}

const ALL = { from: 0, to: 2 ** 32 - 1 };

test('every point is in exactly one item of an answer, in order, whatever portions were compacted', () => {
  for (const lengths of [[1], [64], [1023, 1, 1], [1500, 700, 3000], [30_000], Array(40).fill(777)]) {
    const fields = compacted(lengths);
    const count = lengths.reduce((sum, length) => sum + length, 0);
    for (const resolution of [1, 3, 50, 500, 2000]) {
      const items = read(fields, { ...ALL, resolution });
      let next = 0;
      for (const item of items) {
        assert.deepEqual([item.from, item.first, item.min], [next, next, next]);
        next += item.count;
        assert.deepEqual([item.to, item.last, item.max], [next - 1, next - 1, next - 1]);
      }
      assert.equal(next, count);
      assert.ok(items.length >= Math.min(count, resolution), `${items.length} for ${resolution}`);
      assert.ok(items.length <= 64 * resolution + 1300, `${items.length} for ${resolution}`);
    }
  }
});

test('the portions in which values were compacted change no field', () => {
  assert.deepEqual(compacted([10_000]), compacted(Array(100).fill(100)));
});

test('a reader with an older head sees the points of then in blocks of now', () => {
  const lengths = [900, 100, 5000, 20_000];
  for (let older = 1; older < lengths.length; older++) {
    const [then, now] = [compacted(lengths.slice(0, older)), compacted(lengths)];
    for (const resolution of [1, 20, 500]) {
      const query = { ...ALL, resolution };
      assert.deepEqual(read(now, query, then), read(then, query));
    }
  }
});

test('a range is covered by few blocks, and steps need no order', () => {
  const fields = compacted([20_000]);
  assert.deepEqual(
    partsOf(NAME, readHead(fields.get(headField(NAME))), { from: 5000, to: 5200, resolution: 500 }),
    [4, 5].map((n) => ({ field: `c1:0:0:${n}`, level: 0, from: 0, to: 1024 })),
  );
  assert.deepEqual(read(fields, { from: 20_000, to: 30_000, resolution: 5 }), []);
  assert.deepEqual(read(new Map(), { ...ALL, resolution: 5 }), []);
  const shuffled = compacted([5000], (at) => at ^ 1);
  const found = read(shuffled, { from: 2047, to: 2048, resolution: 500 }).map(({ from }) => from);
  assert.ok(found.includes(2047) && found.includes(2048));
});

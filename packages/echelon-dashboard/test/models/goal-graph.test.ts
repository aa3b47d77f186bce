import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layoutOf } from '../../src/models/goal-graph.ts';

const node = (distance: number) => ({ label: `s${distance}`, distance, reached: true });

test('the goal is at the left, and states stand in columns by distance', () => {
  const { places, width } = layoutOf({ nodes: [node(0), node(1), node(2)] });
  assert.ok(places[0]!.x < places[1]!.x && places[1]!.x < places[2]!.x);
  assert.ok(places.every(({ x }) => x >= 0 && x <= width));
});

test('500 states in one column stay apart', () => {
  const nodes = [node(0), ...Array.from({ length: 499 }, () => node(1))];
  const { places, radius, height } = layoutOf({ nodes });
  const column = places.slice(1).map(({ y }) => y);
  column.slice(1).forEach((y, i) => {
    assert.ok(y - column[i]! >= 2 * radius, `${y}`);
  });
  assert.ok(column.at(-1)! < height);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { axisAround, placeOn, ticksOf } from '../../src/models/timeline.ts';

const HOUR = 3_600_000;

test('the axis starts in the past, holds the last time, and is never empty', () => {
  const { from, to } = axisAround(10 * HOUR, [9.5 * HOUR, 12 * HOUR]);
  assert.ok(from <= 9.5 * HOUR && to >= 12 * HOUR);
  const empty = axisAround(0, []);
  assert.ok(empty.from < 0 && empty.to >= 60_000);
});

test('a long past takes at most a third of the axis', () => {
  const { from, to } = axisAround(100 * HOUR, [0, 101 * HOUR]);
  assert.ok(100 * HOUR - from <= (to - from) / 3 + 1);
});

test('a time has its place on the axis, and a time beyond its ends is at the end', () => {
  const axis = { from: 100, to: 200 };
  assert.deepEqual(
    [50, 100, 150, 300].map((at) => placeOn(axis, at)),
    [0, 0, 0.5, 1],
  );
});

test('ticks are round local times, and not more than asked for', () => {
  const offset = 5.5 * HOUR;
  const ticks = ticksOf({ from: 0.2 * HOUR, to: 6.2 * HOUR }, 4, offset);
  assert.deepEqual(
    ticks.map((at) => (at + offset) / HOUR),
    [6, 8, 10],
  );
  assert.ok(ticksOf({ from: 0, to: 90 * 24 * HOUR }, 6, 0).length <= 7);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LINE_HEIGHT, topOf, windowOf } from '../../src/models/log-window.ts';

const VIEW = 540;

test('a log of a million lines fits the tallest element of browsers and shows its first and its last line', () => {
  const total = 1_000_000;
  const start = windowOf(total, { top: 0, view: VIEW });
  assert.ok(start.height < 17_000_000);
  assert.deepEqual([start.first, start.offset], [0, 0]);
  const end = windowOf(total, { top: start.height - VIEW, view: VIEW });
  assert.equal(end.last, total - 1);
  const bottom = end.offset + (end.last - end.first + 1) * LINE_HEIGHT;
  assert.ok(Math.abs(bottom - end.height) < 1);
});

test('each line can be scrolled to the middle of the view', () => {
  for (const total of [1000, 1_000_000, 10_000_000]) {
    for (const line of [200, Math.floor(total / 3), total - 200]) {
      const top = topOf(total, { line, view: VIEW });
      const { first, offset } = windowOf(total, { top, view: VIEW });
      const middle = offset + (line - first + 0.5) * LINE_HEIGHT - top;
      assert.ok(Math.abs(middle - VIEW / 2) < 1, `${total}: line ${line} is at ${middle}`);
    }
  }
});

test('a short log is as tall as its lines', () => {
  assert.deepEqual(windowOf(3, { top: 0, view: VIEW }), { height: 54, first: 0, last: 2, offset: 0 });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLineCache, errorLineOf, LINE_HEIGHT, topOf, windowOf } from '../../src/models/log-lines.ts';

/** A log whose answers have `page` lines each, and the requests that it got. */
function logOf(total: number, page: number) {
  const asked: number[] = [];
  const load = async (since: number) => {
    asked.push(since);
    const length = Math.max(0, Math.min(page, total - since + 1));
    return Array.from({ length }, (_, index) => ({ line: since + index }));
  };
  return { asked, load };
}

test('wanted lines are loaded once, with lines before them for a reader who scrolls up', async () => {
  const { asked, load } = logOf(1_000_000, 2000);
  const cache = createLineCache(load, () => {});
  await cache.want(500_000, 500_050);
  assert.deepEqual(cache.get(500_050), { line: 500_050 });
  await cache.want(499_600, 499_650);
  assert.deepEqual(asked, [499_500]);
});

test('pages that end before the wanted line are continued from it, and the end of the log is the end', async () => {
  const { asked, load } = logOf(1000, 100);
  const cache = createLineCache(load, () => {});
  await cache.want(700, 760);
  assert.deepEqual(asked, [200, 700]);
  await cache.want(995, 1010);
  assert.deepEqual(cache.get(1000), { line: 1000 });
  assert.equal(cache.get(1001), undefined);
});

test('a reader who moves on while lines are loaded gets the lines of the new place', async () => {
  const { asked, load } = logOf(1_000_000, 2000);
  const cache = createLineCache(load, () => {});
  const first = cache.want(10_000, 10_050);
  for (const at of [200_000, 400_000, 600_000]) void cache.want(at, at + 50);
  await first;
  assert.deepEqual(asked, [9500, 599_500]);
  assert.deepEqual(cache.get(600_000), { line: 600_000 });
});

test('a reader who scrolls through a million lines holds a bounded number of them', async () => {
  const { load } = logOf(1_000_000, 2000);
  const cache = createLineCache(load, () => {});
  for (let line = 1; line < 1_000_000; line += 20_000) await cache.want(line, line + 50);
  const held = Array.from({ length: 1_000_000 }, (_, at) => cache.get(at + 1)).filter(Boolean);
  assert.ok(held.length > 0 && held.length <= 42_000, `${held.length} lines`);
});

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

test('the line that says why a run failed is the last error, else the last line on stderr', () => {
  const lines = (...texts: string[]) =>
    texts.map((text, at) => ({ line: at + 1, source: at === 0 ? 'stderr' : 'stdout', text }));
  assert.equal(errorLineOf(lines('warn', 'ValueError: x', 'torch.OutOfMemoryError: y', 'job failed')), 3);
  assert.equal(errorLineOf(lines('warn', 'job failed', 'bye')), 2);
  assert.equal(errorLineOf(lines('warn', 'bye')), 1);
  assert.equal(errorLineOf([]), undefined);
});

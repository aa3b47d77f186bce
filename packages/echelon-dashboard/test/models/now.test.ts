import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allocatedOf, groupsOf, sinceInWords } from '../../src/models/now.ts';

const queued = (name: string, position: number, more: object = {}) => ({
  experiment: `exp-${position}`,
  name,
  project: 'default',
  position,
  gpus: 1,
  cpus: 4,
  nodes: 1,
  waitReason: null,
  estimate: null as { startAt: number } | null,
  ...more,
});

test('queued children of a sweep are one line with the earliest of their starts', () => {
  const groups = groupsOf([
    queued('seeds: seed=1', 1, { estimate: { startAt: 90 } }),
    queued('alone', 2),
    queued('seeds: seed=2', 3, { estimate: { startAt: 50 } }),
    queued('seeds: seed=3', 4, { gpus: 8 }),
  ]);
  assert.deepEqual(
    groups.map(({ name, count, startAt, first }) => [name, count, startAt, first.position]),
    [
      ['seeds', 2, 50, 1],
      ['alone', 1, null, 2],
      ['seeds: seed=3', 1, null, 4],
    ],
  );
});

test('the GPUs of a gang are those of all its nodes', () => {
  const found = allocatedOf([
    { experiment: 'a', gpus: 4, end: { endAt: 9 } },
    { experiment: 'a', gpus: 4, end: { endAt: 9 } },
    { experiment: 'b', gpus: 1, end: null },
  ]);
  assert.deepEqual(found.get('a'), { gpus: 8, endAt: 9 });
  assert.deepEqual(found.get('b'), { gpus: 1, endAt: null });
});

test('failures and wrong signals since the last look are counted, and nothing is said of earlier ends', () => {
  const ended = (endedAt: number | null, state: string, signal: string | null) => ({
    endedAt,
    state,
    verification: { signal },
  });
  const all = [ended(5, 'failed', null), ended(7, 'succeeded', 'wrong'), ended(null, 'running', 'wrong')];
  assert.equal(sinceInWords(all, 4), '2 ended, 1 failed, 1 with a wrong signal');
  assert.equal(sinceInWords(all, 7), undefined);
});

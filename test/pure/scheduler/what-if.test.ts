import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScheduleInput } from '../../../src/scheduler/schedule.ts';
import { whatIf } from '../../../src/scheduler/what-if.ts';
import { cluster, exactly, node, waits } from '../../support/queue.ts';

const queued = [
  waits('a', 8, 1, { priority: 1, arrival: 2 }),
  waits('b', 8, 1, { arrival: 1 }),
  waits('c', 8, 1, { arrival: 3 }),
];
const input: ScheduleInput = {
  queued,
  clusters: [cluster('x', [node('n', 8, 64)])],
  allocations: new Map([['x', [{ experiment: 'o', project: 'p', node: 'n', gpus: 8, cpus: 1 }]]]),
  ends: new Map([['o', exactly(100)]]),
  lengths: new Map([...'abc'].map((id) => [id, exactly(10)])),
  now: 0,
};
const startsOf = ({ shifts }: ReturnType<typeof whatIf>) =>
  shifts.map(({ item, from, to }) => [item.experiment, from.startAt, to?.startAt ?? null]);

test('a further experiment waits after those of its priority, and delays the experiments after it', () => {
  const found = whatIf(input, { item: waits('new', 8, 1, { priority: 1 }), length: exactly(5) });
  assert.equal(found.before, undefined);
  assert.deepEqual([found.after?.startsNow, found.after?.estimate?.startAt], [false, 110]);
  assert.deepEqual(startsOf(found), [
    ['b', 110, 115],
    ['c', 120, 125],
  ]);
});

test('with an unknown run time, the starts after it are not known any more', () => {
  const found = whatIf(input, { item: waits('new', 8, 1, { priority: 1 }), length: null });
  assert.deepEqual(startsOf(found), [
    ['b', 110, null],
    ['c', 120, null],
  ]);
});

test('with another priority, an experiment is queued by arrival among those of that priority', () => {
  const found = whatIf(input, { item: { ...queued[0]!, priority: 0 }, length: exactly(10) });
  assert.deepEqual([found.before?.estimate?.startAt, found.after?.estimate?.startAt], [100, 110]);
  assert.deepEqual(startsOf(found), [['b', 110, 100]]);
});

test('an experiment that fits starts now', () => {
  const free = { ...input, allocations: new Map() };
  const { after } = whatIf(free, { item: waits('new', 8, 1, { priority: 2 }), length: exactly(5) });
  assert.deepEqual(after, { startsNow: true, estimate: { startAt: 0, earliest: 0, latest: 0 } });
});

test('an experiment after the window of its project has no outcome, and delays nothing', () => {
  const item = waits('new', 8, 1, { priority: 0 });
  const found = whatIf({ ...input, truncated: new Set(['p']) }, { item, length: exactly(5) });
  assert.deepEqual([found.after, found.shifts], [undefined, []]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateStarts } from '../../../src/scheduler/estimate.ts';
import { scheduleRound } from '../../../src/scheduler/schedule.ts';
import { waitNotes } from '../../../src/scheduler/wait-notes.ts';
import { cluster, exactly, node, waits } from '../../support/queue.ts';

test('queued experiments get positions, and the first of a full cluster has its start reserved', () => {
  const input = {
    queued: [waits('now', 4), waits('head', 8), waits('next', 2), waits('never', 99)],
    clusters: [cluster('a', [node('n', 8, 64)])],
    allocations: new Map([['a', [{ experiment: 'o', project: 'p', node: 'n', gpus: 4, cpus: 1 }]]]),
    ends: new Map([['o', exactly(100)]]),
    lengths: new Map([
      ['now', exactly(50)],
      ['head', exactly(30)],
    ]),
    now: 0,
  };
  const schedule = scheduleRound(input);
  const notes = waitNotes(schedule, estimateStarts(input, schedule));
  assert.deepEqual(
    [...notes].map(([id, { rank }]) => [id, rank]),
    [
      ['head', 1],
      ['next', 2],
      ['never', 3],
    ],
  );
  const { estimate, place } = notes.get('head')!;
  assert.deepEqual(estimate, { startAt: 100, earliest: 100, latest: 100 });
  assert.deepEqual(place, { cluster: 'a', nodes: ['n'], endAt: 130, isHead: true });
  assert.deepEqual(notes.get('next')!.place, { cluster: 'a', nodes: ['n'], endAt: null, isHead: false });
  assert.match(notes.get('never')!.unknown!, /can never fit/);
  assert.equal(notes.get('never')!.place, undefined);
});

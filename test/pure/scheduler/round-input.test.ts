import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  pacedIds,
  pacedOf,
  pauseInWords,
  roundInput,
  toPaces,
  toSchedulerCluster,
} from '../../../src/scheduler/round-input.ts';
import type { Cluster } from '../../../src/store/clusters/types.ts';
import type { Pace, RecordedPace } from '../../../src/store/queue/types.ts';
import { node } from '../../support/queue.ts';
import { clusterRecord } from '../../support/store.ts';

const CLUSTER: Cluster = clusterRecord({
  name: 'c',
  address: 'h:1',
  backfill: true,
  lastSeenAt: 1,
  nodes: [node('n', 8, 64)],
});

test('a cluster answers and drains as its record says', () => {
  const { answering, draining } = toSchedulerCluster(CLUSTER);
  assert.deepEqual([answering, draining], [false, false]);
  const other = toSchedulerCluster({ ...CLUSTER, answering: true, draining: true });
  assert.deepEqual([other.answering, other.draining], [true, true]);
});

test('a pause names its author and its reason', () => {
  assert.equal(pauseInWords({ by: 'ann', at: 0, reason: 'upgrade' }), ' by ann: upgrade');
  assert.equal(pauseInWords(undefined), null);
});

test('the input of a round has the pauses of the queue, of projects and of clusters', () => {
  const pause = { by: 'ann', at: 0, reason: null };
  const { clusters, projects, paused } = roundInput({
    now: 5,
    clusters: [CLUSTER],
    allocations: new Map(),
    freed: new Map(),
    leaving: new Map(),
    projects: [],
    pauses: {
      all: pause,
      projects: new Map([['p', pause]]),
      clusters: new Map([['c', pause]]),
      closed: { all: null, projects: new Map() },
    },
  });
  assert.deepEqual([paused, clusters[0]!.paused], [' by ann', ' by ann']);
  assert.deepEqual(projects.get('p'), { weight: 1, gpuQuota: null, paused: ' by ann' });
});

const PACE: Pace = {
  attempt: 1,
  startedAt: 0,
  steps: 0,
  step: null,
  perStep: null,
  kept: 0,
  sweep: null,
  timeoutMs: 50,
  timeoutAt: 70,
};
const RUNNING = {
  ...PACE,
  name: 'x',
  state: 'running' as const,
  preemptions: 1,
  hasDeadline: false,
  saveEvery: null,
};

test('running batch experiments may be preempted, except those with a deadline', () => {
  const known = new Map<string, RecordedPace>([
    ['normal', RUNNING],
    ['batch', { ...RUNNING, attempt: 3, kept: 4 }],
    ['due', { ...RUNNING, hasDeadline: true }],
    ['new', { ...RUNNING, state: 'launching' }],
  ]);
  const held = [...known.keys()].map((experiment) => ({
    ...{ experiment, node: 'n', gpus: 1, cpus: 1, project: 'p' },
    ...(experiment !== 'normal' && { priorityClass: 'batch' as const }),
  }));
  const { victims } = toPaces(pacedOf(new Map([['c', held]]), []), known, 20);
  const victim = { project: 'p', attempt: 3, times: 1, step: 4, startedAt: 0, lostMs: 20 };
  assert.deepEqual([...victims], [['batch', victim]]);
});

test('running experiments get an expected end, queued ones an expected run time', () => {
  const known = new Map([...'ab'].map((id) => [id, { ...RUNNING, name: id }]));
  const held = { experiment: 'a', node: 'n', gpus: 1, cpus: 1, project: 'p' };
  const paced = { held: [held], queued: ['b', 'c'] };
  assert.deepEqual(pacedIds(paced), ['a', 'b', 'c']);
  const { ends, lengths } = toPaces(paced, known, 20);
  assert.deepEqual([...ends], [['a', { early: 20, likely: 70, late: 70 }]]);
  assert.deepEqual([...lengths], [['b', { early: 0, likely: 50, late: 50 }]]);
});

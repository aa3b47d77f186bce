import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ListedJob, SlurmError } from '../../../../../src/dispatch/clusters/slurm/commands.ts';
import {
  commentOf,
  decideSlurm,
  problemOf,
  rayOfHead,
  seenJobs,
} from '../../../../../src/dispatch/clusters/slurm/decide.ts';
import type { SlurmJob, SlurmPlace } from '../../../../../src/store/clusters/types.ts';

const MINUTE = 60_000;
const NOW = 100 * MINUTE;
const HEAD = '10.0.0.1:4000';

const PLACE: SlurmPlace = {
  ...{ partition: 'gpu', headPartition: null, account: null, qos: null, constraint: null },
  ...{ node: { gpus: 8, cpus: 96, memoryMb: null }, maxNodes: 3, minutes: 60, headMinutes: 60 },
  ...{ noticeSeconds: 300, idleSeconds: 300, exclusive: false, setup: null, bin: '/env/bin' },
  ...{ sharedRoot: '/shared', ssh: null, statedAt: 0 },
};

const job = (request: string, change: Partial<SlurmJob> = {}): SlurmJob => ({
  ...{ request, role: 'node', count: 1, askedAt: NOW, job: request, state: 'PENDING', reason: null },
  ...{ startsAt: null, runningSince: null, endsAt: null, head: HEAD, endedAt: null, cancelled: null },
  ...{ node: null, idleSince: null },
  ...change,
});
const head = job('0', { role: 'head', state: 'RUNNING', head: null, node: 'n0' });
const joined = (request: string, change: Partial<SlurmJob> = {}) =>
  job(request, { state: 'RUNNING', runningSince: NOW - MINUTE, node: `n${request}`, ...change });

function decision(
  jobs: SlurmJob[],
  wanted: number,
  more: { head?: string | null; failedAt?: number[]; gangs?: number[] } = {},
) {
  const { head: at = HEAD, failedAt = [], gangs = [] } = more;
  const { ask, cancel, waitsUntil } = decideSlurm(
    PLACE,
    { jobs, failedAt },
    { wanted, gangs, head: at, now: NOW },
  );
  return {
    ask: ask.map(({ role, count }) => (count === 1 ? role : `${role} × ${count}`)),
    cancel: cancel.map((one) => `${one.job.request}: ${one.why}`),
    waitsUntil,
  };
}

test('the file of a head that has another form than an address says nothing', () => {
  const file = { job: '7', head: '10.0.0.1:4028', client: 'node-1.site:4029' };
  assert.deepEqual(rayOfHead(JSON.stringify(file)), { head: file.head, client: file.client });
  const others = ['', '{', 'null', '[]', '{"head":"10.0.0.1:4028"}'];
  for (const client of ['x/../y:1', 'user@host:1', 'host', 'host:1\n', 7])
    others.push(JSON.stringify({ ...file, client }));
  for (const text of others) assert.equal(rayOfHead(text), null, text);
});

const DEMAND = { wanted: 1, head: HEAD, now: NOW };

describe('what a round asks of Slurm', () => {
  const cases: {
    name: string;
    jobs: SlurmJob[];
    wanted: number;
    head?: null;
    gangs?: number[];
    ask?: string[];
    cancel?: string[];
  }[] = [
    { name: 'first a head, whatever is wanted', jobs: [], wanted: 2, head: null, ask: ['head'] },
    { name: 'no node before the head is there', jobs: [job('0', { role: 'head' })], wanted: 2, head: null },
    { name: 'a job for each node that is wanted', jobs: [head], wanted: 2, ask: ['node', 'node'] },
    {
      name: 'no more than the cluster may have',
      jobs: [head, joined('1')],
      wanted: 5,
      ask: ['node', 'node'],
    },
    { name: 'nothing that is already coming', jobs: [head, job('1'), job('2')], wanted: 2 },
    {
      name: 'a waiting job that no experiment needs any more is cancelled',
      jobs: [head, job('1'), job('2')],
      wanted: 1,
      cancel: ['2: no queued experiment needs it any more'],
    },
    {
      name: 'an idle node is given back after its time',
      jobs: [head, joined('1', { idleSince: NOW - 5 * MINUTE }), joined('2', { idleSince: NOW - MINUTE })],
      wanted: 0,
      cancel: ['1: it was idle'],
    },
    {
      name: 'an idle node is kept while another one is wanted',
      jobs: [head, joined('1', { idleSince: NOW - 5 * MINUTE }), job('2')],
      wanted: 1,
    },
    {
      name: 'a job without its Ray is cancelled and asked for anew',
      jobs: [head, job('1', { state: 'RUNNING', runningSince: NOW - 6 * MINUTE })],
      wanted: 1,
      ask: ['node'],
      cancel: ['1: its Ray did not start'],
    },
    {
      name: 'nodes of an earlier head are cancelled',
      jobs: [head, joined('1', { head: '10.0.0.9:4000' })],
      wanted: 1,
      ask: ['node'],
      cancel: ['1: its head is gone'],
    },
    {
      name: 'a head without its Ray is cancelled and asked for anew',
      jobs: [job('0', { role: 'head', state: 'RUNNING', runningSince: NOW - 6 * MINUTE, head: null })],
      wanted: 0,
      head: null,
      cancel: ['0: its Ray did not start'],
    },
    {
      name: 'the nodes of a gang in one job, beside one job for each other node',
      jobs: [head],
      wanted: 3,
      gangs: [2],
      ask: ['node × 2', 'node'],
    },
    {
      name: 'no part of a gang for which there is no room',
      jobs: [head, joined('1'), joined('2')],
      wanted: 2,
      gangs: [2],
    },
    {
      name: 'a job for a gang although single nodes are coming, which nothing needs',
      jobs: [head, job('1')],
      wanted: 2,
      gangs: [2],
      ask: ['node × 2'],
      cancel: ['1: no queued experiment needs it any more'],
    },
    {
      name: 'a gang that is coming is not asked for again',
      jobs: [head, job('1', { count: 2 })],
      wanted: 2,
      gangs: [2],
    },
    {
      name: 'what was cancelled is not cancelled again',
      jobs: [head, joined('1', { idleSince: NOW - 9 * MINUTE, cancelled: 'it was idle' })],
      wanted: 0,
    },
  ];
  for (const { name, jobs, wanted, gangs = [], head: at, ask = [], cancel = [] } of cases)
    test(name, () => {
      const found = decision(jobs, wanted, at === null ? { head: null } : { gangs });
      assert.deepEqual(found, { ask, cancel, waitsUntil: null });
    });

  test('after two failures it waits 5, 10, then 20 minutes', () => {
    const failed = (...minutesAgo: number[]) => minutesAgo.map((ago) => NOW - ago * MINUTE);
    const wait = (failedAt: number[]) => {
      const { waitsUntil, ask } = decision([head], 1, { failedAt });
      assert.equal(ask.length, waitsUntil === null ? 1 : 0);
      return waitsUntil === null ? null : (waitsUntil - failedAt.at(-1)!) / MINUTE;
    };
    assert.equal(wait(failed(1)), null);
    assert.equal(wait(failed(3, 1)), 5);
    assert.equal(wait(failed(9, 8, 1)), 10);
    assert.equal(wait(failed(30, 29, 20, 1)), 20);
    assert.equal(wait(failed(9, 6)), null);
    assert.equal(wait(failed(70, 4)), null);
  });
});

describe('the jobs after an answer of Slurm', () => {
  const INSTALLATION = 'inst';
  const listed = (request: string, change: Partial<ListedJob> = {}): ListedJob => ({
    ...{ job: `7${request}`, name: 'echelon-fleet-node', state: 'RUNNING', reason: 'None' },
    ...{ comment: commentOf(INSTALLATION, { request }), startsAt: 5, endsAt: 9, ...change },
  });
  const seen = (jobs: SlurmJob[], answer: ListedJob[], now = NOW) =>
    seenJobs(jobs, answer, {
      installation: INSTALLATION,
      joined: [{ job: '71', node: 'abc', busy: false }],
      now,
    });

  test('a job whose id is not known yet is found by its request', () => {
    const { jobs } = seen([job('1', { job: null, state: 'asked' })], [listed('1')]);
    const { job: id, state, node, idleSince, runningSince } = jobs[0]!;
    assert.deepEqual([id, state, node, idleSince, runningSince], ['71', 'RUNNING', 'abc', NOW, NOW]);
  });

  test('the nodes of a gang are there when all are, and idle when all are', () => {
    const gang = job('1', { count: 2, state: 'RUNNING' });
    const after = (...busy: boolean[]) => {
      const joined = busy.map((one, at) => ({ job: '71', node: `n${at}`, busy: one }));
      const { jobs } = seenJobs([gang], [listed('1')], { installation: INSTALLATION, joined, now: NOW });
      return [jobs[0]?.node, jobs[0]?.idleSince];
    };
    assert.deepEqual(after(false), [null, null]);
    assert.deepEqual(after(false, true), ['n0', null]);
    assert.deepEqual(after(false, false), ['n0', NOW]);
  });

  test('jobs of another installation, and of the user, are not taken for it', () => {
    const foreign = [listed('1', { comment: 'other/1' }), listed('1', { comment: '' })];
    const { jobs, failed } = seen([job('1', { job: null, state: 'asked' })], foreign);
    assert.deepEqual([jobs[0]?.job, failed], [null, []]);
  });

  test('a request that Slurm never lists is forgotten after a minute', () => {
    const asked = job('1', { job: null, state: 'asked' });
    assert.equal(seen([asked], [], NOW + MINUTE - 1).jobs.length, 1);
    assert.equal(seen([asked], [], NOW + MINUTE).jobs.length, 0);
  });

  test('a job that ended without a node has failed, unless it was cancelled here', () => {
    const jobs = [job('1'), job('2', { node: 'x' }), job('3', { cancelled: 'it was idle' }), job('4')];
    const over = ['1', '2', '3'].map((request) => listed(request, { state: 'FAILED' }));
    const after = seenJobs(jobs, over, { installation: INSTALLATION, joined: [], now: NOW });
    assert.deepEqual(
      after.failed.map(({ request, state }) => [request, state]),
      [
        ['1', 'FAILED'],
        ['4', 'gone'],
      ],
    );
    assert.ok(after.jobs.every(({ endedAt }) => endedAt === NOW));
  });

  test('a job that ran without its Ray has failed, although it was cancelled for that', () => {
    const late = job('1', { state: 'RUNNING', runningSince: NOW - 6 * MINUTE });
    const [{ why } = { why: '' }] = decideSlurm(PLACE, { jobs: [head, late], failedAt: [] }, DEMAND).cancel;
    const { failed } = seen([job('2', { cancelled: why })], [listed('2', { state: 'CANCELLED' })]);
    assert.deepEqual(
      failed.map(({ request }) => request),
      ['2'],
    );
  });

  test('a job that the site starts again is a new allocation: its former node is gone', () => {
    const before = job('2', { state: 'RUNNING', runningSince: NOW - MINUTE, node: 'abc' });
    const [after] = seen([before], [listed('2', { state: 'PENDING', reason: 'BeginTime' })]).jobs;
    assert.deepEqual([after?.node, after?.runningSince, after?.reason], [null, null, 'BeginTime']);
    assert.deepEqual(decideSlurm(PLACE, { jobs: [head, after!], failedAt: [] }, DEMAND).ask, []);
  });

  test('the end of a job is the one that Slurm states now, also after an operator has moved it', () => {
    const before = job('1', { state: 'RUNNING', endsAt: 9 });
    assert.equal(seen([before], [listed('1', { endsAt: 99 })]).jobs[0]?.endsAt, 99);
  });

  test('a silence of Slurm says how old the known states are, a refusal is as Slurm words it', () => {
    const silent = new SlurmError('silent', 'squeue: timed out');
    const words = 'Slurm has not answered for 3 min; the jobs are as they were then (squeue: timed out)';
    assert.equal(problemOf(silent, NOW - 3.5 * MINUTE, NOW), words);
    assert.equal(problemOf(silent, null, NOW), 'squeue: timed out');
    assert.equal(problemOf(new SlurmError('refused', 'sbatch: no'), NOW - 9 * MINUTE, NOW), 'sbatch: no');
  });

  test('ended jobs are remembered for an hour', () => {
    const over = job('1', { endedAt: NOW });
    assert.equal(seen([over], [], NOW + 59 * MINUTE).jobs.length, 1);
    assert.equal(seen([over], [], NOW + 60 * MINUTE).jobs.length, 0);
  });
});

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import type { PriorityClass } from '../../../../../src/core/priority-class.ts';
import { createRoundDecider } from '../../../../../src/dispatch/placement/round-decision.ts';
import { createWaitNotes } from '../../../../../src/dispatch/placement/wait-notes.ts';
import type { WhatIfView } from '../../../../../src/schemas/api.ts';
import { newProject } from '../../../../../src/schemas/project.ts';
import type { Store } from '../../../../../src/store/store.ts';
import { claim } from '../../../../support/claim.ts';
import { appFor } from '../../../../support/http-app.ts';
import { redisFor } from '../../../../support/redis.ts';
import { clusterRecord, type Scope, storeFor, submitInput } from '../../../../support/store.ts';

const NOW = Date.now();
const RUN = { engine: 'verl-agent', name: 'a run', recipe: 'qwen2.5_1.5b_alfworld_train' } as const;
const scope = { after };
const server = await redisFor(scope);
let namespaces = 0;

/** A store with two nodes, of which the first is taken for an hour by an experiment of some class, and its api. */
async function installation(t: Scope, priorityClass: PriorityClass = 'normal', settings = {}) {
  const { store } = await storeFor(t, { server, prefix: `w${namespaces++}` });
  const nodes = ['n1', 'n2'].map((id) => ({ id, cpusTotal: 96, gpusTotal: 8, cpusUsed: 0, gpusUsed: 0 }));
  await store.clusters.put(
    clusterRecord({ name: 'c', address: 'a', backfill: true, generation: 'g', nodes }),
  );
  await store.clusters.see('c', { address: 'a', nodes, generation: 'g' });
  for (const name of ['p', 'q']) await store.projects.create(newProject({ name, urgentGpuQuota: null }, 0));
  await store.projects.change('default', { urgentGpuQuota: 8 });
  const { id } = await store.experiments.submit(
    submitInput({ resolved: { timeoutSeconds: 3600 }, gpus: 8, priorityClass }),
  );
  const { version: allocationVersion } = await store.clusters.allocations('c');
  const nodesHeld = [{ id: 'n1', gpus: 8, cpus: 8 }];
  const held = { experiment: id, priorityClass, cluster: 'c', nodes: nodesHeld, allocationVersion };
  const claimed = await claim(store, { ...held, dispatcher: 'd', leaseMs: 600_000 });
  assert.ok(claimed.outcome === 'claimed');
  await store.attempts.confirm(claimed.lease);
  const snapshot = async (limit: number) => ({ ...(await store.queue.snapshot(limit)), now: NOW });
  const atNow = { ...store, queue: { ...store.queue, snapshot } };
  return { store: atNow, running: id, ...(await appFor(t, { store: atNow, now: () => NOW, settings })) };
}

type Call = Awaited<ReturnType<typeof installation>>['call'];

/** What a scheduling round finds, and the queue then shows, by experiment; `started` lists those that it starts. */
async function afterRound(store: Store, call: Call) {
  const elapsed = () => NOW;
  // An estimate that moves little is not written again, unless there is none.
  const queued = await store.queue.ids(100);
  await store.queue.note(new Map(queued.map((id) => [id, { reason: '' }])));
  const decision = await createRoundDecider({ store, elapsed })();
  await createWaitNotes({ store, elapsed })(decision);
  const { items } = (await call('GET', '/v1/queues?limit=1000')).json();
  const started = new Set(decision.schedule.start.map(({ experiment }) => experiment));
  return {
    started,
    shown: new Map<string, Record<string, unknown>>(
      items.map((one: { experiment: string }) => [one.experiment, one]),
    ),
  };
}

const fields = ['position', 'waitReason', 'estimate', 'noEstimate', 'place'];
const picked = (from: Record<string, unknown>) =>
  Object.fromEntries(fields.map((name) => [name, from[name]]));
const anonymous = (value: unknown, id: string) =>
  JSON.parse(JSON.stringify(value).replaceAll(id, 'the new experiment'));

const spec = fc.record({
  project: fc.constantFrom('default', 'p', 'q'),
  priority: fc.integer({ min: -1, max: 1 }),
  priorityClass: fc.constantFrom('normal', 'normal', 'urgent', 'batch'),
  resources: fc.record({ gpus: fc.constantFrom(2, 4, 8), nodes: fc.constantFrom(1, 1, 2) }),
  timeoutSeconds: fc.option(fc.integer({ min: 60, max: 7200 }), { nil: undefined }),
});

/** Two experiments of one shape share the reason of the first, although a smaller one has started between them. */
const ofNodes = (gpus: number, nodes: number) => ({
  project: 'default',
  priority: 0,
  resources: { gpus, nodes },
});
const WITH_TWO_OF_ONE_SHAPE: [object[], object, { at: number; priority: number }] = [
  [ofNodes(2, 2), ofNodes(4, 2), ofNodes(2, 1)],
  ofNodes(4, 2),
  { at: 0, priority: 0 },
];

test('the what-if answer of a submission or a priority equals what the queue shows after it was made', async (t) => {
  const run = async (queued: object[], added: object, change: { at: number; priority: number }) => {
    const { store, call } = await installation(t, 'batch');
    const submit = async (one: object): Promise<string> =>
      (await call('POST', '/v1/experiments', { body: { ...RUN, ...one } })).json().id;
    const ids: string[] = [];
    for (const one of queued) ids.push(await submit(one));
    const before = await afterRound(store, call);
    const asked = await call('POST', '/v1/queues/what-if', { body: { spec: { ...RUN, ...added } } });
    assert.equal(asked.statusCode, 200, asked.body);
    const id = await submit(added);
    const later = await afterRound(store, call);
    const answer = asked.json();
    assert.equal(answer.after.startsNow, later.started.has(id));
    if (!answer.after.startsNow) {
      assert.deepEqual(picked(answer.after), anonymous(picked(later.shown.get(id)!), id));
    }
    const startOf = (from: typeof before, one: string) =>
      from.started.has(one)
        ? NOW
        : ((from.shown.get(one)!.estimate as { startAt: number } | null)?.startAt ?? null);
    const moved = (from: typeof before, to: typeof before, except: string) =>
      ids
        .filter((one) => one !== except && startOf(from, one) !== null)
        .filter((one) => startOf(from, one) !== startOf(to, one))
        .map((one) => [one, startOf(from, one), startOf(to, one)])
        .sort();
    const listed = ({ shifts }: WhatIfView) =>
      shifts.map(({ experiment, from, to }) => [experiment, from.startAt, to?.startAt ?? null]).sort();
    assert.deepEqual(listed(answer), moved(before, later, id));
    assert.equal(answer.later + answer.earlier, answer.shifts.length);

    const experiment = ids[change.at % ids.length]!;
    const body = { experiment, priority: change.priority };
    const changed = (await call('POST', '/v1/queues/what-if', { body })).json();
    await call('PATCH', `/v1/experiments/${experiment}`, { body: { priority: change.priority } });
    const last = await afterRound(store, call);
    for (const [outcome, state] of [
      [changed.before, later],
      [changed.after, last],
    ] as const) {
      assert.equal(outcome.startsNow, state.started.has(experiment));
      if (!outcome.startsNow) assert.deepEqual(picked(outcome), picked(state.shown.get(experiment)!));
    }
    ids.push(id);
    assert.deepEqual(listed(changed), moved(later, last, experiment));
  };
  const change = fc.record({ at: fc.nat(20), priority: fc.integer({ min: -2, max: 2 }) });
  await fc.assert(fc.asyncProperty(fc.array(spec, { minLength: 1, maxLength: 8 }), spec, change, run), {
    numRuns: 8,
    examples: [WITH_TWO_OF_ONE_SHAPE],
  });
});

test('the answer names a preemption to callers who see its victim, and to no other', async (t) => {
  const { store, call, running } = await installation(t, 'batch', { preemptWithinMs: 240_000 });
  const spec = { ...RUN, project: 'p', priorityClass: 'urgent', resources: { gpus: 8, nodes: 2 } };
  const ask = async (token?: string) => {
    const answer = await call('POST', '/v1/queues/what-if', { body: { spec }, ...(token && { token }) });
    assert.equal(answer.statusCode, 200, answer.body);
    return answer.json().after;
  };
  const { waitReason, estimate } = await ask();
  assert.ok(waitReason.endsWith(`; starts in about 4 min by preempting ${running}`), waitReason);
  assert.equal(estimate.startAt, NOW + 240_000);
  const key = { name: 'of p', project: 'p', scopes: ['read'] };
  const { token } = (await call('POST', '/v1/keys', { body: key })).json();
  const seen = (await ask(token)).waitReason;
  assert.ok(seen.endsWith('by preempting an experiment of another project'), seen);
  assert.equal((await store.queue.leaving()).size, 0);
  await store.projects.change('p', { urgentGpuQuota: 0 });
  const refused = (await call('POST', '/v1/queues/what-if', { body: { spec } })).json();
  assert.deepEqual(
    refused.problems.map(({ field }: { field: string }) => field),
    ['/priorityClass'],
  );
});

test('a what-if answer changes nothing, and names the position, the start and the delayed experiments', async (t) => {
  const { store, call } = await installation(t);
  const large = { ...RUN, resources: { gpus: 8 }, timeoutSeconds: 600 };
  for (const name of ['first', 'second'])
    await call('POST', '/v1/experiments', {
      body: { ...large, name, project: name === 'first' ? 'p' : 'q' },
    });
  const before = await store.queue.snapshot(10);
  const body = { spec: { ...large, priority: 5 } };
  const answer = (await call('POST', '/v1/queues/what-if', { body })).json();
  assert.deepEqual(await store.queue.snapshot(10), before);
  const { after: outcome, shifts, later, examined, isWhole } = answer;
  assert.deepEqual([outcome.startsNow, outcome.position, later, examined, isWhole], [true, null, 2, 2, true]);
  assert.deepEqual(
    shifts.map(({ name, from, to }: Record<string, { startAt: number }>) => [
      name,
      to!.startAt - from!.startAt,
    ]),
    [
      ['first', 600_000],
      ['second', 600_000],
    ],
  );
});

test('a key of a project gets the shifts of its project, the count of all, and no id of another project', async (t) => {
  const { call } = await installation(t);
  const large = { ...RUN, resources: { gpus: 8 }, timeoutSeconds: 600 };
  const ids: string[] = [];
  for (const project of ['p', 'q', 'q'])
    ids.push((await call('POST', '/v1/experiments', { body: { ...large, project } })).json().id);
  const key = { name: 'of p', project: 'p', scopes: ['read'] };
  const { token } = (await call('POST', '/v1/keys', { body: key })).json();
  const ask = (body: object) => call('POST', '/v1/queues/what-if', { body, token });
  const answer = await ask({ spec: { ...large, priority: 1 } });
  const { later, shifts } = answer.json();
  assert.deepEqual([later, shifts.map(({ project }: { project: string }) => project)], [2, ['p']]);
  for (const id of ids.slice(1)) assert.ok(!answer.body.includes(id));
  assert.equal((await ask({ experiment: ids[1], priority: 1 })).json().code, 'not-found');
});

test('a what-if request that cannot be answered says why', async (t) => {
  const { store, call } = await installation(t);
  const codeOf = async (body: object) => {
    const answer = (await call('POST', '/v1/queues/what-if', { body })).json();
    return [answer.code, ...(answer.problems ?? []).map(({ field }: { field: string }) => field)];
  };
  assert.deepEqual(await codeOf({}), ['invalid-request']);
  assert.deepEqual(await codeOf({ spec: RUN, priority: 1 }), ['invalid-request']);
  assert.deepEqual(await codeOf({ experiment: 'exp-1' }), ['invalid-request']);
  assert.deepEqual(await codeOf({ spec: { ...RUN, K: 1 } }), ['invalid-spec', '/K']);
  assert.deepEqual(await codeOf({ spec: { ...RUN, cluster: 'nowhere' } }), ['invalid-spec', '/cluster']);
  const { items } = await store.experiments.list({ limit: 1 });
  assert.deepEqual(await codeOf({ experiment: items[0]!.id, priority: 1 }), ['not-queued']);
  await call('POST', '/v1/queues/_all/close');
  assert.deepEqual(await codeOf({ spec: RUN }), ['queue-closed']);
});

test('an experiment after the examined part of a long queue has no position, and the answer says so', async (t) => {
  const { store, call } = await installation(t);
  for (let at = 0; at < 40; at += 1) await store.projects.create(newProject({ name: `of-${at}` }, 0));
  for (let at = 0; at < 66; at += 1)
    await store.experiments.submit(submitInput({ gpus: 8, cpus: 8, project: 'p' }));
  const body = { spec: { ...RUN, project: 'p' } };
  const { after: outcome, examined, isWhole } = (await call('POST', '/v1/queues/what-if', { body })).json();
  assert.deepEqual([outcome.position, examined, isWhole], [null, 64, false]);
  assert.match(outcome.noEstimate, /too far back/);
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import { makeKey, makeProjects } from '../../../../support/access.ts';
import { allBatches } from '../../../../support/batches.ts';
import { appFor } from '../../../../support/http-app.ts';
import { storeFor } from '../../../../support/store.ts';

const { store } = await storeFor({ after });
const { call } = await appFor({ after }, { store });

async function openRun(body: object = {}) {
  const response = await call('POST', '/v1/runs', { body: { name: 'mine', ...body } });
  assert.equal(response.statusCode, 201, response.body);
  return response.json() as { id: string; self: string; events: string; token: string };
}

const ENDED = { type: 'ended', exitCode: 1, signal: 0, message: 'ValueError', lastLines: [] };
const metrics = (sequence: number) => ({
  sequence,
  at: 1,
  event: { type: 'metrics', step: sequence, values: { loss: 0.5 } },
});

function append(run: { events: string; token: string }, events: object[]) {
  return call('POST', run.events, { body: { token: run.token, events } });
}

function batch(sequence: number, bytes: Buffer, changes: object = {}) {
  const digest = createHash('sha256').update(bytes).digest('hex');
  const event = {
    type: 'batch',
    step: 1,
    batch: 1,
    index: 0,
    count: 1,
    rows: 4,
    digest,
    bytes: bytes.length,
  };
  return { sequence, at: 1, event: { ...event, ...changes }, data: bytes.toString('base64') };
}

test('a run is an experiment of the engine external with the default rules', async () => {
  const run = await openRun({ silenceSeconds: 60 });
  const record = (await call('GET', run.self)).json();
  assert.equal(record.state, 'running');
  assert.equal(record.resolved.engine, 'external');
  assert.equal(record.resolved.silenceSeconds, 60);
  assert.deepEqual(
    record.rules.map((rule: { do: string }) => rule.do),
    ['mark', 'mark'],
  );
  assert.ok(!JSON.stringify(record).includes(run.token));
});

test('events are recorded once, in order; a gap and the end of a run are refused', async () => {
  const run = await openRun();
  assert.deepEqual((await append(run, [])).json(), { last: 0 });
  assert.deepEqual((await append(run, [metrics(1), metrics(2)])).json(), { last: 2 });
  assert.deepEqual((await append(run, [metrics(1), metrics(2), metrics(3)])).json(), { last: 3 });
  const gap = await append(run, [metrics(5)]);
  assert.equal(gap.statusCode, 409);
  assert.equal(gap.json().code, 'sequence-gap');
  assert.match(gap.json().detail, /Event 4 /);
  assert.deepEqual((await append(run, [batch(4, Buffer.from('bytes'))])).json(), { last: 4 });
  assert.equal((await allBatches(store, run.id)).length, 1);
  const ended = await append(run, [{ sequence: 5, at: 1, event: { ...ENDED, cause: 'failed' } }]);
  assert.deepEqual(ended.json(), { last: 5 });
  const record = (await call('GET', run.self)).json();
  assert.deepEqual(
    [record.state, record.reason],
    ['failed', 'the client reported the end "failed": ValueError'],
  );
  const late = await append(run, [metrics(6)]);
  assert.deepEqual([late.statusCode, late.json().code], [409, 'already-final']);
});

test('events that contradict themselves are refused and nothing is recorded', async () => {
  const run = await openRun();
  const bytes = Buffer.from('bytes');
  const refused = [
    [{ ...metrics(1), data: 'AAAA' }],
    [batch(1, bytes, { bytes: 3 })],
    [batch(1, bytes, { index: 1 })],
    [metrics(1), metrics(3)],
    [{ sequence: 1, at: 1, event: { ...ENDED, cause: 'succeeded' } }, metrics(2)],
    [{ sequence: 1, at: 1, event: { type: 'state', from: null, to: 'failed', attempt: 1, reason: '' } }],
    Array.from({ length: 257 }, (_, at) => metrics(at + 1)),
  ];
  for (const events of refused) assert.equal((await append(run, events)).statusCode, 400);
  assert.deepEqual((await append(run, [])).json(), { last: 0 });
});

test('another token, another project and another engine are refused', async () => {
  await makeProjects(store, 'ours', 'theirs');
  const ours = await makeKey(store, { project: 'ours', scopes: ['read', 'submit'] });
  const theirs = await makeKey(store, { project: 'theirs', scopes: ['read', 'submit'] });
  const opened = await call('POST', '/v1/runs', { token: ours.token, body: { name: 'r' } });
  const run = opened.json();
  assert.equal((await store.experiments.get(run.id))?.project, 'ours');
  const body = { token: run.token, events: [metrics(1)] };
  assert.equal((await call('POST', run.events, { token: theirs.token, body })).statusCode, 404);
  const wrong = await call('POST', run.events, { token: ours.token, body: { ...body, token: 'wrong' } });
  assert.deepEqual([wrong.statusCode, wrong.json().code], [409, 'lease-lost']);
  assert.equal((await call('POST', run.events, { token: ours.token, body })).statusCode, 200);
  const asExperiment = await call('POST', '/v1/experiments', { body: { engine: 'external', name: 'r' } });
  assert.match(asExperiment.json().problems[0].message, /POST \/v1\/runs/);
});

test('a rule of a run can only mark', async () => {
  const rules = [{ preset: 'wrong-rows', do: 'stop' }];
  const response = await call('POST', '/v1/runs', { body: { name: 'r', rules } });
  assert.equal(response.statusCode, 400);
  assert.equal(response.json().problems[0].field, '/rules/0/do');
});

test('a repeated end of a run gets the same answer, and other content under a recorded number gets 409', async () => {
  const run = await openRun();
  const ended = { sequence: 4, at: 1, event: { ...ENDED, cause: 'failed' } };
  const first = [
    metrics(1),
    batch(2, Buffer.from('bytes')),
    batch(3, Buffer.alloc(100_000, 1), { batch: 2 }),
  ];
  assert.deepEqual((await append(run, [...first, ended])).json(), { last: 4 });
  const again = await append(run, [...first, ended]);
  assert.deepEqual([again.statusCode, again.json()], [200, { last: 4 }]);
  assert.deepEqual((await append(run, [first[1]!])).json(), { last: 4 });
  assert.equal((await append(run, [ended, metrics(5)])).statusCode, 400);

  const others = [
    [{ ...metrics(1), event: { type: 'metrics', step: 1, values: { loss: 0.25 } } }],
    [batch(2, Buffer.from('other'))],
    [{ ...batch(2, Buffer.from('bytes')), data: Buffer.from('other').toString('base64') }],
    [
      {
        ...batch(3, Buffer.alloc(100_000, 1), { batch: 2 }),
        data: Buffer.alloc(100_000, 2).toString('base64'),
      },
    ],
    [{ ...ended, event: { ...ended.event, cause: 'succeeded' } }],
  ];
  await store.rules.dropSignals(run.id);
  for (const where of ['in Redis', 'in the archive']) {
    for (const events of others) {
      const answer = await append(run, events);
      assert.deepEqual([answer.statusCode, answer.json().code], [409, 'event-conflict'], where);
    }
    assert.deepEqual((await append(run, [...first, ended])).json(), { last: 4 }, where);
    await verifyAll(run.id);
    assert.equal(await store.archive.archiveStream(run.id), 'archived');
  }

  const open = await openRun();
  await append(open, [metrics(1)]);
  const mixed = await append(open, [others[0]![0]!, metrics(2)]);
  assert.equal(mixed.json().code, 'event-conflict');
  assert.deepEqual((await append(open, [])).json(), { last: 1 });
});

async function verifyAll(id: string): Promise<void> {
  for (const record of await allBatches(store, id)) {
    const event = { type: 'verification', attempt: 1, batch: record.batch, step: 1, rows: 4 } as const;
    const outcome = { exact: 4, rounding: 0, wrong: 0, unverifiable: 0, errors: [], ok: true };
    await store.batches.report(record, { ...event, ...outcome }, {});
  }
  await store.rules.dropSignals(id);
}

test('a closed queue refuses a new run, and accepts the events of an open one', async () => {
  await makeProjects(store, 'closing');
  const run = await openRun({ project: 'closing' });
  const note = { by: 'ann', at: 1, reason: 'maintenance' };
  await store.queue.setClosed({ kind: 'project', name: 'closing' }, note);
  const refused = await call('POST', '/v1/runs', { body: { name: 'r', project: 'closing' } });
  assert.deepEqual([refused.statusCode, refused.json().code], [409, 'queue-closed']);
  assert.match(refused.json().detail, /ann closed the queue: maintenance/);
  assert.equal((await append(run, [metrics(1)])).statusCode, 200);
  await openRun();
});

test('a project has a limited number of open runs, and an ended one makes room', async (t) => {
  const few = await storeFor(t, { limits: { runsOfProject: 2 } });
  const app = await appFor(t, { store: few.store });
  const open = () => app.call('POST', '/v1/runs', { body: { name: 'r' } });
  const first = (await open()).json();
  assert.equal((await open()).statusCode, 201);
  const refused = await open();
  assert.deepEqual([refused.statusCode, refused.json().code], [409, 'limit-reached']);
  assert.match(refused.json().detail, /at most 2 open external runs/);
  const events = [{ sequence: 1, at: 1, event: { ...ENDED, cause: 'failed' } }];
  await app.call('POST', first.events, { body: { token: first.token, events } });
  assert.equal((await open()).statusCode, 201);
});

test('a run of a project over its quota can only end', async () => {
  await makeProjects(store, 'poor');
  const run = await openRun({ project: 'poor' });
  await store.projects.change('poor', { storeQuotaBytes: 10 });
  const refused = await append(run, [metrics(1)]);
  assert.deepEqual([refused.statusCode, refused.json().code], [429, 'quota-exceeded']);
  assert.deepEqual((await append(run, [])).json(), { last: 0 });
  const ended = { sequence: 1, at: 1, event: { ...ENDED, cause: 'failed' } };
  assert.equal((await append(run, [ended])).statusCode, 200);
});

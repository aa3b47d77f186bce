import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { etagOf } from '../../../../src/http/server/etag.ts';
import { claim as claimOn } from '../../../support/claim.ts';
import { appFor, REPLAY } from '../../../support/http-app.ts';
import { storeThrough } from '../../../support/made-up-store.ts';
import { wholeOperations } from '../../../support/openapi.ts';
import { clusterRecord, storeFor, submitInput } from '../../../support/store.ts';

const { store, redis } = await storeFor({ after });
const { app, call } = await appFor({ after }, { store });
const { id } = (await call('POST', '/v1/experiments', { body: REPLAY })).json();
const path = `/v1/experiments/${id}`;

describe('the ETag of an experiment', () => {
  test('the ETag of an experiment is strong and changes with priority and cancellation', async () => {
    const first = await call('GET', path);
    const etag = String(first.headers.etag);
    assert.equal(etag, '"0"');
    assert.equal((await call('GET', path)).headers.etag, etag);
    assert.equal((await call('HEAD', path)).headers.etag, etag);
    await call('PATCH', path, { body: { priority: 7 } });
    const changed = (await call('GET', path)).headers.etag;
    assert.notEqual(changed, etag);
    await call('POST', `${path}/cancel`);
    assert.notEqual((await call('GET', path)).headers.etag, changed);
  });

  // Fails if the ETag is a digest of the answer or of the record: both change every second while it is queued.
  test('the ETag of an experiment stays the same when its queue position, wait reason or estimate change', async () => {
    const { id: queued } = (await call('POST', '/v1/experiments', { body: REPLAY })).json();
    const at = `/v1/experiments/${queued}`;
    const etag = String((await call('GET', at)).headers.etag);
    for (const reason of ['one reason', 'another reason']) {
      await store.queue.note(new Map([[queued, { reason }]]));
      await call('POST', '/v1/experiments', { body: REPLAY });
      const changed = await call('PATCH', at, { body: { priority: 0 }, headers: { 'if-match': '"other"' } });
      assert.equal(changed.statusCode, 412);
    }
    assert.equal((await call('GET', at)).headers.etag, etag);
    const changed = await call('PATCH', at, { body: { priority: 3 }, headers: { 'if-match': etag } });
    assert.deepEqual([changed.statusCode, changed.json().priority], [200, 3]);
    assert.notEqual((await call('GET', at)).headers.etag, etag);
  });

  // Fails if the ETag is not compared with the current record.
  test('a DELETE with If-Match succeeds only if it names the current ETag', async () => {
    const etag = String((await call('GET', path)).headers.etag);
    for (const known of ['"other"', `W/${etag}`, 'x']) {
      const refused = await call('DELETE', path, { headers: { 'if-match': known } });
      assert.deepEqual([refused.statusCode, refused.json().code], [412, 'precondition-failed'], known);
    }
    assert.equal((await call('GET', path)).statusCode, 200);
    const gone = '/v1/experiments/exp-00000000000000000000';
    assert.equal((await call('DELETE', gone, { headers: { 'if-match': '*' } })).statusCode, 404);
    const done = await call('DELETE', path, { headers: { 'if-match': `"other", ${etag}` } });
    assert.equal(done.statusCode, 204, done.body);
    assert.equal((await call('GET', path, { headers: { 'if-none-match': '*' } })).statusCode, 404);
  });
});

test('a GET with If-None-Match gets 304 if it names the current ETag', async () => {
  const body = { name: 's', method: 'list', spec: REPLAY, axes: { priority: [1] } };
  const { self } = (await call('POST', '/v1/sweeps', { body })).json();
  const first = await call('GET', self);
  const etag = String(first.headers.etag);
  assert.equal(etag, etagOf(first.body));
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const answer = await call('GET', self, { headers: { 'if-none-match': known } });
    assert.deepEqual([answer.statusCode, answer.body, answer.headers.etag], [304, '', etag], known);
  }
  for (const known of ['"other"', 'x', '', etag.slice(1)]) {
    const answer = await call('GET', self, { headers: { 'if-none-match': known } });
    assert.equal(answer.statusCode, 200, known);
  }
});

describe('the ETag of a cluster', async () => {
  const path = '/v1/clusters/live';
  const seen = (cpusUsed: number) => ({
    address: '127.0.0.1:1',
    generation: 'g',
    rayVersion: '2.60.0',
    rayWorkerVersion: '1',
    nodes: [{ id: 'node-1', cpusTotal: 8, gpusTotal: 2, cpusUsed, gpusUsed: 0 }],
  });
  await store.clusters.put(clusterRecord({ name: 'live', address: '127.0.0.1:1', token: 'token' }));
  const tag = async () => String((await call('GET', path)).headers.etag);

  // Fails if the ETag is a digest of the answer, or if the version covers allocations.
  test('the ETag of a cluster stays the same when nodes report and experiments start', async () => {
    await store.clusters.see('live', seen(1));
    const before = await tag();
    await store.clusters.see('live', seen(2));
    const { id: started } = await store.experiments.submit(submitInput());
    const { version } = await store.clusters.allocations('live');
    const claim = await claimOn(store, {
      experiment: started,
      cluster: 'live',
      nodes: [{ id: 'node-1', gpus: 0, cpus: 1 }],
      allocationVersion: version,
      dispatcher: 'd',
      leaseMs: 1000,
    });
    assert.equal(claim.outcome, 'claimed');
    const shown = await call('GET', path);
    assert.deepEqual([shown.json().nodes[0].cpusUsed, shown.json().experiments], [2, [started]]);
    assert.equal(shown.headers.etag, before);
    // A dispatcher that takes over the cluster writes its record again at its start, with the known values.
    const [known] = await store.clusters.list(['live']);
    await store.clusters.put(known!);
    assert.equal(await tag(), before);
    const changed = await call('PATCH', path, { body: { backfill: true }, headers: { 'if-match': before } });
    assert.equal(changed.statusCode, 200, changed.body);
    assert.notEqual(await tag(), before);
  });

  test('the ETag of a cluster changes with labels, backfill, pause, drain, resume and address', async () => {
    const changes = {
      labels: () => call('PATCH', path, { body: { labels: { gpu: 'h100' } } }),
      backfill: () => call('PATCH', path, { body: { backfill: false } }),
      pause: () => call('POST', `${path}/pause`),
      drain: () => store.clusters.setDraining('live', true),
      resume: () => call('POST', `${path}/resume`),
      add: async () => store.clusters.put({ ...(await store.clusters.list(['live']))[0]!, address: 'h:2' }),
    };
    for (const [what, change] of Object.entries(changes)) {
      const before = await tag();
      await change();
      assert.notEqual(await tag(), before, what);
    }
  });

  test('a GET of a cluster with a known ETag still returns the cluster', async () => {
    const headers = { 'if-none-match': await tag() };
    const answer = await call('GET', path, { headers });
    assert.deepEqual([answer.statusCode, answer.json().name], [200, 'live']);
  });

  // Fails if the ETag is a digest of the record: a short Ray token could be guessed from it.
  test('the ETag of a cluster is a version number and so reveals no secret', async () => {
    assert.match(await tag(), /^"\d+"$/);
  });
});

describe('two changes with one ETag', async () => {
  const WRITES = [
    'queue.setPriority',
    'experiments.annotate',
    'experiments.delete',
    'clusters.set',
    'commands.create',
    'projects.change',
    'projects.remove',
  ];

  // An app in which another change happens after the comparison of ETags, right before the write of the request.
  let meanwhile: () => Promise<unknown> = async () => {};
  const late = storeThrough(store, (path, call) => (WRITES.includes(path) ? meanwhile().then(call) : call()));
  const racing = await appFor({ after }, { store: late });

  async function project(name: string): Promise<string> {
    await call('POST', '/v1/projects', { body: { name } });
    return `/v1/projects/${name}`;
  }

  async function cluster(name: string): Promise<string> {
    await store.clusters.put(clusterRecord({ name, address: '127.0.0.1:1', token: 'token' }));
    return `/v1/clusters/${name}`;
  }

  async function waiting(): Promise<string> {
    const input = submitInput();
    await store.experiments.submit(input);
    return `/v1/experiments/${input.id}`;
  }

  async function ended(): Promise<string> {
    const path = await waiting();
    await call('POST', `${path}/cancel`);
    return path;
  }

  const named = (path: string) => path.slice(path.lastIndexOf('/') + 1);
  const CASES = {
    'PATCH of an experiment': {
      make: waiting,
      method: 'PATCH',
      body: { priority: 5 },
      other: (path: string) => store.queue.setPriority(named(path), 3),
    },
    'PATCH of the note of an experiment': {
      make: waiting,
      method: 'PATCH',
      body: { note: 'mine' },
      other: (path: string) => redis.hincrby(`{echelon}:x:${named(path)}`, 'revision', 1),
    },
    'DELETE of an experiment': {
      make: ended,
      method: 'DELETE',
      other: (path: string) => redis.hincrby(`{echelon}:x:${named(path)}`, 'revision', 1),
    },
    'PATCH of a project': {
      make: () => project('a'),
      method: 'PATCH',
      body: { weight: 5 },
      other: (path: string) => store.projects.change(named(path), { weight: 3 }),
    },
    'PATCH of the project that is always there': {
      make: async () => '/v1/projects/default',
      method: 'PATCH',
      body: { weight: 5 },
      other: (path: string) => store.projects.change(named(path), { weight: 3 }),
    },
    'DELETE of a project': {
      make: () => project('b'),
      method: 'DELETE',
      other: (path: string) => store.projects.change(named(path), { weight: 3 }),
    },
    'PATCH of a cluster': {
      make: () => cluster('c'),
      method: 'PATCH',
      body: { labels: { gpu: 'h100' } },
      other: (path: string) => store.clusters.set(named(path), { backfill: true }),
    },
    'DELETE of a cluster': {
      make: () => cluster('d'),
      method: 'DELETE',
      other: (path: string) => store.clusters.set(named(path), { backfill: true }),
    },
  };

  // Each fails if its store script does not compare the version.
  for (const [title, { make, method, other, ...sent }] of Object.entries(CASES)) {
    test(`of two changes with one ETag the second gets 412: ${title}`, async () => {
      const path = await make();
      const etag = String((await call('GET', path)).headers.etag);
      meanwhile = () => other(path);
      const lost = await racing.call(method, path, { ...sent, headers: { 'if-match': etag } });
      assert.deepEqual([lost.statusCode, lost.json().code], [412, 'precondition-failed'], lost.body);

      const now = await call('GET', path);
      assert.equal(now.statusCode, 200);
      assert.notEqual(now.headers.etag, etag);
      const won = await call(method, path, { ...sent, headers: { 'if-match': String(now.headers.etag) } });
      assert.ok(won.statusCode < 300, won.body);
    });
  }

  test('a change without If-Match succeeds although the record has changed meanwhile', async () => {
    const path = await waiting();
    meanwhile = () => store.queue.setPriority(named(path), 3);
    assert.equal((await racing.call('PATCH', path, { body: { priority: 5 } })).json().priority, 5);
  });
});

test('errors and lists have no ETag', async () => {
  assert.equal((await call('GET', '/v1/experiments/none')).headers.etag, undefined);
  assert.equal((await call('GET', '/v1/experiments')).headers.etag, undefined);
});

test('every change of a record with an ETag documents If-Match and 412', () => {
  type Operation = { parameters?: { name: string }[]; responses: Record<string, { headers?: object }> };
  const paths = wholeOperations(app.swagger()).paths as Record<string, Record<string, Operation>>;
  let changes = 0;
  for (const [url, methods] of Object.entries(paths)) {
    if (!Object.hasOwn(methods.get?.responses['200']?.headers ?? {}, 'ETag')) continue;
    // A changeable record has a version as its ETag, so the answer is never 304.
    if (methods.patch ?? methods.delete) assert.ok(!('304' in methods.get!.responses), url);
    for (const change of [methods.patch, methods.delete]) {
      if (change === undefined) continue;
      changes += 1;
      assert.ok(change.parameters?.some(({ name }) => name === 'if-match') && change.responses['412'], url);
    }
  }
  assert.ok(changes >= 6, String(changes));
});

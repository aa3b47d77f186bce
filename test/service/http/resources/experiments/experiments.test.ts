import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { ExperimentSpec } from '../../../../../src/engines/registry.ts';
import { appFor, LOCAL, REPLAY } from '../../../../support/http-app.ts';
import { clusterRecord, storeFor } from '../../../../support/store.ts';
import { expandAll } from '../../../../support/sweep.ts';

const scope = { after };
const { store } = await storeFor(scope);
const enqueued: string[] = [];
const removed: string[] = [];
const { call } = await appFor(scope, {
  store,
  enqueue: async (ids) => void enqueued.push(...ids),
  removeJobs: async (ids) => void removed.push(...ids),
});

async function submit(spec: object = REPLAY): Promise<string> {
  const response = await call('POST', '/v1/experiments', { body: spec });
  assert.equal(response.statusCode, 202, response.body);
  return response.json().id;
}

describe('POST /v1/experiments', () => {
  test('a submission stores the spec with its defaults and fingerprint, and enqueues the experiment', async () => {
    const spec: ExperimentSpec = { ...LOCAL, priority: 7, estimator: { name: 'hgpo', historyLength: 1 } };
    const response = await call('POST', '/v1/experiments', { body: spec });
    const { id } = response.json();
    assert.equal(response.statusCode, 202);
    assert.equal(response.headers.location, `/v1/experiments/${id}`);
    const record = await store.experiments.get(id);
    assert.deepEqual(record?.submitted, spec);
    assert.equal((record!.resolved as { rollout: { groups: number } }).rollout.groups, 8);
    assert.ok(record?.defaults.includes('/rollout/groups') && !record.defaults.includes('/priority'));
    assert.match(record?.fingerprint ?? '', /^hgpo\(K=1,/);
    assert.equal(record?.state, 'queued');
    assert.equal(enqueued.at(-1), id);
  });

  test('a submission with a repeated Idempotency-Key returns the same answer and enqueues once', async () => {
    const headers = { 'idempotency-key': 'key-1' };
    const before = enqueued.length;
    const first = await call('POST', '/v1/experiments', { body: { ...REPLAY, priority: 1 }, headers });
    const again = await call('POST', '/v1/experiments', { body: { priority: 1, ...REPLAY }, headers });
    assert.equal(again.statusCode, 202);
    assert.equal(again.body, first.body);
    assert.equal(enqueued.length, before + 1);
    const other = await call('POST', '/v1/experiments', { body: REPLAY, headers });
    assert.equal(other.statusCode, 409);
    assert.equal(other.json().code, 'idempotency-conflict');
  });

  test('a submission with an Idempotency-Key that is empty, has spaces or is too long gets 400', async () => {
    for (const key of ['x'.repeat(256), 'a b', '']) {
      const response = await call('POST', '/v1/experiments', {
        body: REPLAY,
        headers: { 'idempotency-key': key },
      });
      assert.equal(response.statusCode, 400, key);
      assert.equal(response.json().problems[0].field, 'idempotency-key');
    }
  });

  test('a submission is accepted although its job fails or never settles', async (t) => {
    const failures = [
      async () => Promise.reject(new Error('no queue')),
      () => {
        throw new Error('no queue at all');
      },
      () => new Promise<void>(() => {}),
    ];
    for (const enqueue of failures) {
      const { call: submitWith } = await appFor(t, { store, enqueue: enqueue as () => Promise<void> });
      const response = await submitWith('POST', '/v1/experiments', { body: REPLAY });
      assert.equal(response.statusCode, 202);
      assert.equal((await store.experiments.get(response.json().id))?.state, 'queued');
    }
  });

  test('a submission to an unknown cluster is refused with the nearest name', async () => {
    await store.clusters.put(clusterRecord({ name: 'gpu-one', address: '127.0.0.1:1', token: 'secret' }));
    await submit({ ...REPLAY, cluster: 'gpu-one' });
    const response = await call('POST', '/v1/experiments', { body: { ...REPLAY, cluster: 'gpu-onee' } });
    assert.equal(response.statusCode, 400);
    assert.equal(response.json().problems[0].field, '/cluster');
    assert.match(response.json().problems[0].message, /did you mean gpu-one\?/);
  });

  test('an invalid spec creates no experiment', async () => {
    const before = await store.experiments.counts();
    const contradictory = { ...LOCAL, estimator: { name: 'grpo', gamma: 1 } };
    for (const body of [{ ...LOCAL, K: 2 }, contradictory, [], 'x']) {
      const response = await call('POST', '/v1/experiments', { body });
      assert.equal(response.statusCode, 400, JSON.stringify(body));
      assert.equal(response.json().code, 'invalid-spec', JSON.stringify(body));
    }
    assert.deepEqual(await store.experiments.counts(), before);
  });
});

test('a submission beyond the queue limit of its project gets 429 queue-full', async (t) => {
  const { store: small } = await storeFor(t, { limits: { queuedOfProject: 1 } });
  const { call: ask } = await appFor(t, { store: small });
  assert.equal((await ask('POST', '/v1/experiments', { body: REPLAY })).statusCode, 202);
  const refused = await ask('POST', '/v1/experiments', { body: REPLAY });
  assert.deepEqual([refused.statusCode, refused.json().code], [429, 'queue-full']);
  assert.equal(refused.headers['retry-after'], '1');
});

describe('GET /v1/experiments/:id', () => {
  test('GET of an experiment shows its queue position, and an unknown id gets 404', async () => {
    const id = await submit({ ...REPLAY, priority: -100 });
    const answer = (await call('GET', `/v1/experiments/${id}`)).json();
    assert.equal(answer.position.rank, answer.position.length);
    for (const other of ['exp-00000000000000000000', 'x', '..%2f..', '%00', `exp-${'0'.repeat(5000)}`]) {
      const response = await call('GET', `/v1/experiments/${other}`);
      assert.equal(response.statusCode, 404, other);
      assert.equal(response.json().code, 'not-found');
    }
  });
});

describe('GET /v1/experiments', () => {
  test('the pages of GET /v1/experiments show every experiment once, newest first', async () => {
    await call('POST', '/v1/projects', { body: { name: 'paged' } });
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) ids.push(await submit({ ...REPLAY, project: 'paged' }));
    const seen: string[] = [];
    let url = '/v1/experiments?project=paged&limit=2';
    for (let pages = 0; pages < 9; pages++) {
      const page = (await call('GET', url)).json();
      seen.push(...page.items.map((item: { id: string }) => item.id));
      if (page.next === null) break;
      url = `/v1/experiments?project=paged&limit=2&cursor=${page.next}`;
    }
    assert.deepEqual(seen, ids.reverse());
  });

  test('GET /v1/experiments refuses a forged cursor and a cursor of another list', async () => {
    const page = (await call('GET', '/v1/experiments?limit=1')).json();
    assert.equal((await call('GET', `/v1/experiments?limit=1&cursor=${page.next}`)).statusCode, 200);
    const [place] = page.next.split('.');
    for (const url of [
      `?state=queued&cursor=${page.next}`,
      `?cursor=${place}`,
      `?cursor=${place}.AAAA`,
      '?cursor=x',
      '?cursor=',
    ]) {
      const response = await call('GET', `/v1/experiments${url}`);
      assert.equal(response.statusCode, 400, url);
      assert.equal(response.json().code, 'invalid-cursor', url);
    }
  });

  test('GET /v1/experiments refuses unknown parameters and bad values by name', async () => {
    for (const [query, field] of [
      ['limit=0', 'limit'],
      ['limit=201', 'limit'],
      ['limit=0x10', 'limit'],
      ['limit=1e1', 'limit'],
      ['limit=%201', 'limit'],
      ['limit=1&limit=2', 'limit'],
      ['state=quued', 'state'],
      ['stat=queued', 'stat'],
      ['id=exp-', 'id'],
      ['id=swp-0', 'id'],
      ['__proto__=1', '__proto__'],
      ['access_token=x', 'access_token'],
    ]) {
      const response = await call('GET', `/v1/experiments?${query}`);
      assert.equal(response.statusCode, 400, query);
      assert.equal(response.json().problems[0].field, field, query);
    }
  });
});

describe('filters of GET /v1/experiments', () => {
  test('GET /v1/experiments combines the filters state, name, time and sweep', async () => {
    const before = Date.now();
    const ids = [
      await submit({ ...REPLAY, name: 'filtered 1' }),
      await submit({ ...REPLAY, name: 'filtered 2' }),
    ];
    await call('POST', `/v1/experiments/${ids[0]}/cancel`);
    const listed = async (query: string): Promise<string[]> => {
      const response = await call('GET', `/v1/experiments?name=filtered&${query}`);
      assert.equal(response.statusCode, 200, response.body);
      return response.json().items.map((item: { id: string }) => item.id);
    };
    assert.deepEqual(await listed('state=queued,cancelled'), ids.toReversed());
    assert.deepEqual(await listed('state=queued&state=failed'), [ids[1]]);
    assert.deepEqual(
      await listed(`submittedFrom=${before}&submittedBefore=${Date.now() + 60_000}`),
      ids.toReversed(),
    );
    assert.deepEqual(await listed(`submittedBefore=${before - 60_000}`), []);
    assert.deepEqual(await listed('sweep=swp-00000000000000000000'), []);
    assert.deepEqual(await listed(`id=${ids[0]!.slice(0, 22)}`), [ids[0]]);
  });

  test('a cursor of GET /v1/experiments is bound to its filters', async () => {
    const page = (await call('GET', '/v1/experiments?name=filtered&limit=1')).json();
    assert.equal(page.items.length, 1);
    const next = `/v1/experiments?limit=1&cursor=${page.next}`;
    assert.equal((await call('GET', `${next}&name=filtered`)).json().items.length, 1);
    assert.equal((await call('GET', `${next}&name=filter`)).json().code, 'invalid-cursor');
  });
});

test('the tags of a spec are those of its experiment, and of each child of its sweep', async () => {
  const spec = { ...REPLAY, tags: ['paper', 'seed study'] };
  const { id } = (await call('POST', '/v1/experiments', { body: spec })).json();
  assert.deepEqual((await call('GET', `/v1/experiments/${id}`)).json().tags, spec.tags);
  const axes = { '/replay/batches': [1, 2] };
  const body = { name: 'tagged', method: 'grid', spec, axes };
  const sweep = (await call('POST', '/v1/sweeps', { body })).json();
  await expandAll(store, sweep.id);
  const children = (await call('GET', `/v1/experiments?tag=paper&sweep=${sweep.id}`)).json().items;
  assert.deepEqual(children.length, 2);
  const answer = await call('POST', '/v1/experiments', { body: { ...REPLAY, tags: ['a,b'] } });
  assert.equal(answer.json().problems[0].field, '/tags/0');
});

test('PATCH writes a note and tags of an experiment in any state, which the list then finds', async () => {
  const id = await submit();
  await call('POST', `/v1/experiments/${id}/cancel`);
  const path = `/v1/experiments/${id}`;
  const changed = await call('PATCH', path, {
    body: { note: 'the learning rate was too high', tags: ['lr sweep'] },
  });
  assert.equal(changed.statusCode, 200, changed.body);
  const { note, tags, owner } = changed.json();
  assert.deepEqual(
    [note, tags, owner],
    ['the learning rate was too high', ['lr sweep'], (await call('GET', '/v1/caller')).json().name],
  );
  const found = async (query: string) =>
    (await call('GET', `/v1/experiments?${query}`)).json().items.map((one: { id: string }) => one.id);
  assert.deepEqual(await found('search=RATE%20WAS'), [id]);
  assert.deepEqual(await found('tag=lr%20sweep&sort=-duration'), [id]);
  for (const body of [{}, { tags: ['a,b'] }, { note: 7 }]) {
    assert.equal((await call('PATCH', path, { body })).statusCode, 400, JSON.stringify(body));
  }
  assert.equal((await call('PATCH', path, { body: { priority: 1 } })).json().code, 'not-queued');
  assert.equal((await call('GET', '/v1/experiments?sort=colour')).statusCode, 400);
});

describe('POST /v1/experiments/:id/rerun', () => {
  test('a rerun creates one new experiment of the submitted spec for each Idempotency-Key', async () => {
    const id = await submit({ ...REPLAY, name: 'first', priority: 3 });
    const headers = { 'idempotency-key': 'rerun-1' };
    const answer = await call('POST', `/v1/experiments/${id}/rerun`, { headers });
    assert.equal(answer.statusCode, 202, answer.body);
    const again = await call('POST', `/v1/experiments/${id}/rerun`, { headers });
    assert.equal(again.body, answer.body);
    const { id: made, self } = answer.json();
    assert.equal(answer.headers.location, self);
    assert.notEqual(made, id);
    const [first, second] = [await store.experiments.get(id), await store.experiments.get(made)];
    assert.deepEqual(second?.submitted, first?.submitted);
    assert.deepEqual([second?.rerunOf, second?.state, second?.priority], [id, 'queued', 3]);
    assert.equal(enqueued.at(-1), made);
    const other = await submit();
    const conflict = await call('POST', `/v1/experiments/${other}/rerun`, { headers });
    assert.equal(conflict.json().code, 'idempotency-conflict');
  });

  test('a rerun stays in its project and refuses a body, and an unknown id gets 404', async () => {
    await call('POST', '/v1/projects', { body: { name: 'reruns' } });
    const id = await submit({ ...REPLAY, project: 'reruns' });
    const { id: made } = (await call('POST', `/v1/experiments/${id}/rerun`)).json();
    assert.equal((await store.experiments.get(made))?.project, 'reruns');
    assert.equal((await call('POST', `/v1/experiments/${id}/rerun`, { body: {} })).statusCode, 400);
    assert.equal((await call('POST', '/v1/experiments/exp-00000000000000000000/rerun')).statusCode, 404);
  });
});

describe('DELETE /v1/experiments/:id', () => {
  test('DELETE removes an ended experiment, and any other gets 409 not-ended', async () => {
    const id = await submit();
    const refused = await call('DELETE', `/v1/experiments/${id}`);
    assert.deepEqual([refused.statusCode, refused.json().code], [409, 'not-ended']);
    assert.equal((await store.experiments.get(id))?.state, 'queued');
    await call('POST', `/v1/experiments/${id}/cancel`);
    assert.equal(removed.at(-1), id, 'its job is removed');
    const done = await call('DELETE', `/v1/experiments/${id}`);
    assert.deepEqual([done.statusCode, done.body], [204, '']);
    for (const method of ['GET', 'DELETE']) {
      assert.equal((await call(method, `/v1/experiments/${id}`)).statusCode, 404);
    }
  });
});

describe('POST /v1/experiments/:id/cancel', () => {
  test('the cancel of a queued experiment ends it, and a second cancel gets 409 already-final', async () => {
    const id = await submit();
    const response = await call('POST', `/v1/experiments/${id}/cancel`);
    assert.equal(response.statusCode, 202);
    assert.equal(response.json().state, 'cancelled');
    assert.equal(response.json().position, null);
    const again = await call('POST', `/v1/experiments/${id}/cancel`);
    assert.equal(again.statusCode, 409);
    assert.equal(again.json().code, 'already-final');
  });

  test('a cancel stores its reason, if the request has one', async () => {
    for (const [body, reason] of [
      [{ reason: 'the wrong seed' }, 'cancelled by request: the wrong seed'],
      [{}, 'cancelled by request'],
    ] as const) {
      const id = await submit();
      assert.equal((await call('POST', `/v1/experiments/${id}/cancel`, { body })).statusCode, 202);
      const record = await store.experiments.get(id);
      assert.deepEqual([record?.state, record?.reason], ['cancelled', reason]);
    }
  });

  test('a cancel with another body gets 400, and with an unknown id 404', async () => {
    const id = await submit();
    for (const body of [{ force: true }, { reason: 7 }, { reason: 'x'.repeat(201) }, [], 'text']) {
      const response = await call('POST', `/v1/experiments/${id}/cancel`, { body });
      assert.equal(response.statusCode, 400, JSON.stringify(body));
    }
    assert.equal((await store.experiments.get(id))?.state, 'queued');
    assert.equal((await call('POST', '/v1/experiments/exp-00000000000000000000/cancel')).statusCode, 404);
  });
});

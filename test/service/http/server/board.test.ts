import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Redis } from 'ioredis';
import { createClient } from '../../../../src/cli/client.ts';
import { createExperimentsQueue } from '../../../../src/queue/experiments-queue.ts';
import { keptOutput, runProgram } from '../../../support/cli.ts';
import { appFor, LOCAL, TOKEN } from '../../../support/http-app.ts';
import { redisFor } from '../../../support/redis.ts';
import { storeFor } from '../../../support/store.ts';

const server = await redisFor({ after });
const redis = new Redis({ port: server.port, host: server.host, maxRetriesPerRequest: null });
redis.on('error', () => {});
const id = 'exp-00000000000000000001';
const queue = createExperimentsQueue({
  redis,
  prefix: '{board}',
  onError: () => {},
  statesOf: async () => new Map([[id, 'queued']]),
});
after(async () => {
  await queue.close();
  redis.disconnect();
});
const { call } = await appFor({ after }, { queues: queue.queues });
await queue.enqueue([id]);

test('the board shows the queue', async () => {
  const page = await call('GET', '/queues');
  assert.doesNotMatch(page.body, /(?:src|href)="https?:/);
  assert.equal(page.statusCode, 200);
  assert.match(page.body, /id="root"/);
  const { queues } = (await call('GET', '/queues/api/queues?activeQueue=experiments&page=1')).json();
  assert.equal(queues[0].name, 'experiments');
  assert.equal(queues[0].readOnlyMode, true);
  assert.ok(JSON.stringify(queues).includes(id));
  const script = /src="(static\/js\/main[^"]+)"/.exec(page.body)?.[1];
  assert.equal((await call('GET', `/queues/${script}`)).statusCode, 200);
});

test('the board accepts only GET and changes nothing', async () => {
  const before = await queue.counts();
  for (const [method, path] of [
    ['PUT', 'api/queues/experiments/pause'],
    ['PUT', 'api/queues/experiments/empty'],
    ['PUT', 'api/queues/experiments/obliterate'],
    ['PUT', `api/queues/experiments/${id}/clean`],
    ['POST', 'api/queues/experiments/add'],
    ['PATCH', `api/queues/experiments/${id}/update-data`],
    ['DELETE', `api/queues/experiments/${id}`],
  ] as const) {
    const response = await call(method, `/queues/${path}`, { body: {} });
    assert.ok([404, 405].includes(response.statusCode), `${method} ${path}: ${response.statusCode}`);
  }
  assert.deepEqual(await queue.counts(), before);
  assert.ok(await queue.queues[0]!.getJob(id));
});

test('the board without a token gets 401', async () => {
  for (const path of ['/queues', '/queues/api/queues', '/queues/api/redis/stats']) {
    assert.equal((await call('GET', path, { token: null })).statusCode, 401, path);
  }
});

// Fails if a change of an experiment leaves its job in the state before.
test('the delayed jobs of the board are the experiments that `echelon queues` lists', async (t) => {
  const { store, redis } = await storeFor(t);
  const jobs = createExperimentsQueue({
    redis,
    prefix: '{jobs}',
    onError: () => {},
    statesOf: store.queue.states,
  });
  t.after(() => jobs.close());
  const { app } = await appFor(t, {
    store,
    queues: jobs.queues,
    enqueue: jobs.enqueue,
    removeJobs: jobs.remove,
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const connection = ['--url', url, '--token', TOKEN];
  const client = createClient({ url, token: TOKEN });
  const ids: string[] = [];
  for (let made = 0; made < 4; made++) ids.push((await client.post('/v1/experiments', { body: LOCAL })).id);
  const [cancelled, started, ...waiting] = ids as [string, string, ...string[]];
  const listed = async () => {
    const output = keptOutput();
    await runProgram(output, ['queues', '--json', ...connection]);
    return output.json<{ items: { experiment: string }[] }>().items.map(({ experiment }) => experiment);
  };
  const onBoard = async (status: string) => {
    const path = `/queues/api/queues?activeQueue=experiments&status=${status}&page=1&jobsPerPage=20`;
    const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${TOKEN}` } });
    const { queues } = (await answer.json()) as { queues: { jobs: { id: string }[] }[] };
    return queues[0]!.jobs.map(({ id }) => id).sort();
  };
  assert.deepEqual(await onBoard('delayed'), (await listed()).sort());
  assert.equal((await listed()).length, 4);
  await client.post('/v1/experiments/{id}/cancel', { path: { id: cancelled } });
  const nodes = [{ id: 'n', gpus: 0, cpus: 1 }];
  const start = { experiment: started, cluster: 'c', nodes, allocationVersion: 0, project: 'default' };
  assert.deepEqual(await store.attempts.allocate([start]), ['allocated']);
  assert.equal(await jobs.release(started), true);
  assert.deepEqual((await listed()).sort(), waiting.sort());
  assert.deepEqual(await onBoard('delayed'), waiting.sort());
  assert.deepEqual(await onBoard('waiting'), [started]);
});

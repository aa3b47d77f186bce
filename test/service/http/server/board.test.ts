import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Redis } from 'ioredis';
import { createExperimentsQueue } from '../../../../src/queue/experiments-queue.ts';
import { appFor } from '../../../support/http-app.ts';
import { redisFor } from '../../../support/redis.ts';

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

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { appFor, LOCAL, REPLAY } from '../../support/http-app.ts';
import { running, storeFor } from '../../support/store.ts';

// Attacks on submissions, lists and names, as a table of requests and expected answers. None may
// change the store, and each answer is checked against the OpenAPI document.

const { store, redis } = await storeFor({ after });
const { call } = await appFor({ after }, { store });
const { experiment } = await running(store);
const path = `/v1/experiments/${experiment}`;

interface Attack {
  of: string;
  send: () => ReturnType<typeof call>;
  status: number;
  /** A part of the answer. */
  says?: string;
}

const VERL = { engine: 'verl-agent', name: 'x', recipe: 'qwen2.5_1.5b_alfworld_train' };
const overridden = (overrides: Record<string, unknown>) =>
  call('POST', '/v1/experiments', { body: { ...VERL, overrides } });
const get = (url: string, headers?: Record<string, string>) => call('GET', url, headers ? { headers } : {});

/** Keys that would reach beyond one setting of the trainer. */
const KEYS = [
  '+hydra.run.dir',
  'hydra/launcher',
  '--multirun',
  '~data.train_files',
  'hydra.searchpath',
  '--config-dir',
  '-cn',
  'constructor',
  'constructor.prototype',
  'a b',
  'a=1; curl x|sh',
  '$(id)',
  '`id`',
  'a\nb',
  'a\u0000b',
  '',
  'x._target_',
  'actor_rollout_ref.model.external_lib',
  'custom_reward_function.path',
  'data.custom_cls.path',
  'actor_rollout_ref.model.trust_remote_code',
  'trainer.resume_from_path',
  'trainer.resume_mode',
];
/** Values that would do so on a command line or in Hydra's grammar. */
const VALUES = [
  `\${oc.env:WANDB_API_KEY}`,
  `\${oc.env:AWS_SECRET_ACCESS_KEY}`,
  'a\u0000b',
  'a\nb',
  { _target_: 'os.system' },
];

const wide = Object.fromEntries(
  Array.from({ length: 9 }, (_axis, at) => [`replay.x${at}`, Array(100).fill(1)]),
);

const ATTACKS: Attack[] = [
  ...KEYS.map((key) => ({
    of: `the override ${JSON.stringify(key)}`,
    status: 400,
    send: () => overridden({ [key]: 'x' }),
  })),
  ...VALUES.map((value) => ({
    of: `an override of ${JSON.stringify(value)}`,
    status: 400,
    send: () => overridden({ 'trainer.experiment_name': value }),
  })),
  {
    of: '__proto__ as an override',
    status: 400,
    says: '/overrides/__proto__',
    send: () => {
      const raw = JSON.stringify({ ...VERL, overrides: {} }).replace(
        '"overrides":{}',
        '"overrides":{"__proto__":{"polluted":1}}',
      );
      return call('POST', '/v1/experiments', { raw, headers: { 'content-type': 'application/json' } });
    },
  },
  {
    of: 'a sweep of 10^18 children',
    status: 400,
    says: '1000000000000000000',
    send: () => call('POST', '/v1/sweeps', { body: { name: 's', method: 'grid', spec: REPLAY, axes: wide } }),
  },
  {
    of: 'a sweep of a huge range',
    status: 400,
    send: () =>
      call('POST', '/v1/sweeps', {
        body: {
          name: 's',
          method: 'random',
          count: 1e9,
          spec: LOCAL,
          axes: { 'training.seed': { range: { min: 0, max: 1e15 } } },
        },
      }),
  },
  // Names of resources
  ...['..%2f..%2fetc%2fpasswd', '%2e%2e%2f', '..%5c..%5c', '%00', '%252e%252e%252f'].flatMap((id) => [
    { of: `artifacts of ${id}`, status: 404, send: () => get(`/v1/experiments/${id}/artifacts`) },
    { of: `the recipe ${id}`, status: 404, send: () => get(`/v1/recipes/${id}`) },
    { of: `the preset ${id}`, status: 404, send: () => get(`/v1/presets/${id}`) },
    { of: `deleting ${id}`, status: 404, send: () => call('DELETE', `/v1/experiments/${id}`) },
    { of: `running ${id} again`, status: 404, send: () => call('POST', `/v1/experiments/${id}/rerun`) },
    { of: `the batch ${id}`, status: 400, send: () => get(`${path}/batches/1/${id}`) },
  ]),
  {
    of: 'an artifact path with ..',
    status: 404,
    send: () => get(`${path}/artifacts/..%2f..%2fetc%2fpasswd`),
  },
  { of: 'deleting a running experiment', status: 409, send: () => call('DELETE', path) },
  {
    of: 'a DELETE by X-HTTP-Method-Override',
    status: 405,
    send: () => call('POST', path, { headers: { 'x-http-method-override': 'DELETE' } }),
  },
  // Filters
  {
    of: 'an unknown state',
    status: 400,
    says: '"field":"state"',
    send: () => get('/v1/experiments?state=queued,*'),
  },
  { of: 'a time that is not finite', status: 400, send: () => get('/v1/experiments?submittedFrom=1e400') },
  { of: 'a negative time', status: 400, send: () => get('/v1/experiments?submittedBefore=-1') },
  { of: 'a name of 10 kB', status: 400, send: () => get(`/v1/experiments?name=${'a'.repeat(10_000)}`) },
  { of: 'an unknown filter', status: 400, says: 'nam', send: () => get('/v1/experiments?nam=a') },
  // Keys and conditions
  {
    of: 'a key with a line break',
    status: 400,
    send: () => call('POST', `${path}/cancel`, { headers: { 'idempotency-key': 'a\tb' } }),
  },
  {
    of: 'an If-None-Match of 5 kB',
    status: 400,
    send: () => get(path, { 'if-none-match': '"a",'.repeat(1250) }),
  },
  {
    of: 'an If-Match without an ETag',
    status: 412,
    send: () => call('DELETE', path, { headers: { 'if-match': 'x'.repeat(4000) } }),
  },
];

describe('attacks on records', () => {
  for (const { of, send, status, says } of ATTACKS) {
    test(`an attack (${of}) gets ${status}`, async () => {
      const before = [await store.experiments.counts(), (await redis.keys('{echelon}:[xis]*')).sort()];
      const answer = await send();
      assert.equal(answer.statusCode, status, answer.body);
      assert.match(String(answer.headers['content-type']), /^application\/problem\+json/);
      if (says !== undefined) assert.ok(answer.body.includes(says), answer.body);
      assert.equal(({} as { polluted?: unknown }).polluted, undefined);
      assert.deepEqual(
        [await store.experiments.counts(), (await redis.keys('{echelon}:[xis]*')).sort()],
        before,
      );
    });
  }
});

test('a name filter with pattern characters matches them literally', async () => {
  const names = ['(a+)+$', 'a%%%%', '.*', '[', "';--", '\\'];
  for (const name of names) await call('POST', '/v1/experiments', { body: { ...REPLAY, name } });
  for (const name of names) {
    const { items } = (await get(`/v1/experiments?name=${encodeURIComponent(name)}`)).json();
    assert.deepEqual(
      items.map((item: { name: string }) => item.name),
      [name],
    );
  }
  assert.deepEqual(
    (await get(`/v1/experiments?name=${encodeURIComponent(`${'a'.repeat(99)}!`)}`)).json().items,
    [],
  );
});

test('an override with shell characters stays one argument', async () => {
  const value = 'a; curl x|sh $(id) `id` && -rf --config-dir=/';
  const body = { ...VERL, overrides: { 'trainer.project_name': value } };
  const answer = await call('POST', '/v1/plans', { body });
  if (answer.statusCode === 400) return assert.match(answer.json().problems[0].field, /^\/overrides/);
  const spoken = (answer.json().plan.arguments as string[]).filter((argument) => argument.includes('curl'));
  assert.equal(spoken.length, 1);
  assert.ok(spoken[0]!.startsWith('trainer.project_name='));
});

test('100 parallel cancels with one Idempotency-Key cancel once', async () => {
  const { id } = (await call('POST', '/v1/experiments', { body: REPLAY })).json();
  const headers = { 'idempotency-key': 'hundred' };
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => call('POST', `/v1/experiments/${id}/cancel`, { headers })),
  );
  for (const { statusCode, body } of answers)
    assert.ok(statusCode === 202 || body.includes('idempotency-in-progress'), body);
  const last = await call('POST', `/v1/experiments/${id}/cancel`, { headers });
  assert.equal(last.statusCode, 202);
  const entries = await store.events.read(id, undefined, 10);
  assert.equal(entries.filter(({ event }) => event.type === 'state' && event.to === 'cancelled').length, 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UploadedFile } from 'echelon-verify/pool';
import { appFor } from '../../../../support/http-app.ts';

const headers = { 'content-type': 'application/octet-stream' };
const raw = Buffer.from('x');

test('the options of the query reach the verifier', async (t) => {
  const seen: UploadedFile[] = [];
  const { call } = await appFor(t, {
    verifyFile: async (file) => {
      seen.push(file);
      return { batches: [], steps: [] };
    },
  });
  const query = new URLSearchParams({
    name: 'run.csv',
    from: 'table',
    estimator: 'grpo',
    param: 'epsilon=1e-4,normalizeByStd=false',
    groupSize: '4',
    rewards: 'a,b',
    weights: '1,0.5',
    map: 'group=g,reward=r',
  });
  const response = await call('POST', `/v1/verify?${query}`, { headers, raw });
  assert.deepEqual([response.statusCode, response.json()], [200, { batches: [], steps: [] }]);
  const { path, ...rest } = seen[0]!;
  assert.match(path, /\/run\.csv$/);
  assert.deepEqual(rest, {
    name: 'run.csv',
    from: 'table',
    stated: {
      estimator: 'grpo',
      params: { epsilon: 1e-4, normalizeByStd: false },
      groupSize: 4,
      rewards: ['a', 'b'],
      weights: [1, 0.5],
      map: { group: 'g', reward: 'r' },
    },
  });
});

test('a request with a name that is a path, or an option that is not known, gets 400 and names the field', async (t) => {
  const { call } = await appFor(t, { verifyFile: async () => assert.fail('it was verified') });
  for (const [field, value] of [
    ['name', '../etc/passwd'],
    ['name', '..'],
    ['name', 'a/b'],
    ['name', 'a\u0000'],
    ['name', ''],
    ['from', 'pickle'],
    ['estimator', '__proto__'],
    ['param', 'constructor=1'],
    ['param', 'epsilon=x'],
    ['groupSize', '0'],
    ['weights', '1,x'],
    ['map', 'group'],
    ['else', '1'],
  ] as const) {
    const query = new URLSearchParams({ name: 'a.csv', [field]: value });
    const response = await call('POST', `/v1/verify?${query}`, { headers, raw });
    assert.equal(response.statusCode, 400, `${field}=${value}`);
    assert.equal(response.json().problems[0].field, field);
  }
});

test('a body of another type than application/octet-stream gets 415', async (t) => {
  const { call } = await appFor(t, { verifyFile: async () => assert.fail('it was verified') });
  for (const type of ['application/json', 'multipart/form-data; boundary=x', 'text/csv']) {
    const sent = { headers: { 'content-type': type }, raw: '{}' };
    assert.equal((await call('POST', '/v1/verify?name=a.csv', sent)).statusCode, 415, type);
  }
  assert.equal((await call('POST', '/v1/verify?name=a.csv', { raw })).statusCode, 415);
  const gzip = { headers: { ...headers, 'content-encoding': 'gzip' }, raw };
  assert.equal((await call('POST', '/v1/verify?name=a.csv', gzip)).statusCode, 415);
  // Only this route takes files.
  assert.equal((await call('POST', '/v1/plans', { headers, raw })).statusCode, 415);
});

test('a third file of one caller gets 429 until one of the others is done', async (t) => {
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let begun = 0;
  const both = Promise.withResolvers<void>();
  const { call } = await appFor(t, {
    verifyFile: async () => {
      begun += 1;
      if (begun === 2) both.resolve();
      await ends[begun - 1]?.promise;
      return { batches: [], steps: [] };
    },
  });
  const send = () => call('POST', '/v1/verify?name=a.csv', { headers, raw });
  const first = [send(), send()];
  await both.promise;
  const refused = await send();
  assert.deepEqual([refused.statusCode, refused.json().retry], [429, true]);
  for (const { resolve } of ends) resolve();
  assert.deepEqual(
    (await Promise.all(first)).map(({ statusCode }) => statusCode),
    [200, 200],
  );
  assert.equal((await send()).statusCode, 200);
});

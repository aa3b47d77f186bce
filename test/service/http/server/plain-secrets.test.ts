import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { appFor, REPLAY } from '../../../support/http-app.ts';
import { SECRETS } from '../../../support/secrets.ts';
import { storeFor } from '../../../support/store.ts';

const { store } = await storeFor({ after });
const { call } = await appFor({ after }, { store });

test('a text with a secret is refused by every route that stores and shows it, and is not quoted', async () => {
  const { id } = (await call('POST', '/v1/experiments', { body: REPLAY })).json();
  const at = `/v1/experiments/${id}`;
  const events = ['state'];
  for (const { secret } of [...SECRETS, { secret: 'machine h login a password hunter22' }]) {
    const text = `see ${secret}`;
    for (const [method, path, body, field] of [
      ['PATCH', at, { note: text }, '/note'],
      ['PATCH', at, { tags: ['a', text.slice(0, 63)] }, '/tags/1'],
      ['POST', `${at}/cancel`, { reason: text.slice(0, 200) }, '/reason'],
      ['POST', '/v1/queues/default/close', { reason: text.slice(0, 200) }, '/reason'],
      ['POST', '/v1/keys', { name: text, scopes: ['read'] }, '/name'],
      [
        'POST',
        '/v1/subscriptions',
        { events, owner: text, target: { kind: 'slack', secret: 'a' } },
        '/owner',
      ],
    ] as const) {
      const { statusCode, body: answer } = await call(method, path, { body });
      assert.equal(statusCode, 400, `${path}: ${answer}`);
      assert.ok(!answer.includes(secret), answer);
      // What does not fit the schema, or not in its length, is refused as that.
      if (text.length <= 63) assert.match(answer, new RegExp(`"${field}"`), answer);
    }
  }
  assert.equal((await call('GET', at)).json().note, '');
});

test('a secret in an event of a run that Echelon does not start is masked before it is stored', async () => {
  const run = (await call('POST', '/v1/runs', { body: { name: 'mine' } })).json();
  const [, { secret }] = SECRETS as [unknown, { secret: string }];
  const event = {
    type: 'log',
    source: 'stdout',
    lines: [`key ${secret}`, 'curl -u a:pa55word h'],
    cutBytes: 0,
  };
  const values = { [`loss ${secret}`]: -0 };
  const body = {
    token: run.token,
    events: [
      { sequence: 1, at: 1, event },
      { sequence: 2, at: 1, event: { type: 'metrics', step: 1, values } },
    ],
  };
  const answer = await call('POST', run.events, { body });
  assert.deepEqual(answer.json(), { last: 2 }, answer.body);
  assert.deepEqual((await call('POST', run.events, { body })).json(), { last: 2 });
  const shown = (await call('GET', `${run.self}/logs`)).body;
  assert.match(shown, /key \*\*\*/);
  assert.match(shown, /curl -u a:\*\*\* h/);
  const stored = shown + (await call('GET', `${run.self}/metrics/names`)).body;
  assert.ok(!stored.includes(secret) && !stored.includes('pa55word'), stored);
});

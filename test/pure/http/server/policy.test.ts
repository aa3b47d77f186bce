import assert from 'node:assert/strict';
import { test } from 'node:test';
import Fastify from 'fastify';
import type { App } from '../../../../src/http/server/deps.ts';
import { addPolicies, CHANGE, CREATE, READ } from '../../../../src/http/server/policy.ts';

test('an app with a route without a policy does not start', async () => {
  const app = Fastify() as unknown as App;
  addPolicies(app, 1000);
  app.get('/a', { config: { policy: READ } }, async () => ({}));
  app.get('/b', { config: {} }, async () => ({}));
  await assert.rejects(async () => app.ready(), /^TypeError: No policy: GET \/b/);
});

test('a route has the handler timeout, unless its policy limits only its store calls', () => {
  const app = Fastify() as unknown as App;
  addPolicies(app, 1000);
  const timeouts = new Map<string, number | undefined>();
  app.addHook('onRoute', ({ url, handlerTimeout }) => void timeouts.set(url, handlerTimeout));
  app.get('/a', { config: { policy: READ } }, async () => ({}));
  app.post('/b', { config: { policy: { ...CREATE, timeout: 'store' } } }, async () => ({}));
  assert.deepEqual([timeouts.get('/a'), timeouts.get('/b')], [1000, undefined]);
});

test('READ is not audited, CREATE and CHANGE are, and only CREATE stores its response', () => {
  assert.deepEqual(
    [READ, CREATE, CHANGE].map(({ scope, audit, idempotency }) => [scope, audit, idempotency]),
    [
      ['read', false, 'unsupported'],
      ['submit', true, 'stored'],
      ['submit', true, 'unsupported'],
    ],
  );
});

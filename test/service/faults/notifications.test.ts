import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { isFinal } from '../../../src/core/states.ts';
import { startBench, until } from '../../support/dispatch.ts';
import { spawnPart, startDispatcherProcess } from '../../support/dispatcher-processes.ts';
import { type Received, receiverFor, secretsFor } from '../../support/notifications.ts';
import { freePort } from '../../support/redis.ts';

const TOKEN = 'token-of-the-tests-0123456789';
/** Of the api, each dispatcher and Redis in turn. */
const KILLS = Number(process.env.KILLS ?? 4);
const SPEC = {
  engine: 'replay',
  name: 'told',
  env: { FAKE_DRIVER: 'steps=2 delayMs=5 saves=true' },
  maxAttempts: 10,
};

test('kill -9 of api, dispatchers and Redis loses no notification and changes no order', {
  timeout: 400_000,
}, async (t) => {
  const bench = await startBench();
  t.after(() => bench.stop());
  const { store, server } = bench;
  const notify = await secretsFor(t);
  const port = await freePort();
  let api = await startApi();
  const dispatchers = [await startDispatcher(), await startDispatcher()];

  async function startApi() {
    const setup = { url: server.url, archive: bench.archive, port, token: TOKEN };
    const part = spawnPart(t, { script: 'api-process.ts', name: 'api', setup });
    await part.says('ready');
    return part;
  }
  function startDispatcher() {
    return startDispatcherProcess(bench, t, { id: `told-${Math.random()}`, notify });
  }
  async function call(method: string, path: string, body?: object, key = ''): Promise<{ id: string }> {
    let last = 'no answer';
    const ask = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${TOKEN}`,
          'content-type': 'application/json',
          ...(key && { 'idempotency-key': key }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(5_000),
      });
      last = await answer.text();
      if (answer.status >= 500 || answer.status === 409) return undefined;
      assert.equal(answer.ok, true, last);
      return JSON.parse(last) as { id: string };
    };
    return await until(
      () =>
        ask().catch((error: Error) => {
          if (error instanceof assert.AssertionError) throw error;
          last = String(error.cause ?? error);
          return undefined;
        }),
      `${method} ${path} is answered`,
      { instead: () => last },
    );
  }

  // Everything that a receiver answered 2xx, in order; a receiver may answer late, fail, or be gone.
  const quick = await receiverFor(t);
  const failing = await receiverFor(t, async () => {
    if (Math.random() < 0.2) await delay(100);
    return Math.random() < 0.1 ? 503 : 200;
  });
  const dying = await receiverFor(t);
  const receivers = [quick, failing, dying];
  const subscriptions: string[] = [];
  for (const { url } of receivers) {
    const body = {
      events: ['state', 'checkpoint', 'rule'],
      target: { kind: 'webhook', url, secret: 'hook' },
    };
    subscriptions.push((await call('POST', '/v1/subscriptions', body, `s-${url.length}-${url}`)).id);
  }

  const ids: string[] = [];
  let submitting = true;
  const submits = (async () => {
    for (let count = 0; submitting && count < 80; count += 1) {
      ids.push((await call('POST', '/v1/experiments', SPEC, `e-${count}`)).id);
      await delay(600);
    }
  })();
  for (let kill = 0; kill < KILLS; kill += 1) {
    await delay(500 + Math.random() * 700);
    if (kill % 3 === 0) await dying.stop();
    const victim = kill % 4;
    if (victim === 0) {
      api.kill('SIGKILL');
      await api.exited;
      api = await startApi();
    } else if (victim === 3) {
      await server.restart('SIGKILL');
    } else {
      dispatchers[victim - 1]!.kill('SIGKILL');
      await dispatchers[victim - 1]!.exited;
      dispatchers[victim - 1] = await startDispatcher();
    }
    if (kill % 3 === 1) await dying.start();
  }
  if (KILLS % 3 === 1) await dying.start();
  submitting = false;
  await submits;
  await until(
    async () =>
      (await Promise.all(ids.map((id) => store.experiments.get(id)))).every(
        (one) => one && isFinal(one.state),
      ),
    'all have ended',
    { seconds: 60 },
  );

  const entries = await allEntries(store);
  const expected = entries
    .filter(({ event }) => ['state', 'checkpoint', 'rule'].includes(event.type))
    .map(({ id }) => id);
  assert.ok(expected.length >= ids.length * 4);
  for (const [at, subscription] of subscriptions.entries()) {
    const { received } = receivers[at]!;
    await until(
      async () =>
        (await store.subscriptions.deliveries(subscription).catch(() => undefined))?.pending === 0 &&
        distinct(received).length >= expected.length,
      'all is delivered',
      {
        seconds: 60,
        instead: async () => ({
          ...(await store.subscriptions.deliveries(subscription)),
          got: distinct(received).length,
          expected: expected.length,
        }),
      },
    );
    assert.deepEqual(
      distinct(received).map(({ headers }) => String(headers['webhook-id'])),
      expected.map((id) => `${subscription}-${id}`),
    );
    for (const [, texts] of Map.groupBy(received, ({ headers }) => headers['webhook-id']))
      assert.equal(new Set(texts.map(({ text }) => text)).size, 1);
    t.diagnostic(
      `${ids.length} experiments, ${expected.length} messages, ${received.length - expected.length} duplicates after ${KILLS} kills`,
    );
  }
});

/** Without the repetitions. */
function distinct(received: readonly Received[]): Received[] {
  const seen = new Set<unknown>();
  return received.filter(({ headers }) => {
    const id = headers['webhook-id'];
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}

async function allEntries(store: Awaited<ReturnType<typeof startBench>>['store']) {
  const all = [];
  for (let after = '0'; ; ) {
    const page = await store.feed.read('default', after, 1_000);
    if (page.length === 0) return all;
    all.push(...page);
    after = page.at(-1)!.id;
  }
}

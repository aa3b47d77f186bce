import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { NumberedEvent } from '../../../src/core/events.ts';
import { createRayWorkerClient } from '../../../src/rpc/client.ts';
import { startFakeRayWorker } from '../../support/fake-ray-worker.ts';
import { appFor, LOCAL } from '../../support/http-app.ts';
import { SECRETS } from '../../support/secrets.ts';
import { coded, running, storeFor } from '../../support/store.ts';

/*
 * Attacks that concern runs, each with the expected answer. Others are elsewhere: a secret that a training prints
 * (integration/secrets/canary), missing, expired or foreign certificates (contract/rpc/tls), a ray-worker's
 * clock (unit/rpc/events).
 */

const log = (sequence: number, line = `line ${sequence}`): NumberedEvent => ({
  sequence,
  at: sequence,
  event: { type: 'log', source: 'stdout', lines: [line], cutBytes: 0 },
});

describe('a secret in plain text', () => {
  test('a spec with a secret in plain text is refused with its field, and the secret is stored and logged nowhere', async (t) => {
    const { store, redis } = await storeFor(t);
    const { call, logged } = await appFor(t, { store });
    for (const { kind, secret } of SECRETS)
      for (const body of [
        { ...LOCAL, name: `run with ${secret}` },
        { ...LOCAL, env: { HF_TOKEN: secret } },
        { ...LOCAL, environment: { seed: secret } },
        { ...LOCAL, secrets: { HF_TOKEN: secret } },
        { ...LOCAL, [secret]: true },
      ]) {
        const answer = await call('POST', '/v1/experiments', { body });
        assert.equal(answer.statusCode, 400, kind);
        assert.equal(answer.json().type, '/errors/invalid-spec', answer.body);
        assert.ok(!answer.body.includes(secret), answer.body);
      }
    const axes = { '/overrides/trainer.x': [SECRETS[0]!.secret] };
    const sweep = { name: 's', method: 'grid', spec: { engine: 'verl-agent' }, axes };
    const answer = await call('POST', '/v1/sweeps', { body: sweep });
    assert.equal(answer.statusCode, 400);
    assert.ok(!answer.body.includes(SECRETS[0]!.secret), answer.body);
    assert.deepEqual((await store.experiments.list({ limit: 10 })).items, []);
    const kept = JSON.stringify([logged, await redis.keys('*')]);
    for (const { secret } of SECRETS) assert.ok(!kept.includes(secret));
  });
});

describe('a ray-worker', () => {
  test('a ray-worker refuses a call with another token', async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'echelon-attacks-'));
    const rayWorker = await startFakeRayWorker({ directory, cpus: 1, gpus: 0 });
    t.after(async () => {
      await rayWorker.stop();
      await rm(directory, { recursive: true });
    });
    for (const token of ['', 'another', `${rayWorker.token}x`]) {
      const client = createRayWorkerClient({ address: rayWorker.address, token, ca: null, tries: 1 });
      await assert.rejects(client.describe(), /UNAUTHENTICATED/);
      client.close();
    }
  });
});

describe('events of an attempt', () => {
  test('events from a process without the lease, or from a former holder, are refused', async (t) => {
    const { store } = await storeFor(t);
    const lease = await running(store);
    for (const stranger of [
      { ...lease, token: 'stranger' },
      { ...lease, attempt: lease.attempt + 1 },
      { ...lease, attempt: 0 },
      { ...lease, experiment: 'exp-of-another' },
    ])
      await assert.rejects(store.events.append(stranger, [log(1)]), coded('lease-lost'));
    await store.attempts.end(lease, { to: 'failed', reason: '' });
    await assert.rejects(store.events.append(lease, [log(1)]), coded('lease-lost'));
    assert.ok(
      (await store.events.read(lease.experiment, undefined, 100)).every(
        ({ event }) => event.type === 'state',
      ),
    );
  });

  test('events with a gap, a changed repetition or an impossible number change nothing that is recorded', async (t) => {
    const { store } = await storeFor(t);
    const lease = await running(store);
    await assert.rejects(store.events.append(lease, [log(1), log(2), log(4)]), coded('sequence-gap'));
    await store.events.append(lease, [log(2, 'something else')]);
    for (const sequence of [2 ** 63, 0, -1, 1.5, Number.NaN])
      await assert.rejects(
        store.events.append(lease, [log(sequence)]),
        coded('invalid-request'),
        String(sequence),
      );
    const lines = (await store.events.read(lease.experiment, undefined, 100)).flatMap(({ event }) =>
      event.type === 'log' ? event.lines : [],
    );
    assert.deepEqual(lines, ['line 1', 'line 2']);
    assert.equal(await store.events.append(lease, [log(3)]), 3);
  });
});

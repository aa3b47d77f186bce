import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { counter, gauge } from '../../../src/observe/instruments.ts';
import { createMetrics } from '../../../src/observe/metrics.ts';
import type { StoreFigures } from '../../../src/observe/store-gauges.ts';
import { numberAt } from '../../support/exposition.ts';

const FIGURES: StoreFigures = {
  experiments: {},
  queueLength: 0,
  verificationBacklog: 0,
  archiveBacklog: 0,
  rulesBacklog: 0,
  leases: { held: 0, expired: 0 },
  clockLeap: 0,
  fault: null,
  memory: { usedBytes: 10, maxBytes: 100, accepting: true },
  clusters: [],
  projects: [],
  running: [],
};

function made(readStore: () => Promise<StoreFigures> = async () => FIGURES) {
  return createMetrics({
    role: 'api',
    version: '1.2.3',
    readStore,
    dispatcher: () => ({ attempts: 4, verifying: 1, cutOff: 2 }),
  });
}

test('names itself, and shows what the store says and what its dispatcher has in hand', async () => {
  const text = await made().text();
  assert.equal(numberAt(text, 'echelon_build_info', { version: '1.2.3', role: 'api' }), 1);
  assert.equal(numberAt(text, 'echelon_store_up', { role: 'api' }), 1);
  assert.equal(numberAt(text, 'echelon_dispatcher_attempts'), 4);
  assert.equal(numberAt(text, 'echelon_dispatcher_verifying'), 1);
  assert.equal(numberAt(text, 'echelon_dispatcher_clusters_cut_off'), 2);
});

test('a store that does not answer shows as such, until it does again', async () => {
  let away = true;
  const metrics = made(async () => (away ? Promise.reject(new Error('away')) : FIGURES));
  assert.equal(numberAt(await metrics.text(), 'echelon_store_up'), 0);
  away = false;
  assert.equal(numberAt(await metrics.text(), 'echelon_store_up'), 1);
});

test('counts what this process does', async () => {
  const metrics = made();
  metrics.claimed();
  assert.equal(numberAt(await metrics.text(), 'echelon_attempts_claimed_total'), 1);
});

test('instruments are shown by their registry alone', async () => {
  const [registry, other] = [new Registry(), new Registry()];
  gauge(registry, 'one', 'One', ['kind']).set({ kind: 'a' }, 2);
  counter(registry, 'two', 'Two').inc(3);
  const text = await registry.metrics();
  assert.deepEqual([numberAt(text, 'one', { kind: 'a' }), numberAt(text, 'two')], [2, 3]);
  assert.match(text, /# HELP one One/);
  assert.doesNotMatch(await other.metrics(), /one|two/);
});

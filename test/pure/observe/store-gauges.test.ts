import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import {
  createStoreGauges,
  SHOWN_EXPERIMENTS,
  type StoreFigures,
} from '../../../src/observe/store-gauges.ts';
import { numberAt } from '../../support/exposition.ts';

const FIGURES: StoreFigures = {
  experiments: { queued: 3, running: 1 },
  queueLength: 3,
  verificationBacklog: 7,
  archiveBacklog: 3,
  rulesBacklog: 5,
  leases: { held: 1, expired: 2 },
  clockLeap: 86_400_000,
  fault: 'store-foreign',
  memory: { usedBytes: 10, maxBytes: 100, accepting: true },
  clusters: [
    {
      name: 'a',
      lastSeenAt: 5000,
      unknownAttempts: 2,
      nodes: [
        { gpusTotal: 8, gpusUsed: 2, cpusTotal: 64, cpusUsed: 4 },
        { gpusTotal: 8, gpusUsed: 0, cpusTotal: 64, cpusUsed: 0 },
      ],
      allocated: [{ gpus: 2, cpus: 3 }],
    },
  ],
  projects: [
    {
      name: 'p',
      gpusHeld: 2,
      gpuQuota: 4,
      weight: 1,
      share: 0.1,
      paused: false,
      storeBytes: 1,
      storeLimitBytes: 2,
    },
  ],
  running: [
    {
      id: 'exp-1',
      step: 3,
      steps: 40,
      metrics: { 'val/success_rate': 0.5, loss: 1, bad_success_rate: 'NaN' },
    },
  ],
};

/** The text after each scrape that found these figures. */
function bench(): (figures: StoreFigures | undefined) => Promise<string> {
  const registry = new Registry();
  const show = createStoreGauges(registry);
  return async (figures) => {
    show(figures);
    return await registry.metrics();
  };
}

test('shows what the store says', async () => {
  const text = await bench()(FIGURES);
  const of = (name: string, labels = {}) => numberAt(text, name, labels);
  assert.equal(of('echelon_store_up'), 1);
  assert.equal(of('echelon_queue_length'), 3);
  assert.equal(of('echelon_experiments', { state: 'running' }), 1);
  assert.equal(of('echelon_leases', { kind: 'expired' }), 2);
  assert.equal(of('echelon_verification_backlog'), 7);
  assert.equal(of('echelon_archive_backlog'), 3);
  assert.equal(of('echelon_rules_backlog'), 5);
  assert.equal(of('echelon_store_clock_leap_seconds'), 86_400);
  assert.equal(of('echelon_store_refused', { code: 'store-foreign' }), 1);
  assert.equal(of('echelon_cluster_gpus', { cluster: 'a', kind: 'total' }), 16);
  assert.equal(of('echelon_cluster_gpus', { cluster: 'a', kind: 'allocated' }), 2);
  assert.equal(of('echelon_cluster_last_seen_timestamp_seconds', { cluster: 'a' }), 5);
  assert.equal(of('echelon_cluster_unknown_attempts', { cluster: 'a' }), 2);
  assert.equal(of('echelon_training_step', { experiment: 'exp-1' }), 3);
  assert.equal(of('echelon_training_success_rate', { metric: 'val/success_rate' }), 0.5);
  assert.equal(of('echelon_training_success_rate', { metric: 'bad_success_rate' }), undefined);
});

test('a store that does not answer shows as such, and its old figures are gone', async () => {
  const textOf = bench();
  await textOf(FIGURES);
  const text = await textOf(undefined);
  assert.equal(numberAt(text, 'echelon_store_up'), 0);
  for (const name of [
    'echelon_queue_length',
    'echelon_experiments',
    'echelon_cluster_gpus',
    'echelon_verification_backlog',
    'echelon_archive_backlog',
    'echelon_rules_backlog',
  ])
    assert.equal(numberAt(text, name), undefined, name);
  assert.equal(numberAt(await textOf(FIGURES), 'echelon_queue_length'), 3);
});

test('what is gone from the store is gone from the gauges', async () => {
  const textOf = bench();
  await textOf(FIGURES);
  const text = await textOf({ ...FIGURES, clusters: [], running: [], projects: [] });
  assert.equal(numberAt(text, 'echelon_cluster_gpus'), undefined);
  assert.equal(numberAt(text, 'echelon_training_step'), undefined);
  assert.equal(numberAt(text, 'echelon_project_gpus'), undefined);
});

test('the number of experiments shown one by one is bounded', async () => {
  const running = Array.from({ length: SHOWN_EXPERIMENTS * 2 }, (_, at) => ({
    ...FIGURES.running[0]!,
    id: `exp-${at}`,
  }));
  const text = await bench()({ ...FIGURES, running });
  assert.equal(text.match(/^echelon_training_step\{/gm)?.length, SHOWN_EXPERIMENTS);
});

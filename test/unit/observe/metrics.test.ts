import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics, SHOWN_EXPERIMENTS, type StoreFigures } from '../../../src/observe/metrics.ts';
import { RULE_ACTIONS } from '../../../src/schemas/rules.ts';

const FIGURES: StoreFigures = {
  experiments: { queued: 3, running: 1 },
  queueLength: 3,
  verificationBacklog: 7,
  archiveBacklog: 3,
  leases: { held: 1, expired: 2 },
  memory: { usedBytes: 10, maxBytes: 100, accepting: true },
  clusters: [
    {
      name: 'a',
      lastSeenAt: 5000,
      nodes: [
        { gpusTotal: 8, gpusUsed: 2, cpusTotal: 64, cpusUsed: 4 },
        { gpusTotal: 8, gpusUsed: 0, cpusTotal: 64, cpusUsed: 0 },
      ],
      reserved: [{ gpus: 2, cpus: 3 }],
    },
  ],
  projects: [{ name: 'p', gpusHeld: 2, gpuQuota: 4, weight: 1, share: 0.1, paused: false }],
  running: [
    {
      id: 'exp-1',
      step: 3,
      steps: 40,
      metrics: { 'val/success_rate': 0.5, loss: 1, bad_success_rate: 'NaN' },
    },
  ],
};

function made(readStore: () => Promise<StoreFigures> = async () => FIGURES) {
  return createMetrics({
    role: 'api',
    version: '1.2.3',
    readStore,
    dispatcher: () => ({ attempts: 4, verifying: 1 }),
  });
}

/** Value of a line, by name and labels in any order. */
function numberAt(text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  for (const line of text.split('\n')) {
    const found = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (found?.[1] !== name) continue;
    const wanted = Object.entries(labels).every(([key, value]) => found[2]?.includes(`${key}="${value}"`));
    if (wanted) return Number(found[3]);
  }
  return undefined;
}

test('shows what the store says', async () => {
  const text = await made().text();
  const of = (name: string, labels = {}) => numberAt(text, name, labels);
  assert.equal(of('echelon_store_up'), 1);
  assert.equal(of('echelon_queue_length'), 3);
  assert.equal(of('echelon_experiments', { state: 'running' }), 1);
  assert.equal(of('echelon_leases', { kind: 'expired' }), 2);
  assert.equal(of('echelon_verification_backlog'), 7);
  assert.equal(of('echelon_archive_backlog'), 3);
  assert.equal(of('echelon_cluster_gpus', { cluster: 'a', kind: 'total' }), 16);
  assert.equal(of('echelon_cluster_gpus', { cluster: 'a', kind: 'handed-out' }), 2);
  assert.equal(of('echelon_cluster_last_seen_timestamp_seconds', { cluster: 'a' }), 5);
  assert.equal(of('echelon_training_step', { experiment: 'exp-1' }), 3);
  assert.equal(of('echelon_training_success_rate', { metric: 'val/success_rate' }), 0.5);
  assert.equal(of('echelon_training_success_rate', { metric: 'bad_success_rate' }), undefined);
  assert.equal(of('echelon_build_info', { version: '1.2.3', role: 'api' }), 1);
  assert.equal(of('echelon_dispatcher_attempts'), 4);
});

test('a store that does not answer shows as such, and its old figures are gone', async () => {
  let away = false;
  const metrics = made(async () => (away ? Promise.reject(new Error('away')) : FIGURES));
  await metrics.text();
  away = true;
  const text = await metrics.text();
  assert.equal(numberAt(text, 'echelon_store_up'), 0);
  for (const name of [
    'echelon_queue_length',
    'echelon_experiments',
    'echelon_cluster_gpus',
    'echelon_verification_backlog',
    'echelon_archive_backlog',
  ])
    assert.equal(numberAt(text, name), undefined, name);
  away = false;
  assert.equal(numberAt(await metrics.text(), 'echelon_queue_length'), 3);
});

test('what is gone from the store is gone from the gauges', async () => {
  let figures = FIGURES;
  const metrics = made(async () => figures);
  await metrics.text();
  figures = { ...FIGURES, clusters: [], running: [], projects: [] };
  const text = await metrics.text();
  assert.equal(numberAt(text, 'echelon_cluster_gpus'), undefined);
  assert.equal(numberAt(text, 'echelon_training_step'), undefined);
  assert.equal(numberAt(text, 'echelon_project_gpus'), undefined);
});

test('the number of experiments shown one by one is bounded', async () => {
  const running = Array.from({ length: SHOWN_EXPERIMENTS * 2 }, (_, at) => ({
    ...FIGURES.running[0]!,
    id: `exp-${at}`,
  }));
  const text = await made(async () => ({ ...FIGURES, running })).text();
  assert.equal(text.match(/^echelon_training_step\{/gm)?.length, SHOWN_EXPERIMENTS);
});

test('what an alert counts is there before it happens, so that its first time is an increase', async () => {
  const text = await made().text();
  for (const outcome of ['wrong', 'unverifiable'])
    assert.equal(numberAt(text, 'echelon_verification_rows_total', { outcome }), 0);
  for (const action of RULE_ACTIONS)
    assert.equal(numberAt(text, 'echelon_rules_fired_total', { do: action }), 0);
  assert.equal(numberAt(text, 'echelon_rules_stopped_total'), 0);
});

test('counts what this process does', async () => {
  const metrics = made();
  metrics.answered({ method: 'GET', route: '/v1/x/:id', status: 200, seconds: 0.02, stream: false });
  metrics.answered({ method: 'GET', route: '/v1/events', status: 200, seconds: 3600, stream: true });
  metrics.appended({ seconds: 0.001, events: 10, droppedRows: 5, ok: true });
  metrics.appended({ seconds: 0.9, events: 99, droppedRows: 99, ok: false });
  const report = { rows: 6, exact: 3, rounding: 2, wrong: 1, unverifiable: 0, errors: ['x'], ok: false };
  metrics.reported(report);
  metrics.verified(0.1);
  metrics.claimed();
  metrics.takenOver(2);
  metrics.ended('failed');
  metrics.ruled({ actions: ['mark', 'mark', 'stop'], stopped: true });
  metrics.ruled({ actions: [], stopped: false });
  const text = await metrics.text();
  const of = (name: string, labels = {}) => numberAt(text, name, labels);
  assert.equal(of('echelon_http_request_duration_seconds_count', { route: '/v1/x/:id', status: '200' }), 1);
  assert.equal(of('echelon_http_streams_ended_total'), 1);
  assert.equal(text.includes('/v1/events'), false);
  assert.equal(of('echelon_append_events_total'), 10);
  assert.equal(of('echelon_rows_dropped_total'), 5);
  assert.equal(of('echelon_append_duration_seconds_count', { outcome: 'failed' }), 1);
  assert.equal(of('echelon_verification_rows_total', { outcome: 'wrong' }), 1);
  assert.equal(of('echelon_verification_batches_total', { verdict: 'not-ok' }), 1);
  assert.equal(of('echelon_verification_errors_total', { code: 'x' }), 1);
  assert.equal(of('echelon_attempts_taken_over_total'), 2);
  assert.equal(of('echelon_rules_fired_total', { do: 'mark' }), 2);
  assert.equal(of('echelon_rules_stopped_total'), 1);
  assert.equal(of('echelon_attempts_ended_total', { to: 'failed' }), 1);
});

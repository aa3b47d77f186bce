import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { createWorkCounters } from '../../../src/observe/work-counters.ts';
import { RULE_ACTIONS } from '../../../src/schemas/rules.ts';
import { numberAt } from '../../support/exposition.ts';

test('what an alert counts is there before it happens, so that its first time is an increase', async () => {
  const registry = new Registry();
  createWorkCounters(registry);
  const text = await registry.metrics();
  for (const outcome of ['wrong', 'unverifiable'])
    assert.equal(numberAt(text, 'echelon_verification_rows_total', { outcome }), 0);
  for (const action of RULE_ACTIONS)
    assert.equal(numberAt(text, 'echelon_rules_fired_total', { do: action }), 0);
  assert.equal(numberAt(text, 'echelon_rules_stopped_total'), 0);
});

test('counts what this process does', async () => {
  const registry = new Registry();
  const work = createWorkCounters(registry);
  work.answered({ method: 'GET', route: '/v1/x/:id', status: 200, seconds: 0.02, stream: false });
  work.answered({ method: 'GET', route: '/v1/events', status: 200, seconds: 3600, stream: true });
  work.appended({ seconds: 0.001, events: 10, droppedRows: 5, ok: true });
  work.appended({ seconds: 0.9, events: 99, droppedRows: 99, ok: false });
  const report = { rows: 6, exact: 3, rounding: 2, wrong: 1, unverifiable: 0, errors: ['x'], ok: false };
  work.reported(report);
  work.spent({ gpuSeconds: 90, signal: 'without' });
  work.verified(0.1);
  work.claimed();
  work.takenOver(2);
  work.ended('failed');
  work.ruled({ actions: ['mark', 'mark', 'stop'], stopped: true });
  work.ruled({ actions: [], stopped: false });
  const text = await registry.metrics();
  const of = (name: string, labels = {}) => numberAt(text, name, labels);
  assert.equal(of('echelon_http_request_duration_seconds_count', { route: '/v1/x/:id', status: '200' }), 1);
  assert.equal(of('echelon_http_streams_ended_total'), 1);
  assert.equal(text.includes('/v1/events'), false);
  assert.equal(of('echelon_append_events_total'), 10);
  assert.equal(of('echelon_rows_dropped_total'), 5);
  assert.equal(of('echelon_append_duration_seconds_count', { outcome: 'failed' }), 1);
  assert.equal(of('echelon_verification_rows_total', { outcome: 'wrong' }), 1);
  assert.equal(of('echelon_verification_batches_total', { result: 'not-ok' }), 1);
  assert.equal(of('echelon_verification_errors_total', { code: 'x' }), 1);
  assert.equal(of('echelon_gpu_seconds_total', { signal: 'without' }), 90);
  assert.equal(of('echelon_gpu_seconds_total', { signal: 'with' }), 0);
  assert.equal(of('echelon_attempts_taken_over_total'), 2);
  assert.equal(of('echelon_rules_fired_total', { do: 'mark' }), 2);
  assert.equal(of('echelon_rules_stopped_total'), 1);
  assert.equal(of('echelon_attempts_ended_total', { to: 'failed' }), 1);
});

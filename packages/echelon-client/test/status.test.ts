import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusOf } from '../src/status.ts';

test('a succeeded experiment with a wrong signal has the tone of a wrong one', () => {
  const status = statusOf({ state: 'succeeded', verification: { signal: 'wrong' } });
  assert.deepEqual(status, { text: 'succeeded, signal wrong', tone: 'wrong' });
});

test('a right signal and an experiment without reports leave the state alone', () => {
  for (const signal of ['right', null] as const)
    assert.deepEqual(statusOf({ state: 'running', verification: { signal } }), {
      text: 'running',
      tone: 'state',
    });
  assert.deepEqual(statusOf({ state: 'queued', verification: null }), { text: 'queued', tone: 'state' });
});

test('a succeeded training with unverifiable rows is not green, and a failed one keeps its tone', () => {
  const verification = { signal: 'unverified' } as const;
  assert.deepEqual(statusOf({ state: 'succeeded', verification }), {
    text: 'succeeded, signal unverified',
    tone: 'unverified',
  });
  assert.equal(statusOf({ state: 'failed', verification }).tone, 'state');
});

test('a prompted evaluation is named as no training', () => {
  const status = statusOf({
    state: 'succeeded',
    verification: { signal: 'unverified' },
    resolved: { engine: 'prompt' },
  });
  assert.deepEqual(status, { text: 'succeeded, no training', tone: 'state' });
});

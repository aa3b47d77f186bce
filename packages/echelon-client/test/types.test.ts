import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExperimentEvent, LocalSpec } from '../src/index.ts';
import { shortNode } from '../src/short-node.ts';

/** Compiles only if every event type is handled and has its own fields. */
function inWords(event: ExperimentEvent): string {
  switch (event.type) {
    case 'started':
      return `pid ${event.pid}`;
    case 'ended':
      return event.cause;
    case 'log':
      return event.lines.join();
    case 'stage':
    case 'metrics':
    case 'checkpoint':
    case 'stored':
    case 'evaluation':
    case 'verification':
    case 'rule':
      return `step ${'step' in event ? event.step : 0}`;
    case 'batch':
    case 'gap':
      return `${event.rows} rows`;
    case 'state':
      return event.to;
    case 'preemption':
      return event.reason;
    default:
      return event satisfies never;
  }
}

test('a switch over the event types is exhaustive, and a field of another type does not compile', () => {
  const started: ExperimentEvent = { type: 'started', pid: 7, nodeId: 'n', command: [] };
  assert.equal(inWords(started), 'pid 7');
  // @ts-expect-error: a field that the event does not have
  assert.equal(started.exitCode, undefined);
  // @ts-expect-error: a type that there is not
  const unknown: ExperimentEvent['type'] = 'finished';
  assert.equal(unknown, 'finished');
});

test('an estimator type accepts only its own fields', () => {
  const hgpo: LocalSpec['estimator'] = { name: 'hgpo', historyLength: 2 };
  if (hgpo.name === 'hgpo') assert.equal(hgpo.historyLength, 2);
  // @ts-expect-error: GRPO has no history
  const grpo: LocalSpec['estimator'] = { name: 'grpo', historyLength: 2 };
  assert.equal(grpo.name, 'grpo');
});

test('a long node id is said by its first letters, a name as it is', () => {
  assert.equal(shortNode('a'.repeat(56)), 'aaaaaaaa');
  assert.equal(shortNode('gpu-02'), 'gpu-02');
});

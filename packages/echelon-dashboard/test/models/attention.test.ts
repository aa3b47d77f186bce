import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attention, newestOf } from '../../src/models/attention.ts';

const one = (id: string, state: string, wrong = 0, stoppedBy: unknown = null) => ({
  id,
  state,
  stoppedBy,
  verification: { wrong, unverifiable: 0, errors: 0 },
});

test('wrong rows, failures and stops by a rule need attention; running experiments have their own list', () => {
  const found = attention([
    one('ok', 'succeeded'),
    one('bad', 'running', 3),
    one('ended', 'failed'),
    one('stopped', 'cancelled', 0, { rule: 'plateau' }),
  ]);
  const ids = (list: { id: string }[]) => list.map(({ id }) => id);
  assert.deepEqual(ids(found.wrong), ['bad']);
  assert.deepEqual(ids(found.failed), ['ended', 'stopped']);
  assert.deepEqual(ids(found.running), ['bad']);
});

test('an experiment of several lists is there once, the newest first', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((id, submittedAt) => ({ id, submittedAt })) as [
    ...{ id: string; submittedAt: number }[],
  ];
  assert.deepEqual(newestOf([a!, b!], [c!, b!]), [c, b, a]);
});

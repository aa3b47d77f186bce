import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  attention,
  grouped,
  isFinal,
  isOver,
  mergeNewest,
  newestOf,
  progressOf,
} from '../../src/models/experiments.ts';

const list = (...ids: string[]) => ids.map((id) => ({ id }));

test('a new first page replaces its entries, adds new ones in front and keeps older ones', () => {
  assert.deepEqual(mergeNewest(list('c', 'b', 'a'), list('d', 'c'), true), list('d', 'c', 'b', 'a'));
});

test('an entry that was deleted between two others disappears', () => {
  assert.deepEqual(mergeNewest(list('d', 'c', 'b', 'a'), list('d', 'b'), true), list('d', 'b', 'a'));
  assert.deepEqual(mergeNewest(list('b', 'a'), list('a'), false), list('a'));
});

test('an ended experiment is over only when its batches are verified', () => {
  assert.equal(isOver({ state: 'succeeded', verification: { status: 'pending' } }), false);
  assert.equal(isOver({ state: 'failed', verification: { status: 'complete' } }), true);
  assert.equal(isFinal('cancelling'), false);
});

test('progress names the step, and has a share only if the number of steps is known', () => {
  const one = (step: number, steps: number, stage = '') =>
    progressOf({
      id: 'x',
      state: 'running',
      verification: { status: 'pending' },
      progress: { stage, step, steps },
    });
  assert.deepEqual(one(3, 12), { text: 'step 3 of 12', share: 0.25 });
  assert.deepEqual(one(3, 0), { text: 'step 3', share: undefined });
  assert.deepEqual(one(0, 0, 'loading'), { text: 'loading', share: undefined });
});

const one = (id: string, state: string, signal: string | null = 'right', stoppedBy: unknown = null) => ({
  id,
  state,
  stoppedBy,
  verification: { signal },
});

test('wrong signals, failures and stops by a rule need attention once each, and active experiments do not', () => {
  const found = attention([
    one('ok', 'succeeded'),
    one('bad', 'running', 'wrong'),
    one('both', 'failed', 'wrong'),
    one('ended', 'failed'),
    one('stopped', 'cancelled', 'unverified', { rule: 'plateau' }),
    one('prompted', 'succeeded', 'unverified'),
  ]);
  assert.deepEqual(
    found.map(({ id }) => id),
    ['both', 'ended', 'stopped'],
  );
});

test('an experiment of several lists is there once, the newest first', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((id, submittedAt) => ({ id, submittedAt })) as [
    ...{ id: string; submittedAt: number }[],
  ];
  assert.deepEqual(newestOf([a!, b!], [c!, b!]), [c, b, a]);
});

test('groups are in the order of their first experiment, count what is wrong, and hide what is closed', () => {
  const one = (id: string, tags: string[], signal: string | null = null) => ({
    ...{ id, name: id, sweep: null, project: 'p', cluster: null, owner: null, tags, state: 'running' },
    ...{ stoppedBy: null, verification: { signal } },
  });
  const lines = grouped([one('a', ['x']), one('b', []), one('c', ['y', 'x'], 'wrong')], 'tag', new Set(['']));
  assert.deepEqual(
    lines.map((line) => ('group' in line ? [line.title, line.size, line.active, line.wrong] : line.id)),
    [['x', 2, 2, 1], 'a', 'c', ['no tag', 1, 1, 0], ['y', 1, 1, 1], 'c'],
  );
});

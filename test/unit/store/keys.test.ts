import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeys } from '../../../src/store/keys.ts';

test('no two keys have one name', () => {
  const keys = createKeys('p');
  const names = [
    keys.line,
    keys.leases,
    keys.pending,
    keys.clusters,
    keys.versions,
    keys.wake,
    keys.reserved('queued'),
    keys.index({}),
    keys.index({ project: 'queued' }),
    keys.index({ state: 'queued' }),
    keys.index({ state: 'queued', project: 'queued' }),
    ...['x', 'y'].flatMap((id) => [
      keys.experiment(id),
      keys.events(id),
      keys.metrics(id),
      keys.attempts(id),
      keys.batches(id),
      keys.reports(id),
      keys.changed(id),
    ]),
  ];
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.ok(name.startsWith('{p}:'));
});

test('a prefix with braces would take the hash tag apart', () => {
  for (const bad of ['', '{a}', 'a}b', 'a b']) assert.throws(() => createKeys(bad), TypeError);
});

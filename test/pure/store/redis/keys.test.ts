import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createKeys } from '../../../../src/store/redis/keys.ts';
import { documentedKeys } from '../../../support/redis-keys.ts';

test('no two keys have one name', () => {
  const keys = createKeys('p');
  const names = [
    keys.queue,
    keys.allocated,
    keys.leases,
    keys.pending,
    keys.clusters,
    keys.versions,
    keys.wake,
    keys.allocations('queued'),
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

// Fails where a step makes a key that docs/reference/redis-keys.md does not have: what it is, and when it goes.
test('every name of a key in the code is listed', () => {
  const folder = new URL('../../../../src/store/', import.meta.url);
  const listed = documentedKeys().map(({ name }) => name);
  // Channels, and an argument of scripts that has the form of a key.
  const others = ['wake', 'feed-changed', 'x:<experiment>:changed', 'is:<installation>'];
  const places: Record<string, string> = { root: '', x: 'x:<experiment>:', s: 'sweep:<sweep>:' };
  const unlisted = new Set<string>();
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(ts|lua)$/.test(file)) continue;
    const text = readFileSync(new URL(file, folder), 'utf8').replaceAll('KEYS[1]', 'root');
    for (const [, place, name] of text.matchAll(/\b(root|x|s)(?: \.\. '|\}):([a-z][a-z:-]*)/g)) {
      const begin = `${places[place!]}${name}`.replace('due:batches', 'due:<stage>');
      if (![...listed, ...others].some((one) => one.startsWith(begin))) unlisted.add(`${file}: ${begin}`);
    }
  }
  assert.deepEqual([...unlisted], []);
});

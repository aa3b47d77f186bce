import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { EchelonError } from '../../../../src/core/errors.ts';
import { DEFAULT_STORE_LIMITS } from '../../../../src/store/context.ts';
import { createKeys } from '../../../../src/store/redis/keys.ts';
import { createWaker, orNothing } from '../../../../src/store/redis/waker.ts';
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

test('the default limits agree with one another', () => {
  for (const [name, value] of Object.entries(DEFAULT_STORE_LIMITS)) assert.ok(value > 0, name);
  assert.ok(DEFAULT_STORE_LIMITS.acceptShare <= 0.7, 'admission stops far below maxmemory');
  assert.ok(DEFAULT_STORE_LIMITS.inlineBytes <= DEFAULT_STORE_LIMITS.appendBytes);
  // 8,000 values are the most that a script can spread into one command.
  assert.ok(DEFAULT_STORE_LIMITS.appendEvents * 6 < 8000);
});

test('a wake-up before the wait counts, and a timeout ends the wait', async () => {
  const waker = createWaker();
  waker.wake();
  await waker.wait(60_000);
  waker.reset();
  const waiting = waker.wait(60_000);
  waker.wake();
  await waiting;
  waker.reset();
  await waker.wait(1);
  waker.stop();
});

test('orNothing returns undefined for an unavailable server and rethrows other errors', async () => {
  assert.equal(await orNothing(Promise.resolve(3)), 3);
  assert.equal(await orNothing(Promise.reject(new EchelonError('store-unavailable', 'away'))), undefined);
  await assert.rejects(orNothing(Promise.reject(new EchelonError('not-found', 'none'))), {
    code: 'not-found',
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RayUnreachableError } from 'ray-client-ts/errors';
import { freePort } from '../../../../../src/cli/local/processes.ts';
import { packRayWorker } from '../../../../../src/dispatch/clusters/setup/package.ts';
import { endRayWorker, setUpCluster } from '../../../../../src/dispatch/clusters/setup/set-up.ts';

// What it does on a Ray is tested on one: test/system/clusters.test.ts.
const directoryOf = (name: string) => new URL(`../../../../../deploy/${name}`, import.meta.url).pathname;
const place = async () => ({
  address: `ray://127.0.0.1:${await freePort()}`,
  token: 't',
  tls: null,
  sharedRoot: '/s',
  node: null,
  port: null,
  advertise: null,
});

test('an unreachable Ray is an error, after the first step was reported', { timeout: 60_000 }, async () => {
  const said: string[] = [];
  const setUp = setUpCluster('a', await place(), {
    pack: () => packRayWorker({ rayWorker: directoryOf('ray-worker'), capture: directoryOf('capture') }),
    say: async (line) => void said.push(line),
    warn: (message) => assert.fail(message),
    connectMs: 300,
    signal: new AbortController().signal,
  });
  await assert.rejects(setUp, RayUnreachableError);
  assert.match(said.join(), /^connecting to ray:\/\/127/);
});

test('ending the ray-worker of an unreachable Ray is an error', { timeout: 60_000 }, async () => {
  await assert.rejects(endRayWorker(await place(), 300), RayUnreachableError);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '../../../../src/cli/local/processes.ts';
import { packRayWorker } from '../../../../src/dispatch/cluster-setup/package.ts';
import {
  ACTOR,
  endRayWorker,
  listeningHost,
  setUpCluster,
} from '../../../../src/dispatch/cluster-setup/set-up.ts';
import { RayUnreachableError } from '../../../../src/ray/errors.ts';

// What it does on a Ray is tested on one: test/e2e/clusters.test.ts.
const PACKAGE = new URL('../../../../deploy/ray-worker', import.meta.url).pathname;
const place = async () => ({
  ...{ address: `ray://127.0.0.1:${await freePort()}`, token: 't', tls: null },
  ...{ sharedRoot: '/s', node: null, port: null, advertise: null },
});

test('where nobody listens it says so, and says first what it does', { timeout: 60_000 }, async () => {
  const said: string[] = [];
  const setUp = setUpCluster('a', await place(), {
    pack: () => packRayWorker(PACKAGE),
    say: async (line) => void said.push(line),
    warn: (message) => assert.fail(message),
    connectMs: 300,
    signal: new AbortController().signal,
  });
  await assert.rejects(setUp, RayUnreachableError);
  assert.match(said.join(), /^connecting to ray:\/\/127/);
});

test('the actor has the name under which it is started by hand', async () => {
  const actor = await import('node:fs').then(({ readFileSync }) =>
    readFileSync(`${PACKAGE}/echelon_rayworker/actor.py`, 'utf8'),
  );
  assert.ok(
    actor.includes(`ACTOR_NAME = "${ACTOR.name}"`) && actor.includes(`NAMESPACE = "${ACTOR.namespace}"`),
  );
});

test('ending needs a Ray as well', { timeout: 60_000 }, async () => {
  await assert.rejects(endRayWorker(await place(), 300), RayUnreachableError);
});

test('on one machine the ray-worker listens on loopback, in a fleet where Ray listens', () => {
  const [head, other] = [
    { id: 'h', address: '10.0.0.1' },
    { id: 'o', address: '10.0.0.2' },
  ];
  const host = (address: string, node: typeof head, advertise: string | null = null) =>
    listeningHost({ address, advertise }, node, head);
  for (const near of [
    'ray://127.0.0.1:10001',
    'ray://localhost:10001',
    'ray://[::1]:10001',
    '127.0.0.1:10001',
  ])
    assert.equal(host(near, head), '127.0.0.1', near);
  assert.equal(host('ray://127.0.0.1:10001', other), '10.0.0.2');
  assert.equal(host('ray://10.0.0.1:10001', head), '10.0.0.1');
  assert.equal(host('ray://localhost.example:10001', head), '10.0.0.1');
  assert.equal(host('ray://127.0.0.1:10001', head, 'gate:9000'), '10.0.0.1');
});

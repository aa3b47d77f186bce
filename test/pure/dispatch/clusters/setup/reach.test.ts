import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '../../../../../src/cli/local/processes.ts';
import { isLoopback, listeningHost, reach } from '../../../../../src/dispatch/clusters/setup/reach.ts';

test("the ray-worker listens on loopback on one machine, and on Ray's address in a fleet", () => {
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

test('a loopback address is distinguished from one that begins like it', () => {
  for (const address of ['127.0.0.1:1', 'localhost:1', '[::1]:1']) assert.ok(isLoopback(address), address);
  for (const address of ['10.127.0.1:1', 'localhost.example:1']) assert.ok(!isLoopback(address), address);
});

test('the remedy for an unreachable ray-worker fits the kind of its address', async () => {
  const connection = {
    address: '',
    version: '1',
    generation: 'g',
    token: 't',
    ca: null,
    nodeId: 'n',
    stateDir: '/s',
    sharedRoot: '/s',
  };
  const { signal } = new AbortController();
  const reached = reach(`127.0.0.1:${await freePort()}`, connection, { signal, reachMs: 200 });
  await assert.rejects(reached, { message: /cannot be reached from here/, remedy: /--node-ip-address/ });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createChannel } from '../src/channel.ts';
import { assertAlive, createCluster, parseDashboard, parseNamedActors, parseNodes } from '../src/cluster.ts';
import { startFakeRay } from './support/fake-ray.ts';

describe('what the cluster answers', () => {
  test('nodes are read from the answer, and absent fields are empty', () => {
    const [head, dead] = parseNodes([
      {
        NodeID: 'ab',
        Alive: true,
        NodeManagerAddress: '10.0.0.1',
        NodeManagerHostname: 'h',
        Resources: { CPU: 2, 'node:__internal_head__': 1 },
        Labels: { zone: 'z' },
      },
      { NodeID: 'cd', alive: false },
    ]);
    assert.deepEqual(
      [head?.isHead, head?.alive, head?.resources.CPU, head?.labels],
      [true, true, 2, { zone: 'z' }],
    );
    assert.deepEqual([dead?.isHead, dead?.alive, dead?.address, dead?.resources], [false, false, '', {}]);
    assert.throws(() => parseNodes({}), /no list/);
  });

  test('the address of the dashboard is read in both forms', () => {
    assert.equal(parseDashboard({ dashboard_url: 'h:8265' }), 'h:8265');
    assert.equal(parseDashboard(''), undefined);
    assert.equal(parseDashboard({ dashboard_url: '' }), undefined);
  });

  test('named actors are read in both forms', () => {
    assert.deepEqual(parseNamedActors('["a"]', 'ns'), [{ name: 'a', namespace: 'ns' }]);
    assert.deepEqual(parseNamedActors('[{"name":"a","namespace":"other"}]', 'ns'), [
      { name: 'a', namespace: 'other' },
    ]);
    assert.throws(() => parseNamedActors('{}', 'ns'), /no list/);
  });
});

test('a node must be alive to be chosen', async () => {
  const json = [
    { NodeID: 'ab', Alive: true },
    { NodeID: 'cd', Alive: false },
  ];
  const cluster = { nodes: async () => parseNodes(json) };
  await assertAlive(cluster, 'ab');
  await assert.rejects(assertAlive(cluster, 'cd'), /no live node cd/);
  await assert.rejects(assertAlive(cluster, 'ef'), /no live node ef/);
});

test('questions go out as unary calls', async () => {
  await using ray = await startFakeRay();
  const channel = createChannel({ address: ray.address });
  const cluster = createCluster(channel, 'c');
  assert.deepEqual(await cluster.nodes(), []);
  assert.deepEqual(await cluster.clusterResources(), {});
  assert.equal(await cluster.dashboardUrl(), undefined);
  channel.close();
});

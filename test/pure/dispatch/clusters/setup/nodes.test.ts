import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RayNode } from 'ray-client-ts/cluster';
import { SetupError } from '../../../../../src/dispatch/clusters/setup/problems.ts';
import { findNode, headOf, sizeInWords } from '../../../../../src/dispatch/clusters/setup/reach.ts';

const node = (id: string, address: string, more: Partial<RayNode> = {}) =>
  ({ id, address, hostname: `host-${id.at(0)}`, resources: {}, isHead: false, ...more }) as RayNode;
const NODES = [
  node('aaaaaaaa11', '10.0.0.1', { resources: { CPU: 8 } }),
  node('bbbbbbbb22', '10.0.0.2', { resources: { CPU: 4, GPU: 2 }, isHead: true }),
];

test('a node is found by its id, a prefix of it, its address or its host name', () => {
  for (const name of ['aaaaaaaa11', 'aaaaaaaa', '10.0.0.1', 'host-a'])
    assert.equal(findNode(NODES, name), NODES[0]);
  assert.throws(() => findNode(NODES, 'aaaa'), SetupError);
  assert.throws(() => findNode(NODES, '10.0.0.3'), /No node of the cluster is 10\.0\.0\.3/);
  assert.throws(() => findNode([NODES[0]!, NODES[0]!], 'host-a'), /More than one node/);
});

test("the head is Ray's head node, or the first node", () => {
  assert.equal(headOf(NODES), NODES[1]);
  assert.equal(headOf(NODES.slice(0, 1)), NODES[0]);
  assert.throws(() => headOf([]), /no live node/);
});

test('the size is summed over the nodes', () => {
  assert.equal(sizeInWords(NODES), '2 nodes, 2 GPUs and 12 CPUs');
  assert.equal(sizeInWords(NODES.slice(0, 1)), '1 node, 0 GPUs and 8 CPUs');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PyCall } from '../src/pickle/values.ts';
import { encodeStrategy, PlacementGroup, requiredNode } from '../src/scheduling.ts';

const placementGroup = new PlacementGroup('0a0b', [{ CPU: 1 }], {
  ready: async () => {},
  remove: async () => {},
});

test('a strategy becomes the class of Ray with its arguments', () => {
  assert.deepEqual([encodeStrategy('DEFAULT'), encodeStrategy('SPREAD')], ['DEFAULT', 'SPREAD']);
  const affinity = encodeStrategy({ nodeId: 'ab', soft: true });
  assert.ok(affinity instanceof PyCall);
  assert.equal(String(affinity.callable), 'ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy');
  assert.deepEqual(affinity.args, ['ab', true]);
  const inGroup = encodeStrategy({ placementGroup, bundle: 2, captureChildTasks: true });
  assert.ok(inGroup instanceof PyCall);
  const [group, bundle, capture] = inGroup.args;
  assert.ok(group instanceof PyCall);
  const [id, bundles] = group.args;
  assert.ok(id instanceof PyCall);
  assert.deepEqual([id.args, bundles, bundle, capture], [[Buffer.of(10, 11)], [{ CPU: 1 }], 2, true]);
});

test('a strategy that does not exist is refused', () => {
  assert.throws(() => encodeStrategy('PACK' as never), /not "PACK"/);
  assert.throws(() => encodeStrategy({ node: 'x' } as never), TypeError);
});

test('only a hard affinity requires its node', () => {
  assert.equal(requiredNode({ nodeId: 'ab' }), 'ab');
  for (const other of [undefined, 'SPREAD', { nodeId: 'ab', soft: true }, { placementGroup }] as const) {
    assert.equal(requiredNode(other), undefined);
  }
});

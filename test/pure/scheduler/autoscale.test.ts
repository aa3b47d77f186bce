import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SchedulerCluster } from '../../../src/scheduler/nodes.ts';
import { scheduleRound } from '../../../src/scheduler/schedule.ts';
import type { Allocation } from '../../../src/store/clusters/types.ts';
import { cluster, node, waits } from '../../support/queue.ts';

const NOW = 1_000_000;
const TYPE = { gpus: 4, cpus: 16, max: 3 };
const none = new Map<string, Allocation[]>();

/** The request of cluster `a`, and the wait reasons, after a round. */
function round(
  queued: ReturnType<typeof waits>[],
  more: Partial<SchedulerCluster> & { allocations?: Allocation[]; quota?: number } = {},
) {
  const { allocations = [], quota = null, nodes = [node('head', 0, 0)], ...rest } = more;
  const schedule = scheduleRound({
    queued,
    clusters: [cluster('a', [...nodes], { nodeTypes: [TYPE], ...rest })],
    allocations: allocations.length > 0 ? new Map([['a', allocations]]) : none,
    projects: new Map([['p', { weight: 1, gpuQuota: quota }]]),
    now: NOW,
  });
  return { ask: schedule.asks.get('a'), reasonOf: (id: string) => schedule.reasons.get(id) ?? '' };
}

test('a gang asks for all its nodes, and its wait reason says which and since when', () => {
  const gang = waits('x', 8, 8, { nodes: 2 });
  const { ask, reasonOf } = round([gang]);
  const bundles = [{ gpus: 4, cpus: 16, count: 2 }];
  assert.deepEqual(ask, { bundles, nodes: bundles, gangs: [2], since: NOW });
  assert.match(reasonOf('x'), /; asked the autoscaler for 2 nodes of 4 GPUs, just now$/);
  const later = round([gang], { asked: { bundles, nodes: bundles, since: NOW - 45_000 } });
  assert.match(later.reasonOf('x'), /2 nodes of 4 GPUs, 40 s ago$/);
  assert.equal(later.ask?.since, NOW - 45_000);
});

test('nodes in use are part of the request as wholes, because Ray compares it with the empty cluster', () => {
  const held = { experiment: 'o', project: 'p', node: 'n', gpus: 1, cpus: 1 };
  const nodes = [node('n', 4, 16), node('idle', 2, 8)];
  const { ask } = round([waits('x', 4)], { nodes, allocations: [held] });
  assert.deepEqual(ask?.bundles, [{ gpus: 4, cpus: 16, count: 2 }]);
  assert.deepEqual(ask?.nodes, [{ gpus: 4, cpus: 16, count: 1 }]);
  assert.deepEqual(round([], { nodes, allocations: [held] }).ask?.bundles, [{ gpus: 4, cpus: 16, count: 1 }]);
  assert.deepEqual(round([], { nodes }).ask?.bundles, [], 'idle nodes are released');
});

test('an experiment with node labels asks for the node type that has them, and nodes in use ask for the labels of their types', () => {
  const [a100, t4] = ['A100', 'T4'].map((type) => ({ 'ray.io/accelerator-type': type }));
  const nodeTypes = [TYPE, { ...TYPE, labels: a100! }];
  const nodes = [node('n', 4, 16, { labels: { ...t4, 'ray.io/node-id': 'n' } })];
  const allocations = [{ experiment: 'o', project: 'p', node: 'n', gpus: 4, cpus: 4 }];
  const { ask, reasonOf } = round([waits('x', 4, 4, { nodeLabels: a100! })], {
    nodes,
    nodeTypes,
    allocations,
  });
  const added = { gpus: 4, cpus: 16, count: 1, labels: a100 };
  assert.deepEqual(ask?.nodes, [added]);
  assert.deepEqual(ask?.bundles, [{ gpus: 4, cpus: 16, count: 1, labels: t4 }, added]);
  assert.match(reasonOf('x'), /asked the autoscaler for 1 node of 4 GPUs/);
  const none = round([waits('x', 4, 4, { nodeLabels: { zone: 'b' } })], { nodes, nodeTypes });
  assert.match(none.reasonOf('x'), /^no node of any cluster has the label zone=b/);
});

test('a cordoned node is part of the request, and a node that Ray drains is not', () => {
  const nodes = [node('c', 4, 16), node('d', 4, 16, { draining: { remainingMs: null } })];
  const cordons = { c: { by: 'ann', at: 1, reason: null } };
  assert.deepEqual(round([waits('x', 4)], { nodes, cordons }).ask?.bundles, [
    { gpus: 4, cpus: 16, count: 2 },
  ]);
});

test('no more nodes are asked for than the type may have, and no more GPUs than the quota allows', () => {
  const queue = ['u', 'v', 'w', 'x', 'y'].map((id) => waits(id, 4));
  assert.deepEqual(round(queue).ask?.nodes, [{ gpus: 4, cpus: 16, count: 3 }]);
  assert.deepEqual(round(queue, { quota: 8 }).ask?.nodes, [{ gpus: 4, cpus: 16, count: 2 }]);
  const own = [node('n', 4, 16, { gpusUsed: 4, cpusUsed: 4 })];
  assert.deepEqual(round(queue, { nodes: own }).ask?.nodes, [{ gpus: 4, cpus: 16, count: 2 }]);
});

test('an experiment can never fit only if no node, absent node or node type is large enough', () => {
  const away = [{ id: 'n', gpusTotal: 8, cpusTotal: 16, since: NOW }];
  const gang = (nodes: number) => waits('x', 4 * nodes, 4 * nodes, { nodes });
  assert.doesNotMatch(round([gang(3)]).reasonOf('x'), /can never fit/);
  assert.match(round([gang(4)]).reasonOf('x'), /can never fit/);
  assert.doesNotMatch(round([waits('x', 8)], { away }).reasonOf('x'), /can never fit/);
  assert.match(round([waits('x', 8)]).reasonOf('x'), /can never fit: .* at most 4 GPUs and 16 CPUs/);
});

test('once the asked nodes are there, the experiments that they were asked for start', () => {
  const needs = fc.array(
    fc.record({ gpus: fc.integer({ min: 1, max: 4 }), nodes: fc.integer({ min: 1, max: 3 }) }),
    {
      minLength: 1,
      maxLength: 6,
    },
  );
  fc.assert(
    fc.property(needs, (sizes) => {
      const queued = sizes.map(({ gpus, nodes }, at) => waits(`x${at}`, gpus * nodes, nodes, { nodes }));
      const { ask, reasonOf } = round(queued);
      const count = ask!.nodes[0]?.count ?? 0;
      assert.ok(count <= TYPE.max);
      const brought = Array.from({ length: count }, (_, at) => node(`n${at}`, 4, 16));
      const { start } = scheduleRound({
        queued: queued.filter(({ experiment }) => reasonOf(experiment).includes('asked the autoscaler')),
        clusters: [cluster('a', brought)],
        allocations: none,
      });
      assert.equal(
        start.length,
        queued.filter(({ experiment }) => reasonOf(experiment).includes('asked')).length,
      );
    }),
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type FreeNode, toRoundClusters } from '../../../src/scheduler/nodes.ts';
import { couldFit, needOf, type Part, placeOn } from '../../../src/scheduler/placement.ts';
import { scheduleRound } from '../../../src/scheduler/schedule.ts';
import { cluster, hasRoom, node, waits } from '../../support/queue.ts';

const open = (...nodes: ReturnType<typeof node>[]): FreeNode[] =>
  toRoundClusters({ clusters: [cluster('a', nodes)], allocations: new Map(), ends: new Map() })[0]!.nodes;
const seen = (parts: Part[] | undefined) =>
  parts?.map((part) => [part.node.id, part.gpus, part.cpus] as const) ?? null;

test('a node with room for everything is taken as a whole, even if a fuller one has room for the GPUs', () => {
  const nodes = open(node('few', 2, 2), node('many', 4, 16));
  assert.deepEqual(seen(placeOn({ gpus: 2, cpus: 8 }, nodes)), [['many', 2, 8]]);
  assert.deepEqual(seen(placeOn({ gpus: 2, cpus: 2 }, nodes)), [['few', 2, 2]]);
});

// Fails if all CPUs must be on the node of the GPUs: the experiment would never fit.
test('CPUs of environments may be on other nodes, those with few free GPUs first', () => {
  const nodes = open(node('gpus', 4, 4), node('other', 4, 6), node('cpus', 0, 8));
  const need = { gpus: 4, cpus: 4 + 9 };
  assert.equal(couldFit(need, nodes), true);
  assert.deepEqual(seen(placeOn(need, nodes)), [
    ['gpus', 4, 4],
    ['cpus', 0, 8],
    ['other', 0, 1],
  ]);
  assert.equal(couldFit({ gpus: 4, cpus: 4 + 15 }, nodes), false);
});

test('an experiment without GPUs has all its CPUs on one node', () => {
  assert.equal(placeOn({ gpus: 0, cpus: 9 }, open(node('n', 0, 8), node('m', 0, 8))), undefined);
});

// Fails if the parts may have less than one CPU each: a process that needs one has to fit in a part.
test('CPUs on further nodes are whole, but for the rest', () => {
  const nodes = open(node('n', 2, 4, { cpusUsed: 0.4 }), node('m', 0, 3, { cpusUsed: 0.5 }));
  assert.deepEqual(seen(placeOn({ gpus: 2, cpus: 2 + 2.5 }, nodes)), [
    ['n', 2, 3],
    ['m', 0, 1.5],
  ]);
  assert.equal(placeOn({ gpus: 2, cpus: 2 + 3.2 }, nodes), undefined);
});

test('a gang gets all of its nodes or none, the fullest first', () => {
  const nodes = open(node('a', 4, 8, { gpusUsed: 1 }), node('b', 4, 8), node('c', 4, 8, { gpusUsed: 2 }));
  assert.deepEqual(seen(placeOn(needOf({ nodes: 2, gpus: 2, cpus: 4 }), nodes)), [
    ['c', 2, 2],
    ['a', 2, 2],
  ]);
  assert.equal(placeOn(needOf({ nodes: 2, gpus: 4, cpus: 8 }), nodes), undefined);
  assert.equal(couldFit(needOf({ nodes: 3, gpus: 4, cpus: 12 }), nodes), true);
  assert.equal(couldFit(needOf({ nodes: 4, gpus: 1, cpus: 4 }), nodes), false);
});

/* Fails if a placement takes more than is there, takes a node twice, or is missed although there is room. */
test('a placement has what was asked for, within the room of its nodes, whenever there is room', () => {
  const small = fc.integer({ min: 0, max: 4 });
  const amounts = fc.uniqueArray(fc.record({ id: fc.constantFrom(...'abcde'), gpus: small, cpus: small }), {
    selector: ({ id }) => id,
  });
  const needs = fc.record({
    nodes: fc.integer({ min: 1, max: 3 }),
    gpus: small,
    more: fc.integer({ max: 9, min: 0 }),
  });
  fc.assert(
    fc.property(amounts, needs, (free, { nodes, gpus, more }) => {
      const at = open(...free.map(({ id, gpus, cpus }) => node(id, gpus, cpus)));
      const need = needOf({ nodes, gpus, cpus: nodes * gpus + more });
      const parts = placeOn(need, at);
      assert.equal(parts !== undefined, hasRoom(need, at));
      if (parts === undefined) return;
      const sum = (what: 'gpus' | 'cpus') => parts.reduce((all, part) => all + part[what], 0);
      assert.deepEqual([sum('gpus'), sum('cpus')], [need.gpus, need.cpus]);
      assert.equal(new Set(parts.map((part) => part.node.id)).size, parts.length);
      for (const part of parts) assert.ok(part.gpus <= part.node.gpus && part.cpus <= part.node.cpus);
      const trainers = parts.slice(0, gpus > 0 ? nodes : 1);
      if (gpus > 0) assert.ok(trainers.every((part) => part.gpus === gpus && part.cpus >= gpus));
      assert.ok(parts.slice(trainers.length).every((part) => part.gpus === 0));
    }),
    { numRuns: 2000 },
  );
});

// Two dispatchers that see the nodes in another order choose the same one.
test('one node is the fullest by GPUs, then by CPUs, then the lowest id, in any order of the nodes', () => {
  const small = fc.integer({ min: 0, max: 3 });
  const free = fc.uniqueArray(fc.record({ id: fc.constantFrom(...'abcdef'), gpus: small, cpus: small }), {
    selector: ({ id }) => id,
  });
  fc.assert(
    fc.property(free, fc.record({ gpus: small, cpus: small }), (nodes, need) => {
      const [fullest] = nodes
        .filter((one) => one.gpus >= need.gpus && one.cpus >= need.cpus)
        .toSorted((a, b) => a.gpus - b.gpus || a.cpus - b.cpus || (a.id < b.id ? -1 : 1));
      fc.pre(fullest !== undefined);
      const at = open(...nodes.map((one) => node(one.id, one.gpus, one.cpus)));
      assert.equal(placeOn(need, at)?.[0]?.node.id, fullest!.id);
    }),
    { numRuns: 500 },
  );
});

/* Fails if CPUs beside GPUs are taken first: a training would wait for a CPU while other nodes are idle. */
test('an experiment without GPUs takes a node with GPUs only if no other node of any cluster has room', () => {
  const size = fc.integer({ min: 0, max: 4 });
  const nodes = fc.array(fc.record({ gpus: size, cpus: size, gpusUsed: size, cpusUsed: size }), {
    maxLength: 3,
  });
  fc.assert(
    fc.property(
      fc.array(nodes, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 1, max: 4 }),
      (all, cpus) => {
        const clusters = all.map((some, at) =>
          cluster(
            `c${at}`,
            some.map(({ gpus, cpus: total, gpusUsed, cpusUsed }, index) =>
              node(`${at}-${index}`, gpus, total, {
                gpusUsed: Math.min(gpus, gpusUsed),
                cpusUsed: Math.min(total, cpusUsed),
              }),
            ),
          ),
        );
        const withRoom = clusters
          .flatMap((one) => one.nodes)
          .filter(({ cpusTotal, cpusUsed }) => cpusTotal - cpusUsed >= cpus);
        fc.pre(withRoom.length > 0);
        const { start } = scheduleRound({ queued: [waits('x', 0, cpus)], clusters, allocations: new Map() });
        const taken = withRoom.find(({ id }) => id === start[0]?.nodes[0]?.id);
        assert.equal(
          taken!.gpusTotal > 0,
          withRoom.every(({ gpusTotal }) => gpusTotal > 0),
        );
      },
    ),
    { numRuns: 1000 },
  );
});

// Fails if experiments go to the emptiest node: 2 + 2 would leave no node for 4.
test('trainings of 2, 2 and 4 GPUs start together on nodes of 4', () => {
  const { start } = scheduleRound({
    queued: [waits('x', 2, 2), waits('y', 2, 2), waits('z', 4, 4)],
    clusters: [cluster('a', [node('n', 4, 4), node('m', 4, 4)])],
    allocations: new Map(),
  });
  assert.deepEqual(
    start.map(({ nodes }) => nodes),
    [[{ id: 'm', gpus: 2, cpus: 2 }], [{ id: 'm', gpus: 2, cpus: 2 }], [{ id: 'n', gpus: 4, cpus: 4 }]],
  );
});

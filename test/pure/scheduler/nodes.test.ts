import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fits, freeOn, releaseOf, take, toRoundClusters } from '../../../src/scheduler/nodes.ts';
import { freest } from '../../../src/scheduler/wait-reasons.ts';
import { cluster, exactly, node, waits } from '../../support/queue.ts';

const held = (experiment: string, gpus: number) => ({
  experiment,
  project: 'default',
  node: 'n',
  gpus,
  cpus: 1,
});

function open(ends: [string, number][], gpus: number[]) {
  const items = gpus.map((count, at) => held(`o${at}`, count));
  const [one] = toRoundClusters({
    clusters: [cluster('a', [node('n', 8, 16)])],
    allocations: new Map([['a', items]]),
    ends: new Map(ends.map(([experiment, at]) => [experiment, exactly(at)])),
  });
  return one!.nodes[0]!;
}

test('a release has the time of room and the remaining free amount', () => {
  const full = open(
    [
      ['o0', 300],
      ['o1', 100],
      ['o2', 200],
    ],
    [4, 1, 3],
  );
  assert.deepEqual(releaseOf({ gpus: 4, cpus: 1 }, full, 0), {
    at: exactly(200),
    left: { gpus: 0, cpus: 14 },
  });
  assert.deepEqual(releaseOf({ gpus: 2, cpus: 1 }, full, 0)?.left, { gpus: 2, cpus: 14 });
  assert.equal(releaseOf({ gpus: 9, cpus: 1 }, full, 0), null);
});

test('no release is expected if it needs an end that is not known', () => {
  const full = open([['o0', 300]], [4, 4]);
  assert.deepEqual(releaseOf({ gpus: 4, cpus: 1 }, full, 0)?.at, exactly(300));
  assert.equal(releaseOf({ gpus: 5, cpus: 1 }, full, 0), null);
});

test('the bounds of a release follow from all ends that it needs, and from now', () => {
  const spans = new Map([
    ['o0', { early: 10, likely: 20, late: 90 }],
    ['o1', { early: 15, likely: 30, late: 40 }],
  ]);
  const [one] = toRoundClusters({
    clusters: [cluster('a', [node('n', 8, 16)])],
    allocations: new Map([['a', [held('o0', 4), held('o1', 4)]]]),
    ends: spans,
  });
  const at = (gpus: number, now: number) => releaseOf({ gpus, cpus: 1 }, one!.nodes[0]!, now)?.at;
  assert.deepEqual(at(4, 0), { early: 10, likely: 20, late: 90 });
  assert.deepEqual(at(8, 0), { early: 15, likely: 30, late: 90 });
  assert.deepEqual(at(8, 35), { early: 35, likely: 35, late: 90 });
});

test('an allocation is released at its end', () => {
  const empty = open([], []);
  take({ node: empty, gpus: 6, cpus: 3 }, waits('x', 6, 3), exactly(50));
  assert.deepEqual([empty.gpus, empty.cpus], [2, 13]);
  assert.deepEqual(releaseOf({ gpus: 8, cpus: 16 }, empty, 0), {
    at: exactly(50),
    left: { gpus: 0, cpus: 0 },
  });
});

test('rounding errors of decimal fractions do not change whether an amount fits', () => {
  assert.equal(fits({ gpus: 0.3, cpus: 0.3 }, { gpus: 0.1 + 0.2 - 1e-9, cpus: 0.3 - 1e-9 }), true);
  assert.equal(fits({ gpus: 0.3, cpus: 0 }, { gpus: 0.299, cpus: 1 }), false);
  assert.equal(fits({ gpus: 0, cpus: 0.3 }, { gpus: 1, cpus: 0.299 }), false);
});

/** What happens to a node of 8 GPUs between two reports. `ours`: an attempt of Echelon; otherwise another user's job. */
type Step =
  | { kind: 'allocate' | 'show' | 'end' | 'leave'; id: number; gpus: number }
  | { kind: 'takes' | 'gives'; id: number; gpus: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('allocate', 'show', 'end', 'leave', 'takes', 'gives'),
    id: fc.integer({ min: 0, max: 3 }),
    gpus: fc.integer({ min: 1, max: 4 }),
  }) as fc.Arbitrary<Step>,
  { maxLength: 40 },
);

test('no GPU is promised twice, however allocations, their appearance in Ray and other jobs interleave', () => {
  fc.assert(
    fc.property(steps, (history) => {
      const total = 8;
      const allocated = new Map<number, number>();
      const shown = new Map<number, number>();
      const others = new Map<number, number>();
      const sum = (of: Map<number, number>) => [...of.values()].reduce((all, one) => all + one, 0);
      const inRay = () => sum(shown) + sum(others);
      const promised = () =>
        [...new Set([...allocated.keys(), ...shown.keys()])].reduce(
          (all, id) => all + Math.max(allocated.get(id) ?? 0, shown.get(id) ?? 0),
          sum(others),
        );
      const free = () => {
        const use = (experiment: string | null, gpus: number) => ({
          experiment,
          name: 'x',
          since: null,
          gpus,
          cpus: 0,
        });
        const uses = [
          ...[...shown].map(([id, gpus]) => use(`o${id}`, gpus)),
          ...[...others.values()].map((gpus) => use(null, gpus)),
        ];
        const reported = { ...node('n', total, 64, { gpusUsed: inRay() }), uses };
        return freeOn(
          reported,
          [...allocated].map(([id, gpus]) => held(`o${id}`, gpus)),
        ).gpus;
      };
      for (const { kind, id, gpus } of history) {
        if (kind === 'allocate' && !allocated.has(id) && !shown.has(id) && gpus <= free())
          allocated.set(id, gpus);
        // Ray itself is the judge of what is placed there.
        if (kind === 'show' && allocated.has(id) && inRay() + allocated.get(id)! <= total)
          shown.set(id, allocated.get(id)!);
        if (kind === 'end') allocated.delete(id); // before Ray has released it
        if (kind === 'leave' && !allocated.has(id)) shown.delete(id);
        // Another user takes what both Ray and Echelon call free.
        if (kind === 'takes' && gpus <= free()) others.set(id, gpus);
        if (kind === 'gives') others.delete(id);
        assert.ok(promised() <= total, `${promised()} of ${total} GPUs are promised`);
        assert.equal(free(), total - promised());
      }
    }),
  );
});

test('without the uses of jobs, the larger of used and allocated is subtracted', () => {
  const reported = node('n', 8, 64, { gpusUsed: 3 });
  assert.equal(freeOn(reported, [held('o', 2)]).gpus, 5);
});

test('a wait reason names the Ray job of another user, with its GPUs and its start', () => {
  const uses = [
    { experiment: null, name: 'sweep.py', since: Date.UTC(2026, 10, 1, 8, 30), gpus: 2, cpus: 0 },
  ];
  const clusters = toRoundClusters({
    clusters: [cluster('a', [{ ...node('n', 4, 16, { gpusUsed: 2 }), uses }])],
    allocations: new Map(),
    ends: new Map(),
  });
  assert.equal(
    freest(clusters, waits('x', 4)),
    'the freest node has 2 GPUs and 16 CPUs free; 2 GPUs are in use by another Ray job (sweep.py, since 2026-11-01T08:30Z)',
  );
});

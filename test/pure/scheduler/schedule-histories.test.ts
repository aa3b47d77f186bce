import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Span } from '../../../src/scheduler/nodes.ts';
import type { ProjectPolicy } from '../../../src/scheduler/quotas.ts';
import type { QueuedExperiment } from '../../../src/store/queue/types.ts';
import {
  type Arrival,
  cluster,
  emptied,
  hasRoom,
  node,
  play,
  type Running,
  type Step,
  waits,
} from '../../support/queue.ts';

/* Random histories in virtual time: arrivals, true lengths, clusters, weights and quotas. */

const PROJECTS = ['p', 'q', 'r'];
const amounts = { gpus: fc.integer({ min: 0, max: 8 }), cpus: fc.integer({ min: 1, max: 16 }) };
const histories = fc.record({
  clusters: fc.array(
    fc.record({
      backfill: fc.boolean(),
      nodes: fc.array(fc.record(amounts), { minLength: 1, maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 2 },
  ),
  arrivals: fc.array(
    fc.record({
      ...amounts,
      nodes: fc.constantFrom(1, 1, 1, 2, 3),
      at: fc.integer({ min: 0, max: 30 }),
      length: fc.integer({ min: 1, max: 40 }),
      project: fc.constantFrom(...PROJECTS),
      priority: fc.integer({ min: -1, max: 1 }),
      pinned: fc.option(fc.integer({ min: 0, max: 1 })),
    }),
    { minLength: 10, maxLength: 40, size: 'max' },
  ),
  quotas: fc.array(fc.option(fc.integer({ min: 0, max: 8 })), { minLength: 3, maxLength: 3 }),
  weights: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 3, maxLength: 3 }),
});
type History = typeof histories extends fc.Arbitrary<infer T> ? T : never;

function build({ clusters: shapes, arrivals, quotas, weights }: History) {
  const clusters = shapes.map(({ backfill, nodes }, index) =>
    cluster(
      `c${index}`,
      nodes.map(({ gpus, cpus }, at) => node(`n${at}`, gpus, cpus)),
      { backfill },
    ),
  );
  const projects = new Map<string, ProjectPolicy>(
    PROJECTS.map((name, at) => [name, { weight: weights[at]!, gpuQuota: quotas[at]! }]),
  );
  const coming: Arrival[] = arrivals.map(({ at, length, gpus, cpus, nodes, ...more }, number) => {
    const { project, priority, pinned } = more;
    const place = pinned === null ? null : (clusters[pinned]?.name ?? null);
    // A gang has whole CPUs on each node.
    const [allGpus, allCpus] =
      nodes === 1 || gpus === 0 ? [gpus, cpus] : [gpus * nodes, gpus * nodes + cpus - 1];
    const item = waits(`e${number}`, allGpus, allCpus, { project, priority, nodes, cluster: place });
    return { at, length, item };
  });
  return { clusters, projects, arrivals: coming };
}

/** Half of the experiments are known beforehand, by their number. */
const half = (experiment: string) => Number(experiment.slice(1)) % 2 === 0;

const RUNS = { numRuns: 600 };

describe('over any history', () => {
  // Fails without the subtraction in `take`, and without the quota's refusal.
  test('no node and no quota is ever exceeded', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const built = build(history);
        play({
          ...built,
          known: half,
          check({ after, schedule, input }) {
            for (const { name, nodes } of built.clusters)
              for (const { id, gpusTotal, cpusTotal } of nodes) {
                const here = after.filter((item) => item.cluster === name && item.node === id);
                assert.ok(sum(here, 'gpus') <= gpusTotal && sum(here, 'cpus') <= cpusTotal);
              }
            for (const [project, { gpuQuota }] of built.projects)
              assert.ok(
                gpuQuota === null ||
                  sum(
                    after.filter((item) => item.project === project),
                    'gpus',
                  ) <= gpuQuota,
                project,
              );
            assert.equal(schedule.start.length + schedule.reasons.size, input.queued.length);
          },
        });
      }),
      RUNS,
    );
  });

  test('every experiment that fits anywhere starts after the arrivals end', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const built = build(history);
        const { queued } = play({ ...built, known: half });
        for (const item of queued) assert.ok(!canRun(item, built), `${item.experiment} starved`);
      }),
      RUNS,
    );
  });

  // Fails if the heap compares shares before priorities, or if an experiment that does not fit blocks no cluster.
  test('on a strict cluster, no experiment passes one of higher priority or an earlier one of its project', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { clusters, arrivals, projects } = build({ ...history, quotas: [null, null, null] });
        const all = clusters.map((one) => ({ ...one, backfill: false }));
        play({ clusters: all, arrivals, projects, known: half, check: checkOrder });
      }),
      RUNS,
    );
  });

  // Fails where a candidate's length is not compared, and where what is left beside the head is not counted.
  for (const [what, known, spanOf] of [
    ['all ends are known', () => true, undefined],
    ['all ends are known more or less', () => true, roughly],
    ['no end is known', () => false, undefined],
  ] as const)
    test(`backfill does not delay the head of a cluster when ${what}`, () => {
      let filled = 0;
      fc.assert(
        fc.property(histories, (history) => {
          const { clusters, arrivals, projects } = build({ ...history, quotas: [null, null, null] });
          const all = clusters.map((one) => ({ ...one, backfill: true }));
          play({
            clusters: all,
            arrivals,
            projects,
            known,
            ...(spanOf && { spanOf }),
            check: (step) => {
              filled += checkHeads(step);
            },
          });
        }),
        RUNS,
      );
      assert.ok(filled > 300, `only ${filled} started out of turn`);
    });
});

function checkOrder({ input, schedule }: Step): void {
  const startOf = new Map(schedule.start.map((start) => [start.experiment, start.cluster]));
  for (const [place, item] of input.queued.entries()) {
    const where = startOf.get(item.experiment);
    const on = input.clusters.find(({ name }) => name === where);
    if (on === undefined) continue;
    for (const ahead of input.queued.slice(0, place)) {
      const isAhead = ahead.priority > item.priority || ahead.project === item.project;
      if (!isAhead || startOf.has(ahead.experiment) || !couldRunOn(ahead, on)) continue;
      assert.fail(`${item.experiment} passed ${ahead.experiment}`);
    }
  }
}

function couldRunOn(item: QueuedExperiment, { name, nodes }: ReturnType<typeof cluster>): boolean {
  return (item.cluster === null || item.cluster === name) && hasRoom(item, emptied(nodes));
}

/** Spans whose bounds contain the truth, and whose likely time differs from it. */
function roughly(experiment: string, length: number): Span {
  const number = Number(experiment.slice(1));
  const early = length * (0.2 + 0.08 * ((number * 7) % 10));
  const late = length * (1 + 0.2 * ((number * 3) % 10));
  return { early, likely: early + (late - early) * 0.1 * ((number * 5) % 11), late };
}

/** For the head of each cluster: when a node is expected to have room, without and with the later experiments. */
function checkHeads({ input, schedule, before, after }: Step): number {
  let filled = 0;
  for (const one of input.clusters) {
    const { name } = one;
    const starts = new Set(schedule.start.map(({ experiment }) => experiment));
    const couldRun = (item: QueuedExperiment) => couldRunOn(item, one);
    const place = schedule.order.findIndex((item) => !starts.has(item.experiment) && couldRun(item));
    const head = schedule.order[place];
    if (head === undefined) continue;
    const ahead = new Set(schedule.order.slice(0, place).map(({ experiment }) => experiment));
    const fresh = after.filter((item) => !before.includes(item) && item.cluster === name);
    const without = [...before, ...fresh.filter(({ experiment }) => ahead.has(experiment))];
    filled += new Set(fresh.map(({ experiment }) => experiment).filter((one) => !ahead.has(one))).size;
    const [alone, filledUp] = [without, after].map((running) =>
      startOn(
        head,
        one,
        running.filter((item) => item.cluster === name),
      ),
    );
    assert.ok(filledUp! <= alone!, `${head.experiment} starts at ${filledUp} instead of ${alone}`);
  }
  return filled;
}

function startOn(need: QueuedExperiment, { nodes }: ReturnType<typeof cluster>, running: Running[]): number {
  const times = [0, ...running.map(({ expected }) => expected.likely)].toSorted((a, b) => a - b);
  const found = times.find((time) => {
    const left = running.filter(({ expected }) => expected.likely > time);
    const room = nodes.map(({ id, gpusTotal, cpusTotal }) => {
      const here = left.filter((item) => item.node === id);
      return { gpus: gpusTotal - sum(here, 'gpus'), cpus: cpusTotal - sum(here, 'cpus') };
    });
    return hasRoom(need, room);
  });
  return found ?? Number.POSITIVE_INFINITY;
}

function canRun(item: QueuedExperiment, { clusters, projects }: ReturnType<typeof build>): boolean {
  const quota = projects.get(item.project)!.gpuQuota;
  if (quota !== null && item.gpus > quota) return false;
  return clusters.some((one) => couldRunOn(item, one));
}

function sum(items: readonly { gpus: number; cpus: number }[], what: 'gpus' | 'cpus'): number {
  return items.reduce((total, item) => total + item[what], 0);
}

describe('under saturation', () => {
  // Fails if later experiments may always start before the head, or if no quota is reserved for the head.
  test('a large experiment starts although small ones keep arriving', () => {
    const small = (number: number): Arrival => ({ at: number, item: waits(`e${number}`, 1), length: 10 });
    const arrivals = Array.from({ length: 300 }, (_, number) => small(number));
    const large: Arrival = { at: 50, item: waits('large', 8), length: 10 };
    const quota = new Map([['p', { weight: 1, gpuQuota: 8 }]]);
    for (const [gpus, projects] of [
      [8, new Map()],
      [64, quota],
    ] as const) {
      const clusters = [cluster('a', [node('n', gpus, 64)], { backfill: true })];
      const { started } = play({ clusters, projects, arrivals: [...arrivals, large], known: () => true });
      assert.ok(started.get('large')! <= 80, `it started at ${started.get('large')}`);
    }
  });

  // Fails without the weights, and where the order does not count what a project holds.
  test('shares of GPUs approach the weights from any state', () => {
    const weights = { p: 1, q: 2, r: 4 };
    const projects = new Map(
      Object.entries(weights).map(([name, weight]) => [name, { weight, gpuQuota: null }]),
    );
    fc.assert(
      fc.property(fc.infiniteStream(fc.integer({ min: 0, max: 999 })), (numbers) => {
        const random = () => numbers.next().value / 1000;
        const arrivals: Arrival[] = Array.from({ length: 1500 }, (_, number) => ({
          // r comes late: until then the others have everything.
          at: number % 3 === 2 ? 50 : 0,
          item: waits(`e${number}`, 1 + Math.floor(random() * 4), 1, { project: PROJECTS[number % 3]! }),
          length: 10 + Math.floor(random() * 40),
        }));
        const held = new Map(PROJECTS.map((project) => [project, 0]));
        let last = 0;
        let running: Running[] = [];
        play({
          clusters: [cluster('a', [node('m', 32, 512), node('n', 32, 512)])],
          arrivals,
          projects,
          known: () => false,
          until: 500,
          check({ now, after }) {
            for (const { project, gpus } of now > 150 ? running : [])
              held.set(project, held.get(project)! + gpus * (now - last));
            [last, running] = [now, after];
          },
        });
        const all = [...held.values()].reduce((total, value) => total + value, 0);
        for (const [project, weight] of Object.entries(weights)) {
          const share = held.get(project)! / all;
          assert.ok(Math.abs(share - weight / 7) < 0.04, `${project} had ${share} instead of ${weight / 7}`);
        }
      }),
      { numRuns: 6 },
    );
  });
});

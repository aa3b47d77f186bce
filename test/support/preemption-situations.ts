import fc from 'fast-check';
import { PRIORITY_CLASSES, type PriorityClass } from '../../src/core/priority-class.ts';
import { MAX_PREEMPTIONS, type Victim } from '../../src/scheduler/preemption.ts';
import type { ScheduleInput } from '../../src/scheduler/schedule.ts';
import type { Allocation } from '../../src/store/clusters/types.ts';
import { cluster, exactly, node, waits } from './queue.ts';

export const MINUTE = 60_000;
export const NOW = 1_000 * MINUTE;
/** No project has a limit of urgent GPUs here. */
const ANY = new Map(['p', 'q'].map((name) => [name, { weight: 1, gpuQuota: null, urgentGpuQuota: null }]));

export interface Runs {
  on: Record<string, number>;
  class?: PriorityClass;
  lostMs?: number;
  startedAt?: number;
  times?: number;
  project?: string;
  endsMs?: number;
}

/** Input with running experiments on nodes of 8 GPUs, one CPU for each GPU. */
export function inputOf(
  nodes: string[],
  runs: Record<string, Runs>,
  more: Partial<ScheduleInput> = {},
): ScheduleInput {
  const items = Object.entries(runs).flatMap(
    ([experiment, { on, class: priorityClass = 'batch', project = 'p' }]) =>
      Object.entries(on).map(
        ([id, gpus]): Allocation => ({ experiment, node: id, gpus, cpus: gpus, project, priorityClass }),
      ),
  );
  const victims = Object.entries(runs)
    .filter(([, { class: priorityClass = 'batch' }]) => priorityClass === 'batch')
    .map(([id, { lostMs = 0, startedAt = 0, times = 0, project = 'p' }]): [string, Victim] => [
      id,
      { project, attempt: 1, times, lostMs, step: 120, startedAt },
    ]);
  const ends = Object.entries(runs).flatMap(([id, { endsMs }]) =>
    endsMs === undefined ? [] : [[id, exactly(NOW + endsMs)] as const],
  );
  return {
    queued: [],
    clusters: [
      cluster(
        'c',
        nodes.map((id) => node(id, 8, 16)),
      ),
    ],
    allocations: new Map([['c', items]]),
    projects: ANY,
    victims: new Map(victims),
    ends: new Map(ends),
    now: NOW,
    ...more,
  };
}

export const NODES = ['a', 'b', 'c'];
export const situations = fc.record({
  running: fc.array(
    fc.record({
      node: fc.nat(2),
      second: fc.option(fc.nat(2)),
      gpus: fc.integer({ min: 1, max: 5 }),
      class: fc.constantFrom<PriorityClass>('batch', 'batch', 'batch', 'batch', 'batch', 'normal', 'urgent'),
      lostMs: fc.integer({ min: 0, max: 5 }).map((minutes) => minutes * MINUTE),
      startedAt: fc.nat(100),
      times: fc.integer({ min: 0, max: MAX_PREEMPTIONS }),
      endsMs: fc.option(
        fc.integer({ min: 1, max: 10 }).map((minutes) => minutes * MINUTE),
        { nil: undefined },
      ),
    }),
    { minLength: 3, maxLength: 9, size: 'max' },
  ),
  queued: fc.array(
    fc.record({
      gpus: fc.integer({ min: 1, max: 8 }),
      nodes: fc.constantFrom(1, 1, 2, 3),
      priorityClass: fc.constantFrom<PriorityClass>('urgent', 'urgent', 'normal', 'batch'),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  backfill: fc.boolean(),
});
export type Situation = typeof situations extends fc.Arbitrary<infer T> ? T : never;

export function build({ running, queued, backfill }: Situation): ScheduleInput {
  const free = new Map(NODES.map((id) => [id, 8]));
  const runs: Record<string, Runs> = {};
  for (const [at, { node: first, second, gpus, endsMs, ...more }] of running.entries()) {
    const places = [...new Set([first, second ?? first])].map((index) => NODES[index]!);
    if (places.some((id) => free.get(id)! < gpus)) continue;
    for (const id of places) free.set(id, free.get(id)! - gpus);
    runs[`r${at}`] = {
      on: Object.fromEntries(places.map((id) => [id, gpus])),
      ...more,
      ...(endsMs && { endsMs }),
    };
  }
  const items = queued.map(({ gpus, nodes, priorityClass }, at) =>
    waits(`q${at}`, gpus * nodes, gpus * nodes, { nodes, priorityClass, arrival: at, submittedAt: NOW }),
  );
  const order = (item: (typeof items)[number]) => PRIORITY_CLASSES.indexOf(item.priorityClass!);
  const input = inputOf(NODES, runs, { queued: items.sort((a, b) => order(b) - order(a)) });
  return {
    ...input,
    clusters: [
      cluster(
        'c',
        NODES.map((id) => node(id, 8, 32)),
        { backfill },
      ),
    ],
  };
}

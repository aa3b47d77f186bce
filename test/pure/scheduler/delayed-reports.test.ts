import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Schedule, type ScheduleInput, scheduleRound } from '../../../src/scheduler/schedule.ts';
import { build, NOW, situations } from '../../support/preemption-situations.ts';
import { allocationsOf } from '../../support/queue.ts';

/*
 * A scheduling round knows allocations at once, and what Ray counts as used from a report. Between the end of an attempt and the
 * next report, its GPUs are neither allocated nor free.
 */

type Allocations = ReturnType<typeof allocationsIn>;
const allocationsIn = ({ allocations }: ScheduleInput) => allocations.get('c')!;

/** The input with what the report of the ray-worker says of these allocations. `named`: whether it names the experiments. */
function reporting(input: ScheduleInput, seen: Allocations, named: boolean): ScheduleInput {
  const clusters = input.clusters.map((cluster) => ({
    ...cluster,
    nodes: cluster.nodes.map((node) => {
      const here = seen.filter((one) => one.node === node.id);
      const [gpusUsed, cpusUsed] = [sum(here, 'gpus'), sum(here, 'cpus')];
      const uses = here.map(({ experiment, gpus, cpus }) => ({ experiment, name: '', since: 1, gpus, cpus }));
      return { ...node, gpusUsed, cpusUsed, ...(named && { uses }) };
    }),
  }));
  return { ...input, clusters };
}

const sum = (items: Allocations, what: 'gpus' | 'cpus') => items.reduce((all, one) => all + one[what], 0);

const actions = fc.array(
  fc.record({
    /** `stop`: an experiment that leaves; `end`: any experiment. */
    kind: fc.constantFrom('round', 'round', 'stop', 'stop', 'end', 'report'),
    which: fc.nat(20),
  }),
  { minLength: 4, maxLength: 16, size: 'max' },
);

/** A cluster, what its last report said, and what was preempted for whom. */
function createWorld(input: ScheduleInput, named: boolean) {
  let truth: ScheduleInput = { ...input, leaving: new Map(), freed: new Map([['c', []]]) };
  let reported = allocationsIn(input);
  const left = new Map<string, string>();
  const started = new Set<string>();

  function end(experiment: string | undefined): void {
    if (experiment === undefined) return;
    const all = allocationsIn(truth);
    const leaving = new Map(truth.leaving);
    leaving.delete(experiment);
    const ended = all.filter((one) => one.experiment === experiment);
    truth = {
      ...truth,
      leaving,
      allocations: new Map([['c', all.filter((one) => one.experiment !== experiment)]]),
      freed: new Map([['c', [...truth.freed!.get('c')!, ...ended]]]),
    };
  }

  function start(starts: Schedule['start']): void {
    const ids = new Set(starts.map(({ experiment }) => experiment));
    for (const id of ids) started.add(id);
    truth = {
      ...truth,
      queued: truth.queued.filter(({ experiment }) => !ids.has(experiment)),
      allocations: new Map([['c', [...allocationsIn(truth), ...starts.flatMap(allocationsOf)]]]),
    };
  }

  function leave(preempt: Schedule['preempt']): void {
    const leaving = new Map(truth.leaving);
    for (const { experiment: by, victims } of preempt.slice(0, 1))
      for (const { experiment } of victims) {
        left.set(experiment, by);
        leaving.set(experiment, { by, until: NOW + 300_000 });
      }
    truth = { ...truth, leaving };
  }

  return {
    left,
    started,
    leaving: () => [...truth.leaving!.keys()],
    running: () => [...new Set(allocationsIn(truth).map(({ experiment }) => experiment))],
    end,
    report() {
      reported = allocationsIn(truth);
    },
    /** A round on the last report, and what one on a report of this moment would preempt after the same starts. */
    round(): { preempted: Schedule['preempt']; needed: Schedule['preempt'] } {
      const schedule = scheduleRound(reporting(truth, reported, named));
      start(schedule.start);
      const present = reporting(truth, allocationsIn(truth), named);
      // Until the report, nothing starts out of turn beside urgent experiments.
      const waits = truth.freed!.get('c')!.some((ended) => reported.includes(ended));
      const clusters = present.clusters.map((one) => (waits ? { ...one, backfill: false } : one));
      const needed = scheduleRound({ ...present, clusters }).preempt;
      leave(schedule.preempt);
      return { preempted: schedule.preempt, needed };
    },
  };
}

describe('whatever the delay between ends and reports', () => {
  for (const named of [true, false])
    test(`a round preempts only what one with a present report would preempt, if reports ${named ? 'name' : 'do not name'} experiments`, () => {
      let rounds = 0;
      fc.assert(
        fc.property(situations, actions, (situation, steps) => {
          const world = createWorld(build(situation), named);
          for (const { kind, which } of steps) {
            const of = (ids: string[]) => ids[which % Math.max(1, ids.length)];
            if (kind === 'stop') world.end(of(world.leaving()));
            else if (kind === 'end') world.end(of(world.running()));
            else if (kind === 'report') world.report();
            else {
              const { preempted, needed } = world.round();
              rounds += preempted.length;
              assert.deepEqual(preempted, needed);
            }
          }
        }),
        { numRuns: 1_000 },
      );
      assert.ok(rounds > 30, `only ${rounds} rounds preempted`);
    });

  test('an experiment for which others have left starts by that alone', () => {
    fc.assert(
      fc.property(situations, fc.array(fc.nat(20), { minLength: 12, maxLength: 12 }), (situation, order) => {
        const world = createWorld(build(situation), true);
        for (const _experiment of situation.queued) world.round();
        const first = new Map(world.left);
        for (const which of order) {
          const ids = world.leaving().filter((id) => first.has(id));
          world.end(ids[which % Math.max(1, ids.length)]);
          world.round();
        }
        for (const [id, by] of world.left)
          if ([...first.values()].includes(by)) assert.ok(first.has(id), `${id} left for ${by} too`);
        world.report();
        world.round();
        for (const by of first.values()) assert.ok(world.started.has(by), `${by} does not start`);
      }),
      { numRuns: 1_000 },
    );
  });
});

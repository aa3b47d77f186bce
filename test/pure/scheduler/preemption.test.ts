import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { estimateStarts } from '../../../src/scheduler/estimate.ts';
import { MAX_PREEMPTIONS, PREEMPT_WITHIN_MS } from '../../../src/scheduler/preemption.ts';
import { type Schedule, type ScheduleInput, scheduleRound } from '../../../src/scheduler/schedule.ts';
import type { Leaving } from '../../../src/store/queue/types.ts';
import { build, inputOf, MINUTE, NOW, type Runs, situations } from '../../support/preemption-situations.ts';
import { allocationsOf, cluster, node, waits } from '../../support/queue.ts';

const urgent = (id: string, gpus: number, more = {}) =>
  waits(id, gpus, gpus, { priorityClass: 'urgent', submittedAt: NOW, ...more });
const victimsOf = ({ preempt }: Schedule) =>
  preempt.map(({ experiment, victims }) => [experiment, ...victims.map((one) => one.experiment).sort()]);

describe('victims', () => {
  const decide = (nodes: string[], runs: Record<string, Runs>, more: Partial<ScheduleInput>) =>
    victimsOf(scheduleRound(inputOf(nodes, runs, more)));

  test('least work lost comes first, then fewer victims, then newer ones', () => {
    const queued = [urgent('u', 8)];
    const half = (lost: number, more: Partial<Runs> = {}): Runs => ({
      on: { a: 4 },
      lostMs: lost * MINUTE,
      ...more,
    });
    const whole = (lost: number): Runs => ({ on: { b: 8 }, lostMs: lost * MINUTE });
    assert.deepEqual(decide(['a', 'b'], { x: half(2), y: half(2), z: whole(3) }, { queued }), [
      ['u', 'x', 'y'],
    ]);
    assert.deepEqual(decide(['a', 'b'], { x: half(4), y: half(4), z: whole(3) }, { queued }), [['u', 'z']]);
    assert.deepEqual(decide(['a', 'b'], { x: half(3), y: half(3), z: whole(3) }, { queued }), [['u', 'z']]);
    const old = { on: { a: 8 }, startedAt: 1 };
    assert.deepEqual(decide(['a', 'b'], { x: old, y: { on: { b: 8 }, startedAt: 2 } }, { queued }), [
      ['u', 'y'],
    ]);
  });

  test('a gang leaves all of its nodes, and a gang gets all of its nodes', () => {
    const queued = [urgent('u', 16, { nodes: 2 })];
    const runs = { g: { on: { a: 8, b: 8 } }, x: { on: { c: 8 }, class: 'normal' as const } };
    assert.deepEqual(decide(['a', 'b', 'c'], runs, { queued }), [['u', 'g']]);
    const one = { g: { on: { a: 8 } }, x: { on: { b: 8 }, class: 'normal' as const } };
    assert.deepEqual(decide(['a', 'b'], one, { queued }), []);
  });

  test('normal experiments neither preempt nor are preempted, and an urgent one is not preempted', () => {
    assert.deepEqual(decide(['a'], { x: { on: { a: 8 } } }, { queued: [waits('n', 8, 8)] }), []);
    for (const priorityClass of ['normal', 'urgent'] as const)
      assert.deepEqual(
        decide(['a'], { x: { on: { a: 8 }, class: priorityClass } }, { queued: [urgent('u', 8)] }),
        [],
      );
  });

  test('nothing is preempted for an experiment that starts soon without, or could not start by it', () => {
    const queued = [urgent('u', 8)];
    assert.deepEqual(decide(['a'], { x: { on: { a: 8 }, endsMs: PREEMPT_WITHIN_MS } }, { queued }), []);
    assert.deepEqual(decide(['a'], { x: { on: { a: 8 }, endsMs: PREEMPT_WITHIN_MS + 1 } }, { queued }), [
      ['u', 'x'],
    ]);
    // An overdue experiment is always expected to end now.
    const waited = [urgent('u', 8, { submittedAt: NOW - PREEMPT_WITHIN_MS - 1 })];
    assert.deepEqual(decide(['a'], { x: { on: { a: 8 }, endsMs: 0 } }, { queued: waited }), [['u', 'x']]);
    const shared = { x: { on: { a: 4 } }, n: { on: { a: 4 }, class: 'normal' as const } };
    assert.deepEqual(decide(['a'], shared, { queued }), []);
    assert.deepEqual(decide(['a'], { x: { on: { a: 8 } } }, { queued, paused: '' }), []);
  });

  test('the urgent quota of a project bounds what it preempts', () => {
    const projects = (gpus: number) => new Map([['p', { weight: 1, gpuQuota: null, urgentGpuQuota: gpus }]]);
    const runs = { x: { on: { a: 8 } }, y: { on: { b: 8 } } };
    const queued = [urgent('u', 8), urgent('v', 8)];
    assert.deepEqual(decide(['a', 'b'], runs, { queued }), [
      ['u', 'x'],
      ['v', 'y'],
    ]);
    assert.deepEqual(decide(['a', 'b'], runs, { queued, projects: projects(8) }), [['u', 'x']]);
    assert.deepEqual(decide(['a', 'b'], runs, { queued, projects: projects(7) }), []);
  });

  test('one that leaves already makes room for its experiment, and no other one leaves for it', () => {
    const leaving = new Map<string, Leaving>([['x', { by: 'u', until: NOW + MINUTE }]]);
    const runs = { x: { on: { a: 8 } }, y: { on: { b: 8 } } };
    const input = inputOf(['a', 'b'], runs, { queued: [urgent('u', 8), urgent('v', 8)], leaving });
    assert.deepEqual(victimsOf(scheduleRound(input)), [['v', 'y']]);
  });

  test('a victim makes room also if an earlier experiment starts before the victim has left', () => {
    const leaving = new Map<string, Leaving>([['x', { by: 'u', until: NOW + MINUTE }]]);
    // Without x, the first one starts on node a: without y, the second one would have no room then.
    const runs = { x: { on: { a: 1, b: 1 } }, y: { on: { a: 1 }, startedAt: 2 }, z: { on: { b: 1 } } };
    const input = inputOf(['a', 'b'], runs, { queued: [urgent('u', 7), urgent('v', 8)], leaving });
    assert.deepEqual(victimsOf(scheduleRound(input)), [['v', 'z']]);
  });

  test('until Ray reports the ends of victims, nothing takes out of turn what they made room for', () => {
    const freed = inputOf(['a', 'b'], { x: { on: { a: 8 } }, y: { on: { b: 7 } } }).allocations;
    const used = [node('a', 8, 16, { gpusUsed: 8 }), node('b', 8, 16, { gpusUsed: 7 })];
    const clusters = [cluster('c', used, { backfill: true })];
    const queued = [urgent('u', 8), urgent('v', 8), waits('n', 1)];
    const schedule = scheduleRound(inputOf(['a', 'b'], {}, { queued, clusters, freed }));
    assert.deepEqual([schedule.start, schedule.preempt], [[], []]);
  });
});

test('the wait reason tells victims of the own project with their loss, and the estimate is the end of their time', () => {
  const runs = { x: { on: { a: 8 }, lostMs: 2 * MINUTE }, y: { on: { b: 8 }, project: 'q' } };
  const input = inputOf(['a', 'b'], runs, { queued: [urgent('u', 16, { nodes: 2 })] });
  const schedule = scheduleRound(input);
  assert.match(
    schedule.reasons.get('u')!,
    /; starts in about 5 min by preempting y; x, which continues from its checkpoint of step 120 or a later one and loses at most 7 min$/,
  );
  assert.equal(estimateStarts(input, schedule).get('u')?.at?.likely, NOW + PREEMPT_WITHIN_MS);
  const leaving = new Map(['x', 'y'].map((id) => [id, { by: 'u', until: NOW + 2 * MINUTE }]));
  const later = scheduleRound({ ...input, leaving });
  assert.deepEqual(later.preempt, []);
  assert.match(
    later.reasons.get('u')!,
    /; starts in about 2 min by preempting x, .* loses at most 4 min; y$/,
  );
});

/** The input after some experiments have stopped, with the starts of the round. */
function after(input: ScheduleInput, { start }: Schedule, gone: ReadonlySet<string>): ScheduleInput {
  const started = new Set(start.map(({ experiment }) => experiment));
  const kept = input.allocations.get('c')!.filter(({ experiment }) => !gone.has(experiment));
  return {
    ...input,
    queued: input.queued.filter(({ experiment }) => !started.has(experiment)),
    allocations: new Map([['c', [...kept, ...start.flatMap(allocationsOf)]]]),
  };
}

/** Whether the experiments start in the next round if `gone` have stopped. */
function startBy(input: ScheduleInput, schedule: Schedule, gone: ReadonlySet<string>): Set<string> {
  return new Set(scheduleRound(after(input, schedule, gone)).start.map(({ experiment }) => experiment));
}

describe('over any situation', () => {
  const RUNS = { numRuns: 2_000 };
  let preemptions = 0;

  test('every preempting experiment is urgent and starts once its victims are gone, which are batch and below the limit', () => {
    fc.assert(
      fc.property(situations, (situation) => {
        const input = build(situation);
        const schedule = scheduleRound(input);
        const all = schedule.preempt.flatMap(({ victims }) => victims.map(({ experiment }) => experiment));
        preemptions += schedule.preempt.length;
        assert.equal(new Set(all).size, all.length, 'a victim leaves once');
        for (const id of all) {
          assert.equal(
            input.allocations.get('c')!.find(({ experiment }) => experiment === id)!.priorityClass,
            'batch',
          );
          assert.ok(input.victims!.get(id)!.times < MAX_PREEMPTIONS);
        }
        const started = startBy(input, schedule, new Set(all));
        for (const { experiment } of schedule.preempt) {
          assert.equal(input.queued.find((one) => one.experiment === experiment)!.priorityClass, 'urgent');
          assert.ok(started.has(experiment), `${experiment} does not start`);
        }
      }),
      RUNS,
    );
    assert.ok(preemptions > 100, `only ${preemptions} preemptions were made`);
  });

  test('the victims of the first preemption are the cheapest of all sets', () => {
    fc.assert(
      fc.property(situations, (situation) => {
        const built = build(situation);
        const first = scheduleRound(built).preempt[0];
        if (first === undefined) return;
        const item = built.queued.find((one) => one.experiment === first.experiment)!;
        const input = { ...built, queued: [item] };
        const own = scheduleRound(input).preempt[0];
        if (own === undefined) return; // alone it has room, or starts soon
        const gpus = (id: string) =>
          input.allocations
            .get('c')!
            .filter((one) => one.experiment === id)
            .reduce((sum, one) => sum + one.gpus, 0);
        const costOf = (ids: readonly string[]) => [
          ids.reduce((sum, id) => sum + (input.victims!.get(id)!.lostMs / MINUTE) * gpus(id), 0),
          ids.length,
          -ids.reduce((sum, id) => sum + input.victims!.get(id)!.startedAt!, 0),
        ];
        const possible = [...input.victims!]
          .filter(([, { times }]) => times < MAX_PREEMPTIONS)
          .map(([id]) => id);
        const found = costOf(own.victims.map(({ experiment }) => experiment));
        for (let bits = 1; bits < 2 ** possible.length; bits += 1) {
          const ids = possible.filter((_, at) => bits & (1 << at));
          if (!startBy(input, scheduleRound(input), new Set(ids)).has(item.experiment)) continue;
          const cost = costOf(ids);
          const at = cost.findIndex((value, index) => value !== found[index]);
          assert.ok(at === -1 || found[at]! < cost[at]!, `${ids} for ${cost} instead of ${found}`);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('told in the next round that they leave, the same experiments preempt no further ones', () => {
    fc.assert(
      fc.property(situations, (situation) => {
        const input = build(situation);
        const schedule = scheduleRound(input);
        const leaving = new Map(
          schedule.preempt.flatMap(({ experiment: by, victims }) =>
            victims.map(({ experiment }) => [experiment, { by, until: NOW + PREEMPT_WITHIN_MS }] as const),
          ),
        );
        const next = scheduleRound({ ...after(input, schedule, new Set()), leaving });
        assert.deepEqual(next.preempt, []);
      }),
      RUNS,
    );
  });
});

test('of hundreds of candidates, none of the victims could be spared', () => {
  const nodes = Array.from({ length: 50 }, (_, at) => `n${at}`);
  const runs = Object.fromEntries(
    nodes.flatMap((id, at) =>
      Array.from({ length: 8 }, (_, slot) => [
        `${id}-${slot}`,
        { on: { [id]: 1 }, lostMs: ((at * 7 + slot * 3) % 11) * MINUTE },
      ]),
    ),
  );
  for (const count of [1, 3]) {
    const input = inputOf(nodes, runs, { queued: [urgent('u', 8 * count, { nodes: count })] });
    const schedule = scheduleRound(input);
    const ids = schedule.preempt[0]!.victims.map(({ experiment }) => experiment);
    assert.equal(ids.length, 8 * count);
    assert.equal(new Set(ids.map((id) => id.split('-')[0])).size, count);
    assert.ok(startBy(input, schedule, new Set(ids)).has('u'));
  }
});

test('a preempted experiment is queued after the one that it left for, whatever its priority, and is spared after the third time', () => {
  // A victim is queued after the experiment that it left for: the class comes first in the order.
  const queued = [urgent('u', 8), waits('x', 8, 8, { priorityClass: 'batch', priority: 100, arrival: 0 })];
  const input = inputOf(['a'], {}, { queued });
  assert.deepEqual(
    scheduleRound(input).start.map(({ experiment }) => experiment),
    ['u'],
  );
  const limited = inputOf(
    ['a'],
    { x: { on: { a: 8 }, times: MAX_PREEMPTIONS } },
    { queued: [urgent('u', 8)] },
  );
  assert.deepEqual(scheduleRound(limited).preempt, []);
});

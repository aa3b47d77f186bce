import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Schedule, type ScheduleInput, scheduleRound } from '../../../src/scheduler/schedule.ts';
import { cluster, exactly, node, waits } from '../../support/queue.ts';

/*
 * A round of scheduling refuses experiments of the same shape (cluster, labels, GPUs, CPUs) once for all of them. These
 * tests hold that against experiments of the same shape that differ in what the refusal depends on.
 */
const started = (schedule: Schedule) => schedule.start.map((start) => start.experiment);

test('a short experiment is backfilled although one of the same shape and unknown or longer length was refused', () => {
  const clusters = [cluster('a', [node('n', 4, 16, { gpusUsed: 2 })], { backfill: true })];
  const allocations = new Map([
    ['a', [{ experiment: 'o', project: 'default', node: 'n', gpus: 2, cpus: 1 }]],
  ]);
  const schedule = scheduleRound({
    queued: [waits('large', 4), waits('unknown', 1), waits('long', 1), waits('short', 1)],
    clusters,
    allocations,
    ends: new Map([['o', exactly(100)]]),
    lengths: new Map([
      ['long', exactly(101)],
      ['short', exactly(100)],
    ]),
  });
  assert.deepEqual(started(schedule), ['short']);
  assert.equal(
    schedule.reasons.get('unknown'),
    'would delay large, which is next on a: its own run time is not known yet',
  );
  assert.equal(schedule.reasons.get('long'), 'would delay large, which is next on a');
});

test('a short experiment is backfilled on one cluster although a strict one is blocked', () => {
  const used = node('n', 4, 16, { gpusUsed: 2 });
  const clusters = [cluster('strict', [used]), cluster('filling', [used], { backfill: true })];
  const held = { experiment: 'o', project: 'default', node: 'n', gpus: 2, cpus: 1 };
  const schedule = scheduleRound({
    queued: [waits('large', 4), waits('long', 1), waits('short', 1)],
    clusters,
    ends: new Map([['o', exactly(100)]]),
    allocations: new Map([['filling', [held]]]),
    lengths: new Map([
      ['long', exactly(101)],
      ['short', exactly(100)],
    ]),
  });
  assert.deepEqual(
    schedule.start.map(({ experiment, cluster }) => [experiment, cluster]),
    [['short', 'filling']],
  );
  assert.equal(schedule.reasons.get('long'), 'would delay large, which is next on filling');
});

const item = fc.record({
  gpus: fc.constantFrom(1, 2, 4),
  pinned: fc.option(fc.integer({ min: 0, max: 1 }), { freq: 1 }),
  length: fc.option(fc.constantFrom(50, 100, 200)),
});
const place = fc.record({
  gpus: fc.constantFrom(2, 4),
  held: fc.option(fc.record({ gpus: fc.constantFrom(1, 2), end: fc.constantFrom(50, 100, 150) }), {
    freq: 4,
  }),
});
const labels = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`${index}`, '']));
const worlds = fc.record({
  queued: fc.array(item, { maxLength: 12 }),
  clusters: fc.array(
    fc.record({
      backfill: fc.boolean(),
      answering: fc.constantFrom(true, true, true, false),
      places: fc.array(place, { minLength: 1, maxLength: 2 }),
    }),
    { minLength: 2, maxLength: 2 },
  ),
});

/** Every cluster has the labels `0` to `11`; `labelOf` says which of them an experiment asks for. */
function inputOf(
  { queued, clusters }: typeof worlds extends fc.Arbitrary<infer T> ? T : never,
  labelOf: (index: number) => string,
): ScheduleInput {
  const held = clusters.map(({ places }, at) =>
    places.flatMap(({ held, gpus }, index) =>
      held === null
        ? []
        : [
            {
              experiment: `o${at}${index}`,
              project: 'default',
              node: `n${index}`,
              gpus: Math.min(held.gpus, gpus),
              cpus: 1,
              end: held.end,
            },
          ],
    ),
  );
  return {
    queued: queued.map(({ gpus, pinned }, index) =>
      waits(`x${index}`, gpus, 1, {
        cluster: pinned === null ? null : `c${pinned}`,
        labels: { [labelOf(index)]: '' },
      }),
    ),
    clusters: clusters.map(({ places, ...rest }, at) =>
      cluster(
        `c${at}`,
        places.map(({ gpus }, index) => node(`n${index}`, gpus, 8)),
        { ...rest, labels },
      ),
    ),
    allocations: new Map(held.map((items, at) => [`c${at}`, items])),
    ends: new Map(held.flat().map(({ experiment, end }) => [experiment, exactly(end)])),
    lengths: new Map(
      queued.flatMap(({ length }, index) =>
        length === null ? [] : [[`x${index}`, exactly(length)] as const],
      ),
    ),
  };
}

test('experiments of one shape start on the same nodes as experiments that share no shape', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const shared = scheduleRound(inputOf(world, () => '0'));
      const apart = scheduleRound(inputOf(world, (index) => `${index}`));
      const places = ({ start }: Schedule) =>
        start.map(({ experiment, cluster, nodes }) => `${experiment} ${cluster} ${JSON.stringify(nodes)}`);
      assert.deepEqual(places(shared), places(apart));
      for (const [id, reason] of shared.reasons)
        if (/its own run time is not known yet/.test(reason))
          assert.equal(world.queued[Number(id.slice(1))]!.length, null, `${id}: ${reason}`);
    }),
    { numRuns: 3000 },
  );
});

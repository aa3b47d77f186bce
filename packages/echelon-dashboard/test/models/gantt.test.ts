import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  axisAround,
  coloursOf,
  factsOf,
  lanesOf,
  neighbour,
  placeOn,
  ticksOf,
  ticksThatFit,
} from '../../src/models/gantt.ts';

const node = (id: string) => ({ id, gpusTotal: 8, gpusFree: 5 });
const clusters = [{ name: 'c', nodes: [node('a'), node('b')] }] as never[];
const runs = (experiment: string, on: string, more: object = {}) =>
  ({
    experiment,
    name: experiment,
    project: 'p',
    cluster: 'c',
    node: on,
    startedAt: 10,
    leavesAt: null,
    end: { endAt: 100, earliest: 90, latest: 120 },
    ...more,
  }) as never;
const queued = (experiment: string, startAt: number, more: object = {}) =>
  ({
    experiment,
    name: experiment,
    project: 'p',
    estimate: { startAt, earliest: startAt, latest: startAt + 5 },
    place: { cluster: 'c', nodes: ['a'], endAt: startAt + 50, isHead: false, ...more },
  }) as never;

test('a node has a lane, on which bars that overlap are on different rows', () => {
  const allocated = [runs('x', 'a'), runs('y', 'a', { startedAt: 20 })];
  const [first, second] = lanesOf({ clusters, allocated, queued: [queued('z', 100), queued('w', 110)] }, 50);
  assert.deepEqual(
    first!.bars.map(({ experiment, kind, from, to, row }) => [experiment, kind, from, to, row]),
    [
      ['x', 'running', 10, 100, 0],
      ['y', 'running', 20, 100, 1],
      ['z', 'queued', 100, 150, 0],
      ['w', 'queued', 110, 160, 1],
    ],
  );
  assert.deepEqual([first!.rows, first!.gpusInUse, second!.bars, second!.rows], [2, 3, [], 1]);
});

test('the facts of a preempted experiment say that it stops and continues', () => {
  const facts = (more: object) =>
    factsOf(
      lanesOf({ clusters, allocated: [runs('x', 'a', { gpus: 1, cpus: 1, ...more })], queued: [] }, 50)[0]!
        .bars[0]!,
      50,
      new Map(),
    );
  assert.match(facts({ leavesAt: 60_000 }), / Preempted: it stops at its next checkpoint, at the latest /);
  assert.doesNotMatch(facts({}), /Preempted/);
});

test('an experiment on several nodes is on each lane, and one without a place is on none', () => {
  const gang = queued('gang', 100, { nodes: ['a', 'b'], isHead: true, endAt: null });
  const none = { ...(queued('none', 100) as object), place: null } as never;
  const lanes = lanesOf({ clusters, allocated: [], queued: [gang, none] }, 50);
  assert.deepEqual(
    lanes.map(({ bars }) => bars.map(({ experiment, isHead, to }) => [experiment, isHead, to])),
    [[['gang', true, null]], [['gang', true, null]]],
  );
});

test('nothing is drawn after an experiment whose end is not known, and a node that is gone has its lane', () => {
  const allocated = [runs('x', 'a', { end: null }), runs('old', 'gone')];
  const lanes = lanesOf({ clusters, allocated, queued: [queued('z', 500)] }, 50);
  assert.deepEqual(
    lanes.map(({ node: id, bars }) => [id, bars.map(({ row }) => row)]),
    [
      ['a', [0, 1]],
      ['b', []],
      ['gone', [0]],
    ],
  );
});

test('arrow keys lead along a lane, and to the nearest bar of the next lane with bars', () => {
  const bars = (...froms: number[]) => ({ bars: froms.map((from) => ({ from })) as never[] });
  const lanes = [bars(0, 50, 90), bars(), bars(40, 100)];
  assert.deepEqual(neighbour(lanes, [0, 1], 'ArrowRight'), [0, 2]);
  assert.equal(neighbour(lanes, [0, 0], 'ArrowLeft'), undefined);
  assert.deepEqual(neighbour(lanes, [0, 1], 'ArrowDown'), [2, 0]);
  assert.deepEqual(neighbour(lanes, [2, 1], 'ArrowUp'), [0, 2]);
  assert.equal(neighbour(lanes, [0, 1], 'Enter'), undefined);
});

const HOUR = 3_600_000;

test('the axis starts in the past, holds the last time, and is never empty', () => {
  const { from, to } = axisAround(10 * HOUR, [9.5 * HOUR, 12 * HOUR]);
  assert.ok(from <= 9.5 * HOUR && to >= 12 * HOUR);
  const empty = axisAround(0, []);
  assert.ok(empty.from < 0 && empty.to >= 60_000);
});

test('a long past takes at most a third of the axis', () => {
  const { from, to } = axisAround(100 * HOUR, [0, 101 * HOUR]);
  assert.ok(100 * HOUR - from <= (to - from) / 3 + 1);
});

test('a time has its place on the axis, and a time beyond its ends is at the end', () => {
  const axis = { from: 100, to: 200 };
  assert.deepEqual(
    [50, 100, 150, 300].map((at) => placeOn(axis, at)),
    [0, 0, 0.5, 1],
  );
});

test('ticks are round local times, and not more than asked for', () => {
  const offset = 5.5 * HOUR;
  const ticks = ticksOf({ from: 0.2 * HOUR, to: 6.2 * HOUR }, 4, offset);
  assert.deepEqual(
    ticks.map((at) => (at + offset) / HOUR),
    [6, 8, 10],
  );
  assert.ok(ticksOf({ from: 0, to: 90 * 24 * HOUR }, 6, 0).length <= 7);
});

test('labels of the axis that would leave it or cover the present are omitted', () => {
  const axis = { from: 0, to: 10 * HOUR };
  const hours = Array.from({ length: 11 }, (_, hour) => hour * HOUR);
  const fit = (now: number, width: number) => ticksThatFit(axis, hours, now, width).map((at) => at / HOUR);
  assert.deepEqual(fit(5.2 * HOUR, 1000), [1, 2, 3, 4, 6, 7, 8, 9]);
  assert.deepEqual(fit(0, 200), [2, 3, 4, 5, 6, 7, 8, 9]);
  // A label with a date needs more room at the end.
  assert.ok(!fit(-24 * HOUR, 300).includes(9));
});

test('bars of one name have a colour, and a bar alone has none', () => {
  const bars = ['a: 1', 'b', 'a: 2'].map((name) => ({ name, project: 'p' }));
  assert.deepEqual(
    [...coloursOf(bars, 'sweep').colours],
    [
      ['a', 1],
      ['b', 0],
    ],
  );
  assert.deepEqual([...coloursOf(bars.slice(1, 2), 'project').colours], [['p', 1]]);
});

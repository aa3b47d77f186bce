import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type ClockMemory,
  type ClockReading,
  isLeapt,
  judgeClock,
  type OwnClocks,
} from '../../../../src/store/clock/judge.ts';

const [SECOND, HOUR, DAY] = [1000, 3_600_000, 24 * 3_600_000];
const T = 1000 * DAY;

interface Seen extends Partial<ClockReading> {
  /** Time since the last judgement. */
  elapsed?: number;
  /** How far the server's clock leaps in it. */
  leap?: number;
  /** Default: the same machine as before. */
  other?: boolean;
  wall?: number;
  within?: number;
}

/** The correction by a process that remembers its last judgement, or by one that has just started. */
function judged(process: 'watching' | 'started', seen: Seen): number {
  const { elapsed = 2 * SECOND, leap = 0, correction = 0, other = false, within = 0 } = seen;
  const server = T + elapsed + leap - correction;
  const reading = { server, time: server + correction, correction, seen: T, machine: 'm', uptime: HOUR };
  const own: OwnClocks = {
    machine: other ? 'other' : 'm',
    uptime: HOUR + elapsed,
    within,
    wall: seen.wall ?? T + elapsed,
  };
  const memory: ClockMemory = { server: T - correction, time: T, uptime: HOUR, within: 0 };
  return judgeClock(
    { ...reading, ...('seen' in seen && { seen: seen.seen! }) },
    own,
    process === 'watching' ? memory : null,
  );
}

describe('a process that watches the clock', () => {
  test('a steady clock needs no correction', () => {
    assert.equal(judged('watching', {}), 0);
    assert.equal(judged('watching', { elapsed: 30 * DAY, leap: 30 * SECOND }), 0);
  });

  for (const leap of [800 * DAY, DAY, HOUR, -HOUR, -20 * 365 * DAY])
    test(`a leap of ${leap / HOUR} h is corrected, and its return takes that back`, () => {
      assert.equal(judged('watching', { leap }), -leap);
      assert.ok(isLeapt(-leap));
      assert.equal(judged('watching', { correction: -leap, leap: -leap }), 0);
    });

  test('a process that watches the clock keeps a leap corrected', () =>
    assert.equal(judged('watching', { correction: -DAY }), -DAY));

  test('a leap of a minute is worked off by a tenth of the elapsed time', () => {
    assert.equal(judged('watching', { elapsed: 10 * SECOND, leap: 60 * SECOND }), -59 * SECOND);
    assert.equal(judged('watching', { elapsed: 10 * SECOND, correction: -30 * SECOND }), -29 * SECOND);
    assert.equal(judged('watching', { elapsed: 10 * SECOND, correction: 500 }), 0);
  });

  test('a leap that another process has corrected is not corrected again', () => {
    const own = { machine: 'm', uptime: HOUR + 2 * SECOND, wall: 0, within: 0 };
    const server = T + DAY + 2 * SECOND;
    const reading = { server, time: T + 2 * SECOND, correction: -DAY, seen: T, machine: 'other', uptime: 0 };
    assert.equal(judgeClock(reading, own, { server: T, time: T, uptime: HOUR, within: 0 }), -DAY);
  });

  test('a clock that an operator has confirmed stays confirmed', () => {
    const own = { machine: 'm', uptime: HOUR + 2 * SECOND, wall: 0, within: 0 };
    const server = T + DAY + 2 * SECOND;
    const reading = { server, time: server, correction: 0, seen: T + DAY, machine: 'other', uptime: 0 };
    assert.equal(judgeClock(reading, own, { server: T + DAY, time: T, uptime: HOUR, within: 0 }), 0);
  });

  test('a slow answer is no leap', () => {
    assert.equal(judged('watching', { leap: 20 * SECOND, within: 20 * SECOND }), 0);
  });
});

describe('a process that has just started', () => {
  test('the first one of a store believes the clock', () => {
    assert.equal(judged('started', { seen: null, leap: 800 * DAY }), 0);
  });

  test('a process that has just started on the same machine corrects a leap beside the restart', () => {
    assert.equal(judged('started', { elapsed: HOUR }), 0);
    assert.equal(judged('started', { elapsed: HOUR, leap: DAY, wall: T + HOUR + DAY }), -DAY);
  });

  test('a process that has just started on another machine believes an absence of days if its own clock says the same', () => {
    assert.equal(judged('started', { other: true, elapsed: 20 * DAY }), 0);
    assert.ok(isLeapt(judged('started', { other: true, elapsed: 20 * DAY, wall: T + DAY })));
    assert.equal(
      judged('started', { other: true, elapsed: 0, leap: 800 * DAY, wall: T + 800 * DAY }),
      -800 * DAY,
    );
    assert.equal(judged('started', { other: true, elapsed: 0, leap: -DAY, wall: T - DAY }), DAY);
  });

  test('a process that has just started on another machine takes the correction of processes that watch', () => {
    assert.equal(judged('started', { other: true, correction: -DAY, wall: T + DAY }), -DAY);
  });

  test('a clock that is right again after an absence needs no correction', () => {
    assert.equal(judged('started', { other: true, elapsed: 2 * DAY, correction: -DAY, leap: -DAY }), 0);
  });
});

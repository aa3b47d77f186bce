import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { quarantineOf } from '../../../../src/dispatch/attempt/context.ts';
import type { AttemptStatus } from '../../../../src/rpc/ray-worker.ts';
import type { Crash } from '../../../../src/store/attempts/types.ts';
import { attemptBench, STOPPED, SUCCEEDED } from '../../../support/attempt-bench.ts';

const charged = (during: Crash['during']): Crash => ({ at: 0, attempt: 2, dispatcher: 'host-1', during });
const TAKEOVERS = Array.from({ length: 3 }, () => charged('takeover'));

describe('quarantine', () => {
  test('three crashes of one kind lead to quarantine, with their evidence', () => {
    assert.equal(quarantineOf([]), null);
    assert.equal(quarantineOf([...TAKEOVERS.slice(1), charged('launch'), charged('launch')]), null);
    const launches = quarantineOf([charged('launch'), charged('launch'), charged('launch')]);
    assert.equal(launches?.unreadable, false);
    assert.match(
      launches.reason,
      /^quarantined after 3 crashes: dispatcher host-1 was lost as it launched attempt 2 \(1970-/,
    );
    const takeovers = quarantineOf(TAKEOVERS);
    assert.equal(takeovers?.unreadable, true);
    assert.match(
      takeovers.reason,
      /was lost as it took over attempt 2 .*; its events since then were not read$/,
    );
  });

  /** An attempt whose events must not be read. */
  function unreadable(known: Partial<AttemptStatus>) {
    const attempt = attemptBench({ confirmed: true, takenOver: true, state: 'running', crashes: TAKEOVERS });
    const status = { attempt: 1, running: true, ended: null, tombstone: false, ...known } as AttemptStatus;
    attempt.state.known = [status];
    // biome-ignore lint/correctness/useYield: it fails before its first event
    attempt.state.events = async function* () {
      assert.fail('its events are read');
    };
    return { ...attempt, status };
  }

  test('a running attempt in quarantine is neither stopped nor read, and its end is recorded', async () => {
    const { calls, run, status, state } = unreadable({});
    let asked = 0;
    const attempt = run();
    Object.defineProperty(status, 'ended', { get: () => (++asked > 2 ? SUCCEEDED : null) });
    assert.equal(await attempt.done, 'succeeded');
    assert.deepEqual(calls, ['end succeeded']);
    assert.match(state.decision?.reason ?? '', /; quarantined after 3 crashes/);
    assert.equal(state.settled, 0, 'what it is charged with stays');
  });

  test('a running attempt in quarantine gets no further attempt', async () => {
    const { run, state } = unreadable({ ended: { ...STOPPED, cause: 'killed' } });
    assert.equal(await run().done, 'failed');
    assert.ok(state.decision?.to === 'failed' && state.decision.quarantined);
  });

  test('a cancel stops a driver in quarantine', async () => {
    const { calls, run, status, state } = unreadable({});
    state.stop = async () => {
      status.ended = STOPPED;
      return { dropped: false, ended: STOPPED };
    };
    const attempt = run();
    attempt.cancel();
    assert.equal(await attempt.done, 'cancelled');
    assert.deepEqual(calls, ['stop 1 grace 0', 'end cancelled']);
  });

  test('an attempt in quarantine that the ray-worker does not know is stopped for good', async () => {
    const { calls, run, state } = unreadable({});
    state.known = [];
    assert.equal(await run().done, 'failed');
    assert.deepEqual(calls, ['stop 1 grace 0', 'end failed']);
  });
});

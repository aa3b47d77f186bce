import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLeasedAttempts } from '../../../../src/dispatch/attempt/leased-attempts.ts';
import type { Lease, Renewal, TakenOver } from '../../../../src/store/attempts/types.ts';
import { attemptBench, SUCCEEDED, silence } from '../../../support/attempt-bench.ts';
import { QUIET, until } from '../../../support/dispatch.ts';

/** What is held, over a store of which one experiment's attempt can be taken. */
function holding({ taken = [] as TakenOver[], renewals = [] as Partial<Renewal>[], leaseMs = 60_000 } = {}) {
  const attempt = attemptBench({ confirmed: true, state: 'running' });
  attempt.state.events = silence;
  const released: Lease[] = [];
  const renewedFor: number[] = [];
  const asked: boolean[] = [];
  const cutOff = new Set<string>();
  let ended = 0;
  const held = createLeasedAttempts({
    store: {
      ...attempt.deps.store,
      attempts: {
        ...attempt.deps.store.attempts,
        takeOver: async ({ limit, suspects = false }) => {
          asked.push(suspects);
          return taken.splice(0, limit);
        },
        renew: async (leases, leaseMs) => {
          renewedFor.push(leaseMs);
          const held = { status: 'held', state: 'running', limitReached: null, preemption: null } as const;
          return leases.map((lease) => ({ lease, ...held, ...renewals[0] }));
        },
        release: async (leases) => void released.push(...leases),
      },
    },
    attempt: attempt.deps,
    dispatcher: 'd',
    leaseMs,
    cutOff: () => cutOff,
    onEnd: () => {
      ended += 1;
    },
    log: QUIET,
  });
  const followed = () =>
    until(() => attempt.calls.some((call) => call.startsWith('attach')), 'it is followed');
  return { ...attempt, held, cutOff, released, renewals, renewedFor, asked, followed, ends: () => ended };
}

describe('the leased attempts', () => {
  test('an attempt that ends is removed, and its end is reported', async () => {
    const { held, state, entry, ends } = holding();
    state.events = async function* () {
      yield { sequence: 1, at: 0, event: SUCCEEDED };
    };
    held.begin(entry);
    assert.equal(held.runs.size, 1);
    await until(() => held.runs.size === 0, 'it is over');
    assert.equal(ends(), 1);
  });

  /* Fails if a round takes over only once: the other expired leases would wait for the next round. */
  test('a takeover repeats until every expired lease is taken over', async () => {
    const taken = Array.from(
      { length: 65 },
      (_, at): TakenOver => ({
        lease: { experiment: `exp-${at}`, attempt: 1, token: 't' },
        state: 'running',
        cluster: 'c',
        confirmed: true,
        lastSequence: 0,
        crashes: [],
      }),
    );
    const { held } = holding({ taken });
    held.takeover.start();
    await until(() => held.runs.size === 65, 'all are in hand');
    await held.takeover.stop();
    await held.leaveAll(false);
  });

  /* Fails if the lease is not released: no other dispatcher would follow the attempt. */
  test('the attempts of a cluster that only others reach are given up, and their drivers are not stopped', async () => {
    const { held, entry, cutOff, released, calls, followed } = holding({ leaseMs: 30 });
    held.begin(entry);
    await followed();
    held.takeover.start();
    cutOff.add('other');
    await new Promise(setImmediate);
    assert.equal(held.runs.size, 1);
    cutOff.add(entry.cluster);
    await until(() => released.length > 0, 'its lease is released');
    await held.takeover.stop();
    assert.deepEqual([released, held.runs.size], [[entry.lease], 0]);
    assert.ok(!calls.some((call) => call.startsWith('stop') || call.startsWith('end')));
  });

  /* Fails where a process that dies soon after each start takes suspects: it would charge them. */
  test('a new process takes no suspects before it has run for one lease time', async () => {
    const { held, asked } = holding({ leaseMs: 30 });
    held.takeover.start();
    await until(() => asked.includes(true), 'it asks for suspects');
    await held.takeover.stop();
    assert.equal(asked[0], false);
  });

  /* Fails where a launch that waits for its ray-worker is charged with whatever ends the process hours later. */
  test('a renewal settles attempts that were leased for longer than one lease time', async () => {
    const { held, state, entry, followed } = holding({ leaseMs: 30 });
    held.begin(entry);
    await followed();
    held.renewal.start();
    await until(() => state.settled === 1, 'it is settled');
    await held.renewal.stop();
    await held.leaveAll(false);
  });

  // Fails with one renewal less: a dispatcher that is busy for half of its lease would lose its attempts.
  test('a lease is renewed three times in its time to live', async (t) => {
    const { held, entry, followed, renewedFor } = holding();
    held.begin(entry);
    await followed();
    t.mock.timers.enable({ apis: ['setTimeout'] });
    held.renewal.start();
    for (let second = 1; second < 60; second += 1) {
      await new Promise(setImmediate);
      t.mock.timers.tick(1_000);
    }
    assert.deepEqual(renewedFor, [60_000, 60_000, 60_000]);
    await held.renewal.stop();
    await held.leaveAll(false);
  });

  /* Fails if a renewal ignores what it learns. */
  test('a renewal drops lost attempts and stops attempts that are cancelled or have reached a limit', async () => {
    for (const [renewal, expected] of [
      [{ status: 'lost' }, []],
      [{ state: 'cancelling' }, ['stop 1 grace 7', 'end cancelled']],
      [{ limitReached: 'its deadline has passed' }, ['stop 1 grace 7', 'end failed']],
    ] as const) {
      const { held, entry, calls, renewals, followed } = holding();
      held.begin(entry);
      await followed();
      renewals[0] = renewal;
      held.renewal.start();
      await until(() => held.runs.size === 0, JSON.stringify(renewal));
      await held.renewal.stop();
      assert.deepEqual(calls.slice(1), expected);
    }
  });

  test('a hand-over releases the leases without an end; without a hand-over they expire', async () => {
    for (const [handOver, expected] of [
      [true, 1],
      [false, 0],
    ] as const) {
      const { held, entry, calls, released, followed } = holding();
      held.begin(entry);
      await followed();
      held.close();
      await held.leaveAll(handOver);
      assert.equal(released.length, expected);
      assert.deepEqual(calls.slice(1), []);
    }
  });

  test('an attempt that begins after the close is handed over as well', async () => {
    const { held, entry, released } = holding();
    held.close();
    held.begin(entry);
    await held.leaveAll(true);
    assert.deepEqual(released, [entry.lease]);
  });
});

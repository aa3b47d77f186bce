import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BatchFormatError } from 'echelon-verify/format';
import { VerifierBusyError } from 'echelon-verify/pool';
import { EchelonError } from '../../../../src/core/errors.ts';
import { createVerification, toVerificationEvent } from '../../../../src/dispatch/background/verification.ts';
import { type StoredReport, unverifiableReport } from '../../../../src/store/batches/stored-report.ts';
import type { BatchRecord } from '../../../../src/store/batches/types.ts';
import { createKeys } from '../../../../src/store/redis/keys.ts';
import { allBatches } from '../../../support/batches.ts';
import { QUIET, until } from '../../../support/dispatch.ts';
import { partialStore } from '../../../support/partial-store.ts';
import { recordBatch, running, type Scope, storeFor } from '../../../support/store.ts';

function record(batch: number): BatchRecord {
  return {
    experiment: 'exp-a',
    attempt: 1,
    batch,
    step: batch,
    rows: 4,
    digest: '',
    firstEntry: '1-1',
    lastEntry: '1-1',
    gpuMs: 0,
    report: null,
  };
}

const GOOD: StoredReport = {
  name: 'step 1',
  fingerprint: '',
  rows: 4,
  exact: 2,
  rounding: 1,
  wrong: 1,
  unverifiable: 0,
  findings: [
    { code: 'x', severity: 'error', message: 'x', rows: [] },
    { code: 'x', severity: 'error', message: 'x', rows: [] },
    { code: 'y', severity: 'warning', message: 'y', rows: [] },
  ],
  ok: false,
};

function bench(pending: BatchRecord[]) {
  const reports = new Map<number, StoredReport>();
  const given: number[] = [];
  return {
    reports,
    given,
    store: partialStore({
      batches: {
        takePending: async (limit: number) => pending.splice(0, limit),
        beginPending: async () => true,
        renewPending: async () => {},
        returnPending: async (items: readonly BatchRecord[]) =>
          void given.push(...items.map(({ batch }) => batch)),
        bytes: async ({ batch }: BatchRecord) => new Uint8Array([batch]),
        report: async ({ batch }: BatchRecord, _: unknown, report: unknown) => {
          assert.ok(!reports.has(batch));
          reports.set(batch, report as StoredReport);
          return 'stored' as const;
        },
      },
    }),
  };
}

const NO_BATCH = new BatchFormatError({ code: 'unreadable', file: 'x', expected: 'a batch' });
const TIMES = { holder: 'verifier-1', leaseMs: 1000, everyMs: 5, log: QUIET };

describe('verification', () => {
  test('the event of a report has its counts and error codes', () => {
    const { errors, exact, ok, batch } = toVerificationEvent(record(3), GOOD);
    assert.deepEqual([errors, exact, ok, batch], [['x'], 2, false, 3]);
  });

  test('a backlog is verified within the limit of concurrent batches', async () => {
    const { store, reports } = bench(Array.from({ length: 20 }, (_, index) => record(index + 1)));
    let now = 0;
    let most = 0;
    const verifier = {
      async verify() {
        now += 1;
        most = Math.max(most, now);
        await new Promise((resolve) => setImmediate(resolve));
        now -= 1;
        return GOOD;
      },
    };
    const verification = createVerification({ store, verifier, concurrency: 3, ...TIMES, everyMs: 2 ** 30 });
    verification.start();
    await until(() => reports.size === 20, 'all have reports');
    await verification.stop();
    assert.equal(most, 3);
  });

  // Without a report of its own, such a batch would come back forever.
  test('a batch that cannot be verified is reported as unverifiable, with the reason', async () => {
    const { store, reports } = bench([record(1), record(2)]);
    const verifier = {
      async verify(wire: Uint8Array) {
        if (wire[0] === 1) throw NO_BATCH;
        return GOOD;
      },
    };
    const verification = createVerification({ store, verifier, concurrency: 1, ...TIMES });
    verification.start();
    await until(() => reports.size === 2, 'both have reports');
    await verification.stop();
    const report = reports.get(1);
    assert.equal(report?.unverifiable, 4);
    assert.equal(report?.ok, false);
    assert.match(JSON.stringify(report), /expected a batch/);
    assert.deepEqual(unverifiableReport(record(1), NO_BATCH), report);
  });

  /* Fails without MAX_TRIES in either place: the batch is tried forever. */
  test('a batch on which the verifier dies repeatedly is given up, with a report', async () => {
    const { store, reports } = bench([record(1), { ...record(2), deaths: 3 }, { ...record(3), deaths: 2 }]);
    const tries = new Map<number, number>();
    const verifier = {
      async verify([batch = 0]: Uint8Array) {
        tries.set(batch, (tries.get(batch) ?? 0) + 1);
        if (batch === 1) throw new Error('the process was killed');
        return GOOD;
      },
    };
    const verification = createVerification({ store, verifier, concurrency: 1, ...TIMES });
    verification.start();
    await until(() => reports.size === 3, 'all have reports');
    await verification.stop();
    assert.match(JSON.stringify(reports.get(1)), /verifying it failed 3 times: the process was killed/);
    assert.match(JSON.stringify(reports.get(2)), /ended without a report 3 times/);
    assert.equal(reports.get(3), GOOD);
    assert.deepEqual(
      [...tries],
      [
        [1, 3],
        [3, 1],
      ],
    );
  });

  /* Fails if the first wrong answer of a bucket counts: a correct batch would stay unverifiable for good. */
  test('a batch whose bytes are missing or damaged stays pending for a while, and is then unverifiable', async () => {
    for (const code of ['not-found', 'not-verifiable'] as const)
      for (const doubtMs of [60_000, 0]) {
        const { store, reports, given } = bench([record(1)]);
        store.batches.bytes = async () => {
          throw new EchelonError(code, 'The archive does not have it');
        };
        const verifier = { verify: async () => GOOD };
        const verification = createVerification({ store, verifier, concurrency: 1, ...TIMES, doubtMs });
        verification.start();
        await until(() => given.length + reports.size > 0, 'it is given back or has a report');
        await verification.stop();
        assert.deepEqual([given, reports.get(1)?.unverifiable], doubtMs > 0 ? [[1], undefined] : [[], 4]);
      }
  });

  test('a batch stays pending while no process can be started to verify it', async () => {
    const { store, reports } = bench([record(1)]);
    let tries = 0;
    const verifier = {
      async verify() {
        tries += 1;
        if (tries === 1) throw new VerifierBusyError('The process could not start.');
        return GOOD;
      },
    };
    const verification = createVerification({ store, verifier, concurrency: 1, ...TIMES });
    verification.start();
    await until(() => tries === 1, 'it was tried');
    await verification.stop();
    assert.deepEqual([...reports], []);
  });

  test('unfinished batches are given back and not charged', async () => {
    const { store, given } = bench([record(1)]);
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<StoredReport>();
    const verifier = {
      verify: () => {
        begun.resolve();
        return end.promise;
      },
    };
    const verification = createVerification({ store, verifier, concurrency: 1, ...TIMES });
    verification.start();
    await begun.promise;
    const stopped = verification.stop();
    await until(() => given.length === 1, 'it was given back');
    end.resolve(GOOD);
    await stopped;
  });

  test('a batch stays pending while the store does not answer', async () => {
    const { store, reports } = bench([record(1), record(2)]);
    const verification = createVerification({
      store: partialStore({
        batches: {
          ...store.batches,
          async bytes(item: BatchRecord) {
            if (item.batch === 1) throw new EchelonError('store-unavailable', 'away');
            return await store.batches.bytes(item);
          },
        },
      }),
      verifier: { verify: async () => GOOD },
      concurrency: 1,
      ...TIMES,
    });
    verification.start();
    await until(() => reports.size === 1, 'the other one has its report');
    await verification.stop();
    assert.deepEqual([...reports.keys()], [2]);
  });
});

const { pending: PENDING } = createKeys('echelon');
const SHORT = { leaseMs: 100, everyMs: 5, log: QUIET, retry: { firstMs: 1, longestMs: 5 } };

/** A real store with batches 1, 2, …, each of one byte. */
async function recorded(scope: Scope, batches: number) {
  const { store, redis } = await storeFor(scope);
  const lease = await running(store);
  for (let batch = 1; batch <= batches; batch += 1) {
    await recordBatch(store, lease, { batch, data: Buffer.from([batch]) });
  }
  const id = lease.experiment;
  return {
    store,
    redis,
    id,
    member: (batch: number) => `${id}:1:${batch}`,
    async reported() {
      const known = await allBatches(store, id);
      return known.every(({ report }) => report !== null) && known.map(({ report }) => report);
    },
  };
}

const AWAY = () => new EchelonError('store-unavailable', 'The store does not answer: Command timed out');

/** Carries calls out, and loses the answers of the first `times`. */
function losing<A extends unknown[], T>(call: (...args: A) => Promise<T>, times: number) {
  let lost = 0;
  const losingCall = async (...args: A): Promise<T> => {
    const answer = await call(...args);
    if (lost >= times) return answer;
    lost += 1;
    throw AWAY();
  };
  return Object.assign(losingCall, { lost: () => lost });
}

/** Long enough that a busy machine renews a lease in time. */
const LONGER = { ...SHORT, leaseMs: 600 };

describe('verification with a store that fails, and processes that die', () => {
  /* Fails without the renewal: the second process takes the batch, and four of them condemn it. */
  test('a verification longer than several leases keeps its batch and its report', async (t) => {
    const { store, redis, member, reported } = await recorded(t, 1);
    const end = Promise.withResolvers<StoredReport>();
    const slow = createVerification({
      store,
      verifier: { verify: () => end.promise },
      concurrency: 1,
      holder: 'slow',
      ...LONGER,
    });
    slow.start();
    const endOfLease = async () => Number(await redis.zscore(PENDING, member(1)));
    await until(() => redis.hget(`${PENDING}:begun`, member(1)), 'it begins');
    const first = await endOfLease();
    let verifiedByOther = 0;
    const verifier = {
      async verify() {
        verifiedByOther += 1;
        return GOOD;
      },
    };
    const other = createVerification({ store, verifier, concurrency: 1, holder: 'other', ...LONGER });
    other.start();
    await until(async () => (await endOfLease()) > first + 4 * LONGER.leaseMs, 'its lease is renewed');
    end.resolve(GOOD);
    assert.deepEqual(await until(reported, 'it has its report'), [GOOD]);
    await Promise.all([slow.stop(), other.stop()]);
    assert.equal(verifiedByOther, 0);
  });

  /* Fails where take-pending.lua counts a try: the batch is not verifiable after four lost answers. */
  test('a lost answer about taken batches is not charged', async (t) => {
    const { store, reported } = await recorded(t, 2);
    const takePending = losing(store.batches.takePending, 6);
    const verification = createVerification({
      store: { ...store, batches: { ...store.batches, takePending } },
      verifier: { verify: async () => GOOD },
      concurrency: 1,
      holder: 'verifier',
      ...SHORT,
    });
    verification.start();
    assert.deepEqual(await until(reported, 'both have reports'), [GOOD, GOOD]);
    await verification.stop();
    assert.equal(takePending.lost(), 6);
  });

  /* Fails where a give-back that failed is forgotten: another process counts the batch against this one. */
  test('batches with an unknown beginning that cannot be given back are not charged', async (t) => {
    const { store, redis, member } = await recorded(t, 1);
    const beginPending = losing(store.batches.beginPending, 1);
    let refused = 0;
    const returnPending: typeof store.batches.returnPending = async (...args) => {
      if (args[0].length > 0 && refused < 4) {
        refused += 1;
        throw AWAY();
      }
      await store.batches.returnPending(...args);
    };
    const verification = createVerification({
      store: { ...store, batches: { ...store.batches, beginPending, returnPending } },
      verifier: { verify: async () => GOOD },
      concurrency: 1,
      holder: 'verifier',
      ...SHORT,
      leaseMs: 60_000,
    });
    verification.start();
    const leaveAll = async () => refused === 4 && !(await redis.hget(`${PENDING}:begun`, member(1)));
    await until(leaveAll, 'it lets go');
    await verification.stop();
  });

  /* Fails where a report is thrown away with the first failure: the batch is verified again and again. */
  test('a report waits for a store that does not answer', async (t) => {
    const { store, reported } = await recorded(t, 1);
    let verified = 0;
    let refused = 0;
    const report: typeof store.batches.report = async (...args) => {
      refused += 1;
      if (refused < 6) throw AWAY();
      return await store.batches.report(...args);
    };
    const verifier = {
      async verify() {
        verified += 1;
        return GOOD;
      },
    };
    const verification = createVerification({
      store: { ...store, batches: { ...store.batches, report } },
      verifier,
      concurrency: 1,
      holder: 'verifier',
      ...SHORT,
    });
    verification.start();
    await until(reported, 'it has its report');
    await verification.stop();
    assert.equal(verified, 1);
  });

  /* Fails where all that was begun together is begun together again: each death then counts against all of it. */
  test('batches in whose verification a process died are verified alone', async (t) => {
    const { store, redis, member, reported } = await recorded(t, 4);
    for (const batch of [1, 3]) await redis.hset(`${PENDING}:begun`, member(batch), 'dead');
    const now = new Set<number>();
    const together: number[][] = [];
    const verifier = {
      async verify([batch = 0]: Uint8Array) {
        now.add(batch);
        await redis.ping();
        together.push([...now]);
        now.delete(batch);
        return GOOD;
      },
    };
    const verification = createVerification({ store, verifier, concurrency: 4, holder: 'new', ...SHORT });
    verification.start();
    await until(reported, 'all have reports');
    await verification.stop();
    for (const suspect of [1, 3])
      assert.deepEqual(
        together.filter((those) => those.includes(suspect)),
        [[suspect]],
      );
  });
});

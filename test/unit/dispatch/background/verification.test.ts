import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EchelonError } from '../../../../src/core/errors.ts';
import {
  createVerification,
  type ReportSummary,
  toVerificationEvent,
  unverifiableReport,
} from '../../../../src/dispatch/background/verification.ts';
import type { BatchRecord } from '../../../../src/store/batch-store.ts';
import { BatchFormatError } from '../../../../src/verify/format-error.ts';
import { QUIET, until } from '../../../support/dispatch.ts';

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

const GOOD: ReportSummary = {
  rows: 4,
  exact: 2,
  rounding: 1,
  wrong: 1,
  unverifiable: 0,
  findings: [
    { code: 'x', severity: 'error' },
    { code: 'x', severity: 'error' },
    { code: 'y', severity: 'warning' },
  ],
  ok: false,
};

function bench(pending: BatchRecord[]) {
  const reports = new Map<number, ReportSummary>();
  const given: number[] = [];
  return {
    reports,
    given,
    store: {
      takePending: async (limit: number) => pending.splice(0, limit),
      giveBack: async (item: BatchRecord) => void given.push(item.batch),
      batchBytes: async ({ batch }: BatchRecord) => new Uint8Array([batch]),
      report: async ({ batch }: BatchRecord, _: unknown, report: unknown) => {
        assert.ok(!reports.has(batch));
        reports.set(batch, report as ReportSummary);
        return true;
      },
    },
  };
}

const NO_BATCH = new BatchFormatError({ code: 'unreadable', file: 'x', expected: 'a batch' });
const TIMES = { leaseMs: 1000, everyMs: 5, log: QUIET };

describe('verification', () => {
  test('announces counts and the codes of errors', () => {
    const { errors, exact, ok, batch } = toVerificationEvent(record(3), GOOD);
    assert.deepEqual([errors, exact, ok, batch], [['x'], 2, false, 3]);
  });

  test('works off a backlog, never more at a time than it may', async () => {
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

  // Without a report of its own, such a batch would come back for ever.
  test('reports a batch that cannot be verified as unverifiable, and why', async () => {
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

  /* Fails without MOST_TRIES in either place: the batch is tried for ever. */
  test('gives up a batch on which the verifier dies again and again, and says so', async () => {
    const { store, reports } = bench([record(1), { ...record(2), taken: 4 }, { ...record(3), taken: 3 }]);
    const tries = new Map<number, number>();
    const verifier = {
      async verify([batch = 0]: Uint8Array) {
        tries.set(batch, (tries.get(batch) ?? 0) + 1);
        if (batch === 1) throw new Error('the thread exited');
        return GOOD;
      },
    };
    const verification = createVerification({ store, verifier, concurrency: 1, ...TIMES });
    verification.start();
    await until(() => reports.size === 3, 'all have reports');
    await verification.stop();
    assert.match(JSON.stringify(reports.get(1)), /verifying it failed 3 times: the thread exited/);
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

  test('gives back what it has not finished, so that it counts against no batch', async () => {
    const { store, given } = bench([record(1)]);
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<ReportSummary>();
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

  test('leaves a batch pending while the store does not answer', async () => {
    const { store, reports } = bench([record(1), record(2)]);
    const verification = createVerification({
      store: {
        ...store,
        async batchBytes(item) {
          if (item.batch === 1) throw new EchelonError('store-unavailable', 'away');
          return await store.batchBytes(item);
        },
      },
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

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { takeoversWithoutCause } from '../../nemesis/takeovers.ts';
import type { LeaseOperation } from '../../support/recorded-leases.ts';

const LEASE_MS = 90;

const op = (
  call: LeaseOperation['call'],
  process: string,
  start: number,
  token = process,
): LeaseOperation => ({
  call,
  process,
  token,
  attempt: 1,
  outcome: 'ok',
  start,
  end: start + 1,
});

/** Appends of a process to another experiment, at these times. */
const appends = (process: string, times: number[]) => times.map((at) => op('append', process, at, 'other'));

function unexplained(operations: LeaseOperation[], others: LeaseOperation[]): string[] {
  const byExperiment = new Map([
    ['exp-1', operations],
    ['exp-2', others],
  ]);
  return takeoversWithoutCause(byExperiment, { leaseMs: LEASE_MS });
}

describe('a takeover', () => {
  const taken = [op('acquire', 'd1', 0), op('takeOver', 'd2', 100)];

  test('a takeover from a dispatcher that wrote until then and never renewed is unexplained', () => {
    assert.deepEqual(unexplained(taken, appends('d1', [20, 50, 80])), [
      'exp-1 was taken over from d1, which was alive and did not renew its lease',
    ]);
  });

  test('a takeover from a dispatcher that was silent for a third of the lease is explained', () => {
    assert.deepEqual(unexplained(taken, appends('d1', [20, 50])), []);
  });

  test('a takeover of a lease that was renewed while Redis still answered is explained', () => {
    const [acquire, takeOver] = taken;
    assert.deepEqual(
      unexplained([acquire!, op('renew', 'd1', 60), takeOver!], appends('d1', [20, 50, 80])),
      [],
    );
  });

  test('a takeover of a lease whose last renewal lost its answer is explained', () => {
    const [acquire, takeOver] = taken;
    const lost: LeaseOperation = {
      ...op('renew', 'd1', 60),
      outcome: 'unknown',
      end: Number.POSITIVE_INFINITY,
    };
    assert.deepEqual(unexplained([acquire!, lost, takeOver!], appends('d1', [20, 50, 80])), []);
  });

  test('a takeover long after a renewal that lost its answer, or came too late, is explained', () => {
    const begun = op('acquire', 'd1', 0);
    const takeOver = op('takeOver', 'd2', 300);
    for (const outcome of ['unknown', 'refused'] as const) {
      const late: LeaseOperation = { ...op('renew', 'd1', 60), outcome, end: 190 };
      assert.deepEqual(unexplained([begun, late, takeOver], appends('d1', [220, 250, 280])), []);
    }
    const renewed = op('renew', 'd1', 60);
    assert.equal(unexplained([begun, renewed, takeOver], appends('d1', [220, 250, 280])).length, 1);
  });

  test('a takeover of a released lease is explained', () => {
    const [acquire, takeOver] = taken;
    assert.deepEqual(
      unexplained([acquire!, op('release', 'd1', 90), takeOver!], appends('d1', [20, 50, 80])),
      [],
    );
  });

  test('a takeover of a lease whose release lost its answer is explained', () => {
    const [acquire, takeOver] = taken;
    const lost: LeaseOperation = { ...op('release', 'd1', 20), outcome: 'unknown' };
    assert.deepEqual(unexplained([acquire!, lost, takeOver!], appends('d1', [20, 50, 80])), []);
  });
});

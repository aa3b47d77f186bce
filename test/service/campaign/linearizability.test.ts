import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findContradiction } from '../../nemesis/linearizability.ts';
import type { LeaseOperation } from '../../support/recorded-leases.ts';

const LEASE_MS = 100;

/** An operation of `token` between `start` and `end`. */
function op(
  call: LeaseOperation['call'],
  token: string,
  [start, end]: [start: number, end: number],
  more: Partial<LeaseOperation> = {},
): LeaseOperation {
  return { call, token, attempt: 1, process: 'd1', outcome: 'ok', start, end, ...more };
}

const lost = { outcome: 'unknown', end: Number.POSITIVE_INFINITY } as const;
const refused = { outcome: 'refused' } as const;
const acquired = op('acquire', 'a', [0, 10]);
const takenOver = op('takeOver', 'b', [150, 160], { confirmed: true });
const lostTakeover: LeaseOperation = { call: 'takeOver', process: 'd2', start: 150, ...lost };
const confirmed = op('confirm', 'a', [20, 30]);

describe('the search for an order of the operations on a lease', () => {
  const orders: Record<string, LeaseOperation[]> = {
    'a lease that is acquired, confirmed, renewed and ended': [
      acquired,
      confirmed,
      op('renew', 'a', [40, 50]),
      op('end', 'a', [60, 70]),
    ],
    'a takeover at the same time as the renewal that it refuses': [
      acquired,
      confirmed,
      op('renew', 'a', [140, 170], refused),
      takenOver,
    ],
    'an acquisition and a confirmation whose answers were lost': [
      { ...acquired, ...lost },
      op('confirm', 'a', [20, 0], lost),
      op('append', 'a', [30, 40]),
      takenOver,
    ],
    'an end that was sent twice and refused the second time': [
      acquired,
      confirmed,
      op('end', 'a', [40, 0], lost),
      op('end', 'a', [40, 60], refused),
    ],
    'a write that is refused after a takeover whose answer was lost': [
      acquired,
      confirmed,
      lostTakeover,
      op('append', 'a', [200, 210], refused),
    ],
    'a lease that was released and taken over at once': [
      acquired,
      confirmed,
      op('release', 'a', [40, 50]),
      op('takeOver', 'b', [50, 60], { confirmed: true }),
    ],
  };
  for (const [name, operations] of Object.entries(orders))
    test(`${name} has an order`, () => {
      assert.equal(findContradiction(operations, { leaseMs: LEASE_MS }), undefined);
    });

  const contradictions: Record<string, LeaseOperation[]> = {
    'a write of the old holder after a takeover': [
      acquired,
      confirmed,
      takenOver,
      op('append', 'a', [170, 180]),
    ],
    'a takeover before the lease has expired': [
      acquired,
      confirmed,
      op('renew', 'a', [40, 50]),
      op('takeOver', 'b', [100, 110], { confirmed: true }),
    ],
    'a takeover that does not know of the confirmed launch': [
      acquired,
      confirmed,
      { ...takenOver, confirmed: false, attempt: 2 },
    ],
    'an attempt that is acquired twice': [acquired, op('acquire', 'b', [20, 30])],
    'a refusal of the holder': [acquired, op('confirm', 'a', [20, 30], refused)],
    'a write without the lease, beside a hundred takeovers whose answers were lost': [
      ...Array.from({ length: 100 }, (_, index) => ({ ...lostTakeover, start: 25 + index })),
      acquired,
      op('append', 'c', [200, 210]),
    ],
    'a second end of an attempt': [acquired, op('end', 'a', [20, 30]), op('end', 'a', [40, 50])],
  };
  for (const [name, operations] of Object.entries(contradictions))
    test(`${name} has no order`, () => {
      assert.match(findContradiction(operations, { leaseMs: LEASE_MS }) ?? '', /no order explains/);
    });
});

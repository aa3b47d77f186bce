import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assertMayReach,
  blockList,
  checkedLookup,
} from '../../../../src/dispatch/notifications/addresses.ts';
import { DeliveryError, RefusedMessageError } from '../../../../src/dispatch/notifications/post.ts';
import { shownReason } from '../../../../src/dispatch/notifications/shown-reason.ts';

const NONE = blockList([]);

/** The error of a name with these addresses. */
function lookedUp(addresses: () => Promise<string[]>): Promise<Error> {
  return new Promise((resolve) =>
    checkedLookup(NONE, addresses)('db.inner', { all: true }, (error) => resolve(error as Error)),
  );
}

test('a reason does not tell which names of the network have addresses, or where something listens', async () => {
  const failed = (code: string, message: string) => Object.assign(new Error(message), { code });
  const reasons = [
    await lookedUp(async () => ['10.1.2.3']),
    await lookedUp(() => Promise.reject(failed('ENOTFOUND', 'queryA ENOTFOUND db.inner'))),
    failed('ECONNREFUSED', 'connect ECONNREFUSED 10.1.2.3:5432'),
    failed('EHOSTUNREACH', 'connect EHOSTUNREACH 10.1.2.3:5432'),
    failed('EPROTO', 'wrong version number'),
    failed('ECONNECTION', 'getaddrinfo ENOTFOUND smtp.inner'),
  ].map(shownReason);
  assert.equal(new Set(reasons).size, 1, reasons.join('\n'));
  assert.doesNotMatch(reasons[0]!, /10\.|inner|ENOT|ECONN/);
});

test('a reason tells what the author of the subscription can fix', () => {
  let stated: Error | undefined;
  try {
    assertMayReach('127.0.0.2', NONE);
  } catch (error) {
    stated = error as Error;
  }
  for (const [error, reason] of [
    [stated!, /127\.0\.0\.2 is not public; the operator can allow it/],
    [new RefusedMessageError(404, undefined), /status 404/],
    [new DeliveryError('the dispatcher has no secret a/b'), /no secret a\/b/],
    [Object.assign(new Error('x'), { code: 'CERT_HAS_EXPIRED' }), /certificate.*CERT_HAS_EXPIRED/],
    [
      Object.assign(new Error('550 <a@b> of host mail.inner'), { responseCode: 550 }),
      /mail server.*status 550$/,
    ],
  ] as const)
    assert.match(shownReason(error), reason);
});

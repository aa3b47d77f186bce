import type { ChainableCommander } from 'ioredis';
import { EchelonError } from '../../core/errors.ts';

/** Replies of a server that cannot serve now; the same call may succeed later. */
const UNAVAILABLE_REPLIES = [
  'LOADING', // the server reads its file after a start
  'BUSY', // a script runs too long
  'MISCONF', // cannot write its file: the disk is full
  'READONLY', // a replica: a failover is under way
  'MASTERDOWN',
  'CLUSTERDOWN',
  'TRYAGAIN',
  'NOREPLICAS',
  'UNBLOCKED',
  'NOAUTH', // the password has changed, or none was given
  'WRONGPASS',
  'NOPERM',
];

/**
 * Converts an error of ioredis. No memory: `store-full`. A reply that refuses the call itself: `internal`, a defect. All
 * other errors (no connection, connection lost, timeout, a server that cannot serve): `store-unavailable`. The call may
 * then have taken effect; every script allows a repetition.
 */
export function toStoreError(error: unknown): EchelonError {
  if (error instanceof EchelonError) return error;
  if (!(error instanceof Error)) return new EchelonError('internal', String(error));
  if (error.name === 'ReplyError') {
    const code = /^([A-Z]+)\b/.exec(error.message)?.[1] ?? '';
    if (code === 'FOREIGN') return foreignStore();
    if (code === 'OOM') {
      return new EchelonError('store-full', 'Redis has no memory left. Retry when memory is free.', {
        cause: error,
      });
    }
    if (!UNAVAILABLE_REPLIES.includes(code)) {
      return new EchelonError('internal', `Redis refused a command: ${error.message}`, { cause: error });
    }
  } else if (error instanceof TypeError || error instanceof RangeError) {
    return new EchelonError('internal', error.message, { cause: error });
  }
  return new EchelonError('store-unavailable', `Redis does not answer: ${error.message}`, {
    cause: error,
  });
}

/** The Redis is not the one that this process was started with. */
export function foreignStore(): EchelonError {
  return new EchelonError(
    'store-foreign',
    'This Redis is empty or belongs to another installation. Its volume may be lost, or its address may lead elsewhere. Restore it, or restart Echelon to see how to start over.',
  );
}

/** Awaits a call of ioredis and converts its error with {@link toStoreError}. */
export async function guarded<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw toStoreError(error);
  }
}

/**
 * Runs a pipeline and returns its replies in order, or throws the first error. Not for MULTI: a server without memory
 * refuses even reads in a transaction. Use a script for an atomic step.
 */
export async function runAll(commands: ChainableCommander): Promise<unknown[]> {
  const replies = await guarded(commands.exec());
  if (replies === null) throw new EchelonError('store-unavailable', 'Redis discarded the pipeline');
  return replies.map(([error, reply]) => {
    if (error) throw toStoreError(error);
    return reply;
  });
}

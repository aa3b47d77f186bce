import type { ChainableCommander } from 'ioredis';
import { EchelonError } from '../../core/errors.ts';

/** Replies of a server that is there but cannot serve now; the same call may succeed later. */
const UNAVAILABLE_REPLIES = [
  'LOADING', // reads its file after a start
  'BUSY', // a script runs for too long
  'MISCONF', // cannot write its file: the disk is full
  'READONLY', // a replica: a failover is under way
  'MASTERDOWN',
  'CLUSTERDOWN',
  'TRYAGAIN',
  'NOREPLICAS',
  'UNBLOCKED',
  'NOAUTH', // the password has just been changed, or was never given
  'WRONGPASS',
  'NOPERM',
];

/**
 * The one place where an error of ioredis becomes ours. No memory: `store-full`. A reply that says the call itself
 * is wrong: `internal`, a fault of ours. All else (no connection, closed in between, timed out, a server that cannot
 * serve): `store-unavailable`; the call may have been carried out, which every step of the store allows for.
 */
export function toStoreError(error: unknown): EchelonError {
  if (error instanceof EchelonError) return error;
  if (!(error instanceof Error)) return new EchelonError('internal', String(error));
  if (error.name === 'ReplyError') {
    const code = /^([A-Z]+)\b/.exec(error.message)?.[1] ?? '';
    if (code === 'OOM') {
      return new EchelonError('store-full', 'The store has no memory left', { cause: error });
    }
    if (!UNAVAILABLE_REPLIES.includes(code)) {
      return new EchelonError('internal', `The store refused a command: ${error.message}`, { cause: error });
    }
  } else if (error instanceof TypeError || error instanceof RangeError) {
    return new EchelonError('internal', error.message, { cause: error });
  }
  return new EchelonError('store-unavailable', `The store does not answer: ${error.message}`, {
    cause: error,
  });
}

/** Awaits a call of ioredis and turns its error into ours. */
export async function guarded<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw toStoreError(error);
  }
}

/**
 * Runs a pipeline and returns its replies in order, or throws the first error among them. Not for MULTI: a server
 * that is out of memory refuses even reads in one. What has to be atomic is a script.
 */
export async function runAll(commands: ChainableCommander): Promise<unknown[]> {
  const replies = await guarded(commands.exec());
  if (replies === null) throw new EchelonError('store-unavailable', 'The store gave up the pipeline');
  return replies.map(([error, reply]) => {
    if (error) throw toStoreError(error);
    return reply;
  });
}

import { decorateAll } from '../../core/decorate.ts';
import { EchelonError } from '../../core/errors.ts';
import type { Store, StorePath } from '../../store/store.ts';

/** Calls that may take longer: a stream that is followed, a batch that lies in the archive, and the end. */
const UNBOUNDED: ReadonlySet<string> = new Set<StorePath>([
  'events.follow',
  'feed.follow',
  'batches.bytes',
  'onWake',
  'close',
]);

/**
 * A store each of whose calls is answered within `timeoutMs`: else it throws EchelonError `store-unavailable`, and
 * what becomes of the call is not known. So a request is answered in time though Redis hangs, and a slow upload
 * is not taken for a slow store.
 */
export function withDeadline(store: Store, timeoutMs: number): Store {
  return decorateAll(store, { except: UNBOUNDED, around: (call) => inTime(call(), timeoutMs) });
}

async function inTime<R>(call: Promise<R>, timeoutMs: number): Promise<R> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const message =
        'The store did not answer in time. Whether a write took effect is not known: repeat it with its Idempotency-Key.';
      reject(new EchelonError('store-unavailable', message));
    }, timeoutMs);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}

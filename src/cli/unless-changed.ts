import { CliError } from 'command-kit/exit';
import { retryUntil } from '../core/retry.ts';

const MAX_TRIES = 20;

/** Makes a change of a record as it was read, with its ETag. A change by another user in between leads to a retry. */
export function unlessChanged<T>(change: () => Promise<T>): Promise<T> {
  return retryUntil(change, {
    waits: { firstMs: 1, longestMs: 100 },
    shouldRetry: (error, tries) =>
      error instanceof CliError && error.code === 'precondition-failed' && tries < MAX_TRIES,
  });
}

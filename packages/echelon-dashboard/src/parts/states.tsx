import type { ComponentChildren } from 'preact';
import type { Failure } from '../app/api.ts';
import type { Resource } from '../app/resource.ts';
import { now } from '../app/server-clock.ts';
import { signInPath } from '../app/session.ts';
import { clock } from '../models/words.ts';

/** Data that are on their way. */
export function Loading({ what = 'Loading' }: { what?: string }) {
  return (
    <div class="state loading" role="status">
      <span class="spinner" aria-hidden="true" /> {what}…
    </div>
  );
}

/** Nothing is there, or nothing that fits: `children` says why and what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

const TITLES: Record<Failure['kind'], string> = {
  refused: 'Your key may not read this',
  gone: 'Not found',
  'signed-out': 'Your session has ended',
  failed: 'No answer',
};

/** Why there are no data, and what to do. */
export function Failed({ failure, onRetry }: { failure: Failure; onRetry?: (() => void) | undefined }) {
  return (
    <div class={`state ${failure.kind}`} role="alert">
      <h2>{TITLES[failure.kind]}</h2>
      <p>{failure.message}</p>
      {failure.kind === 'signed-out' && (
        <p>
          <a class="button primary" href={signInPath()}>
            Sign in again
          </a>
        </p>
      )}
      {failure.kind === 'gone' && (
        <p class="choices">
          <a class="button primary" href="/experiments">
            Show all experiments
          </a>
          <button type="button" onClick={() => history.back()}>
            Go back
          </button>
        </p>
      )}
      {failure.isTransient && <p>The page asks again by itself.</p>}
      {failure.kind === 'failed' && onRetry && (
        <p>
          <button type="button" onClick={onRetry}>
            Try again
          </button>
        </p>
      )}
    </div>
  );
}

/** Loading, failed, or the data; data that could not be refreshed say so. */
export function Await<T>({ of, children }: { of: Resource<T>; children: (data: T) => ComponentChildren }) {
  if (of.data === undefined) {
    return of.failure ? <Failed failure={of.failure} onRetry={of.reload} /> : <Loading />;
  }
  return (
    <>
      {of.failure && of.failure.kind !== 'signed-out' && (
        <p class="stale" role="status">
          Not refreshed{of.at !== undefined && ` since ${clock(of.at, now())}`}: {of.failure.message}{' '}
          {of.failure.isTransient && 'The page asks again by itself. '}
          <button type="button" class="link" onClick={of.reload}>
            Try again
          </button>
        </p>
      )}
      {children(of.data)}
    </>
  );
}

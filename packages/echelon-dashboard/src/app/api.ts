import { signal } from '@preact/signals';
import { connect } from 'echelon-client/connect';
import { ApiError, ClientError } from 'echelon-client/errors';
import { clock } from './server-clock.ts';

/** The API of this server; the browser sends the session's cookie. */
export const api = connect({
  url: '',
  timeoutMs: 45_000,
  async fetch(url, init) {
    const response = await fetch(url, init);
    clock.hear(response);
    return response;
  },
});

/** Why there is no answer: the caller may not ask (`refused`), or something failed. */
export interface Failure {
  kind: 'refused' | 'gone' | 'signed-out' | 'failed';
  message: string;
  /** Whether the same request may succeed later. */
  isTransient?: boolean;
}

/** Raised when the server no longer knows the caller: the key was revoked, or the session has expired. */
export const isSignedOut = signal(false);

/** A thrown error in the terms of the screens. */
export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ClientError && error.code === 'unreachable')
    return { kind: 'failed', message: 'The Echelon server does not answer.', isTransient: true };
  if (!(error instanceof ApiError)) return { kind: 'failed', message };
  if (error.status === 401) {
    isSignedOut.value = true;
    return { kind: 'signed-out', message };
  }
  if (error.status === 403) return { kind: 'refused', message };
  if (error.status === 404) return { kind: 'gone', message };
  return { kind: 'failed', message, isTransient: error.retry || error.status >= 500 };
}

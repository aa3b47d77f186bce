import { connect } from 'echelon-client/connect';
import { ApiError } from 'echelon-client/errors';

/** The API of this server; the browser sends the session's cookie. */
export const api = connect({ url: '', timeoutMs: 45_000 });

/** Why there is no answer: the caller may not ask (`refused`), or something failed. */
export interface Failure {
  kind: 'refused' | 'gone' | 'signed-out' | 'failed';
  message: string;
}

/** A thrown error in the terms of the screens. */
export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof ApiError)) return { kind: 'failed', message };
  if (error.status === 401) return { kind: 'signed-out', message };
  if (error.status === 403) return { kind: 'refused', message };
  if (error.status === 404) return { kind: 'gone', message };
  return { kind: 'failed', message };
}

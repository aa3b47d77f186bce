import { computed, signal } from '@preact/signals';
import type { Answer } from 'echelon-client/calls';
import { api, type Failure, failureOf } from './api.ts';

/** The caller of this session: name, project and scopes. */
export const session = signal<Answer<'get', '/v1/caller'> | undefined>(undefined);
/** The wait before a server that was away is asked again, in ms. */
const AGAIN_MS = 3000;

export const sessionFailure = signal<Failure | undefined>(undefined);

/** Whether the caller may do what needs the scope; `admin` is never a project's. */
export const may = computed(() => {
  const caller = session.value;
  return (scope: 'submit' | 'admin' | 'custom-code') =>
    caller?.scopes.includes(scope) === true && (scope !== 'admin' || caller.project === null);
});

/** Asks again by itself while the server is away. */
export async function loadSession(): Promise<void> {
  try {
    session.value = await api.get('/v1/caller');
    sessionFailure.value = undefined;
  } catch (error) {
    sessionFailure.value = failureOf(error);
    if (sessionFailure.value.isTransient) setTimeout(loadSession, AGAIN_MS);
  }
}

/** The sign-in page, which leads back to the present place. */
export const signInPath = () => `/login?next=${encodeURIComponent(location.pathname + location.search)}`;

import { computed, signal } from '@preact/signals';
import type { Answer } from 'echelon-client/calls';
import { api, type Failure, failureOf } from './api.ts';

/** The caller of this session: name, project and scopes. */
export const session = signal<Answer<'get', '/v1/caller'> | undefined>(undefined);
export const sessionFailure = signal<Failure | undefined>(undefined);

/** Whether the caller may do what needs the scope; `admin` is never a project's. */
export const may = computed(() => {
  const caller = session.value;
  return (scope: 'submit' | 'admin' | 'custom-code') =>
    caller?.scopes.includes(scope) === true && (scope !== 'admin' || caller.project === null);
});

export async function loadSession(): Promise<void> {
  try {
    session.value = await api.get('/v1/caller');
  } catch (error) {
    sessionFailure.value = failureOf(error);
  }
}

/** The sign-in page, which leads back to the present place. */
export const signInPath = () => `/login?next=${encodeURIComponent(location.pathname + location.search)}`;

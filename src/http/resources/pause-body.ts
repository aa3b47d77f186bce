import { type Static, Type } from 'typebox';
import { EchelonError } from '../../core/errors.ts';
import { strict } from '../../schemas/strict.ts';
import type { Pause } from '../../store/queue/contract.ts';

const PauseBody = Type.Object(
  {
    reason: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Reason to show with the pause' }),
    ),
  },
  strict,
);
/** The optional body of a pause. Stated by media type, so that a request without a body passes. */
export const pauseBody = { content: { 'application/json': { schema: PauseBody } } };

/** The pause that a request with this body means. */
export function pauseBy({ name }: { name: string }, body: unknown, at: number): Pause {
  const { reason } = (body ?? {}) as Static<typeof PauseBody>;
  return { by: name, at, reason: reason ?? null };
}

/** Throws EchelonError `invalid-request` if the request has a body. */
export function refuseBody(body: unknown): void {
  if (body !== undefined) throw new EchelonError('invalid-request', 'This request takes no body.');
}

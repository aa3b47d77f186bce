import { createHmac, timingSafeEqual } from 'node:crypto';
import { EchelonError } from '../../core/errors.ts';

/**
 * Cursors carry their place in clear and a signature over list and place: one that was made up, or taken from
 * another list or filter, is refused.
 */
export function createCursors(secret: string) {
  const sign = (scope: string, place: string) =>
    createHmac('sha256', secret)
      .update(JSON.stringify(['cursor', scope, place]))
      .digest()
      .subarray(0, 16);

  return {
    /** A cursor that stands at `place` of the list that `scope` names. */
    seal: (scope: string, place: string): string =>
      `${Buffer.from(place).toString('base64url')}.${sign(scope, place).toString('base64url')}`,
    /** The place of a cursor. Throws EchelonError `invalid-cursor` for one that was not sealed for this scope. */
    open(scope: string, cursor: string): string {
      const [text = '', signature = ''] = cursor.split('.');
      const place = Buffer.from(text, 'base64url').toString();
      const given = Buffer.from(signature, 'base64url');
      const right = sign(scope, place);
      if (given.length !== right.length || !timingSafeEqual(given, right)) {
        throw new EchelonError('invalid-cursor', 'The cursor does not belong to this list.', {
          problems: [{ field: 'cursor', message: 'leave it out to start from the beginning' }],
        });
      }
      return place;
    },
  };
}

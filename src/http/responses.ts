import { ERRORS, type ErrorCode } from '../core/errors.ts';
import { PROBLEM_TYPE } from './to-problem.ts';

/** Errors that any request with a token can meet. */
const ALWAYS: readonly ErrorCode[] = [
  'invalid-request',
  'unauthenticated',
  'forbidden',
  'rate-limited',
  'internal',
  'store-unavailable',
];

/** The error answers of a route: one for each status, which names the codes behind it. */
export function problems(...codes: ErrorCode[]) {
  const byStatus = Map.groupBy([...ALWAYS, ...codes], (code) => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, all]) => [
      status,
      {
        description: all.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('; '),
        content: { [PROBLEM_TYPE]: { schema: { $ref: 'Problem#' } } },
      },
    ]),
  );
}

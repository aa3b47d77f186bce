import type { FieldProblem } from '../core/errors.ts';

/** A deadline in UTC with milliseconds; null if there is none. To be asked after {@link deadlineProblems}. */
export function resolveDeadline(deadline: string | null | undefined): string | null {
  return deadline ? new Date(deadline.toUpperCase()).toISOString() : null;
}

/** What is wrong with a well-formed instant: a day that its month does not have. */
export function deadlineProblems(deadline: string | null | undefined): FieldProblem[] {
  if (deadline === undefined || deadline === null) return [];
  const [year, month, day] = deadline.slice(0, 10).split('-').map(Number) as [number, number, number];
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (day <= last && !Number.isNaN(Date.parse(deadline.toUpperCase()))) return [];
  return [{ field: '/deadline', message: `is no day of the calendar: that month has ${last} days` }];
}

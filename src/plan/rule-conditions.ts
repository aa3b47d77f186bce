import type { RuleCondition, RuleEvidence } from '../schemas/rules.ts';

/** A value that was looked at. */
type Value = RuleEvidence['values'][number];

/** What is remembered of one thing that a rule looks at; JSON. */
export interface Subject {
  streak: number;
  /** The last values of the streak. */
  last: Value[];
  /** plateau only. */
  best?: Value;
  idle?: number;
}

/** Whether a value meets the condition; what is remembered of earlier values is brought up to date. */
export function holds(when: RuleCondition, subject: Subject, shown: Value): boolean {
  const { value } = shown;
  if (when.errors !== undefined) return value !== '';
  const number = Number(value);
  if (when.notFinite) return !Number.isFinite(number);
  if (when.plateau) return isFlat(when.plateau, subject, shown);
  if (when.above !== undefined) return number > when.above;
  return when.below !== undefined && number < when.below;
}

/** Counts values since the best one; one that is not a number is no improvement. */
function isFlat(
  { window, minDelta, goal = 'max' }: NonNullable<RuleCondition['plateau']>,
  subject: Subject,
  shown: Value,
): boolean {
  const number = Number(shown.value);
  const gain = (number - Number(subject.best?.value)) * (goal === 'max' ? 1 : -1);
  const better = Number.isFinite(number) && (subject.best === undefined || gain > minDelta);
  if (better) subject.best = shown;
  subject.idle = better ? 0 : (subject.idle ?? 0) + 1;
  return subject.idle >= window;
}

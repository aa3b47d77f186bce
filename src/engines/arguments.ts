/** A value of a plan's argument. Free text of a person never is one: names and labels stay outside of plans. */
export type PlanValue = string | number | boolean;

const KEY = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$/;
const WORD = /^(?:[A-Za-z0-9_][A-Za-z0-9_-]*|\{(?:attemptDir|experimentDir|sharedRoot)\})$/;

/**
 * One argument `key=value`. Text must be a plain word or one of the ray-worker's placeholders, numbers finite: so
 * no value can hold a second override, an interpolation or an option. Throws a TypeError otherwise, which a
 * validated spec cannot cause.
 */
export function assignment(key: string, value: PlanValue): string {
  if (!KEY.test(key)) throw new TypeError(`not a key: ${key}`);
  return `${key}=${written(value)}`;
}

function written(value: PlanValue): string {
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`not a finite number: ${value}`);
    return String(value);
  }
  if (!WORD.test(value)) throw new TypeError(`not a plain word: ${value}`);
  return value;
}

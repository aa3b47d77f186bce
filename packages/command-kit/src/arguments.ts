import { InvalidArgumentError } from 'commander';

/** The parts of a text between commas, without the spaces around them. */
export const partsOf = (text: string): string[] => text.split(',').map((part) => part.trim());

/** A parser of whole numbers from `min` to `max`. It throws InvalidArgumentError, which commander reports as wrong usage. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^-?\d{1,15}$/.test(text) || number < min || number > max)
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    return number;
  };
}

const UNITS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600, d: 86_400 };

/** The seconds of a duration such as 90d, 12h, 30min or 45s; undefined for any other text. */
export function secondsOf(text: string): number | undefined {
  const [, amount, unit] = /^(\d{1,6})(s|min|h|d)$/.exec(text) ?? [];
  return unit === undefined ? undefined : Number(amount) * UNITS[unit]!;
}

/** A parser of durations; see {@link secondsOf}. It throws InvalidArgumentError for any other text. */
export function duration(text: string): number {
  const found = secondsOf(text);
  if (found === undefined)
    throw new InvalidArgumentError('It must be a duration such as 90d, 12h, 30min or 45s.');
  return found;
}

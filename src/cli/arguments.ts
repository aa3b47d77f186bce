import { InvalidArgumentError } from 'commander';

/**
 * Reads an argument that is a whole number from `least` to `most`. Throws InvalidArgumentError, which becomes wrong
 * usage.
 */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^-?\d{1,15}$/.test(text) || number < least || number > most)
      throw new InvalidArgumentError(`not a whole number from ${least} to ${most}`);
    return number;
  };
}

const UNITS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600, d: 86_400 };

/** How long, in seconds, a text like 90d, 12h, 30min or 45s says; undefined for another text. */
export function secondsOf(text: string): number | undefined {
  const [, amount, unit] = /^(\d{1,6})(s|min|h|d)$/.exec(text) ?? [];
  return unit === undefined ? undefined : Number(amount) * UNITS[unit]!;
}

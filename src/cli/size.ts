import { InvalidArgumentError } from 'commander';

const UNITS = ['', 'kB', 'MB', 'GB', 'TB'];

/** A number of bytes for people, in powers of 1,000. */
export function sizeInWords(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(1)} ${UNITS[power]}`;
}

/** Bytes from a text such as `800MB` or `2GB`. Throws InvalidArgumentError. */
export function sizeFrom(text: string): number {
  const [, number, unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)\s?([kMGT]B)?$/.exec(text) ?? [];
  if (number === undefined) throw new InvalidArgumentError('It must be a size such as 800MB or 2GB.');
  return Math.round(Number(number) * 1000 ** UNITS.indexOf(unit));
}

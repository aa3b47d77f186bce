import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const FILE = '.cache/test/left.json';

/** Remembers the files that failed or were not reached, for `--left`. */
export function writeLeft(names: readonly string[]): void {
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, JSON.stringify(names));
}

/** The files that the last run left. */
export function readLeft(): readonly string[] {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8')) as string[];
  } catch {
    return []; // no run left anything here
  }
}

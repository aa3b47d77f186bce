import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** One of the rounds of `--repeat`. */
export interface Round {
  readonly isLoaded: boolean;
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Percent of the cores. */
  readonly busy: number;
  readonly passed: number;
  /** The titles of the tests that failed. */
  readonly failed: readonly string[];
}

const FILE = '.cache/test/rounds.json';

/** The rounds that an interrupted command has done. */
export function readRounds(): Round[] {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8')) as Round[];
  } catch {
    return []; // the first one
  }
}

/** Remembers the rounds, for `--resume`. */
export function writeRounds(rounds: readonly Round[]): void {
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, JSON.stringify(rounds));
}

/** The table of rounds, and below it a line for each test that failed, with its rate, the most frequent first. */
export function roundLines(rounds: readonly Round[]): string[] {
  const rows = rounds.map(({ isLoaded, seconds, cpuSeconds, busy, passed, failed }, index) =>
    [
      `round ${index + 1}`.padEnd(8),
      isLoaded ? 'beside a load' : 'quiet        ',
      `${seconds} s`.padStart(7),
      `${cpuSeconds} CPU-s`.padStart(11),
      `${busy} % busy`.padStart(11),
      `${passed} passed, ${failed.length} failed`,
    ].join('  '),
  );
  const rates = failureRates(rounds);
  return [...rows, '', ...(rates.length > 0 ? rates : [`No test failed in ${rounds.length} rounds.`])];
}

function failureRates(rounds: readonly Round[]): string[] {
  const count = (title: string, isLoaded: boolean): number =>
    rounds.filter((round) => round.isLoaded === isLoaded && round.failed.includes(title)).length;
  const all = (isLoaded: boolean): number => rounds.filter((round) => round.isLoaded === isLoaded).length;
  const titles = [...new Set(rounds.flatMap(({ failed }) => failed))];
  return titles
    .map((title) => ({ title, quiet: count(title, false), loaded: count(title, true) }))
    .sort((a, b) => b.quiet + b.loaded - a.quiet - a.loaded || a.title.localeCompare(b.title))
    .map(({ title, quiet, loaded }) => {
      const kind = quiet + loaded === rounds.length ? 'FAILS' : 'FLAKY';
      const beside = all(true) > 0 ? `, ${loaded} of ${all(true)} beside a load` : '';
      return `${kind} ${quiet} of ${all(false)} quiet rounds${beside}: ${title}`;
    });
}

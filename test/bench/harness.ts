/**
 * What every bench shares: its options, measuring in rounds, spread, the words for the machine, and evidence. A bench is a
 * file beside this one with a function `run(args)`, which main.ts calls.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { Redis } from 'ioredis';

type Option = string | number | boolean;
type Values<T> = {
  [K in keyof T]: T[K] extends number ? number : T[K] extends boolean ? boolean : string;
};

/**
 * The options of a bench: `--NAME VALUE` for each default, a switch for each default of false. Throws a TypeError for an
 * unknown option and for a value that is not a number although its default is one.
 */
export function optionsOf<T extends Readonly<Record<string, Option>>>(
  args: readonly string[],
  defaults: T,
): Values<T> {
  const options = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [
      name,
      typeof value === 'boolean' ? { type: 'boolean' as const } : { type: 'string' as const },
    ]),
  );
  const { values } = parseArgs({ args: [...args], options });
  const given = Object.entries(values).map(([name, value]) => {
    if (typeof defaults[name] !== 'number') return [name, value];
    if (!Number.isFinite(Number(value))) throw new TypeError(`--${name} takes a number, not ${value}`);
    return [name, Number(value)];
  });
  return { ...defaults, ...Object.fromEntries(given) } as Values<T>;
}

/** Does the work once unheeded, which warms every arm, then `rounds` times; gives the results of the latter. */
export async function afterWarmUp<T>(rounds: number, work: (round: number) => T | Promise<T>): Promise<T[]> {
  await work(0);
  const results: T[] = [];
  for (let round = 1; round <= rounds; round += 1) results.push(await work(round));
  return results;
}

/** Starts to count; each call gives the CPU time of this process since then, with all its threads, in microseconds. */
export function cpuClock(): () => number {
  const start = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(start);
    return user + system;
  };
}

/** What one arm of a bench took over its rounds, in nanoseconds per step. */
export interface Timing {
  readonly best: number;
  readonly median: number;
  readonly worst: number;
  readonly rounds: number;
  /** The best round by the clock on the wall, which other users of the machine lengthen. */
  readonly wallBest: number;
}

/** One arm: what is timed, and by how much its time is divided. */
export interface Arm {
  readonly run: () => unknown;
  readonly steps: number;
  /** `cpu`: CPU time of the process, for what one thread does. `wall`: for what several do. */
  readonly clock?: 'cpu' | 'wall';
}

/**
 * Times the arms in turn, A B C A B C …, so that a disturbance of the machine meets all of them. Each arm runs
 * once unheeded first. On a machine that others use, `best` is the steadiest figure and ratios of it the most
 * comparable; median and worst say how much it was disturbed.
 */
export async function timeInTurn<N extends string>(
  arms: Record<N, Arm>,
  rounds: number,
): Promise<Record<N, Timing>> {
  const names = Object.keys(arms) as N[];
  const empty = () => Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<N, number[]>;
  const [times, walls] = [empty(), empty()];
  for (let round = -1; round < rounds; round++) {
    for (const name of names) {
      const { run, steps, clock = 'cpu' } = arms[name];
      // Not the thread's own: that may advance in ticks of 4 ms, and the best round would be the luckiest tick.
      const cpu = cpuClock();
      const start = process.hrtime.bigint();
      const result = run();
      if (clock === 'wall') await result;
      const wall = Number(process.hrtime.bigint() - start);
      const used = 1000 * cpu();
      if (round < 0) continue;
      walls[name].push(wall / steps);
      times[name].push((clock === 'wall' ? wall : used) / steps);
    }
  }
  return Object.fromEntries(names.map((name) => [name, timingOf(times[name], walls[name])])) as Record<
    N,
    Timing
  >;
}

/** Best, median and worst of some times; without times by the wall the best stands for both. */
export function timingOf(times: readonly number[], walls: readonly number[] = times): Timing {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => round(sorted[Math.round(share * (sorted.length - 1))]!);
  return {
    best: at(0),
    median: at(0.5),
    worst: at(1),
    rounds: sorted.length,
    wallBest: round(Math.min(...walls)),
  };
}

/** Two digits behind the point. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** The machine in words: a figure means nothing without it. */
export function machine(): string {
  const [first] = cpus();
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown'}, node ${process.version}, ${process.platform}`;
}

/** The day of a measurement. */
export function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** Machine, version of Redis, date and load: a figure of the service means nothing without them. */
export async function setupOf(redis: Redis): Promise<string> {
  const version = /redis_version:(\S+)/.exec(await redis.info('server'))?.[1];
  return `${machine()}, Redis ${version}, ${today()}, load ${loadavg()[0]!.toFixed(1)}`;
}

/** Prints a result: as JSON, or as `inWords` prints it. */
export function show(result: object, isJson: boolean, inWords: () => void): void {
  if (isJson) console.log(JSON.stringify(result));
  else inWords();
}

/** A table in Markdown. */
export function markdownTable(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Writes a page below docs/, named without its ending; `change` gets the page as it is, or '' if it is new. */
export function writePage(name: string, change: (page: string) => string): void {
  const file = new URL(`../../docs/${name}.md`, import.meta.url);
  writeFileSync(file, change(readPage(name)));
}

/** A page below docs/, named without its ending; '' if there is none. */
export function readPage(name: string): string {
  try {
    return readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** The value below which a share `q` of the values lies. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

/** The median, with the least and the most of all values: "1.2 (0.9–1.4)". */
export function spreadOf(values: readonly number[], figures: number): string {
  const [least, most] = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(figures));
  return `${quantile(values, 0.5).toFixed(figures)} (${least}–${most})`;
}

/** How long something takes by the clock on the wall, ms. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

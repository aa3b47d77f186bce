/**
 * What every bench shares: its options, measuring in rounds, figures with their spread and target, the words for the machine,
 * and pages. A bench is a file beside this one with a function `run(args)`, which main.ts calls.
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

/** What a bench measured, one value for each round. */
export interface Figure {
  readonly what: string;
  readonly unit?: string;
  readonly values: readonly number[];
  /** The median must be at least or at most this. Default: no target. */
  readonly least?: number;
  readonly most?: number;
}

/** Whether the median reaches its target. */
export function isMet({ values, least = -Infinity, most = Infinity }: Figure): boolean {
  const median = quantile(values, 0.5);
  return median >= least && median <= most;
}

/** A table of figures in Markdown: median, least to most, target. */
export function figureTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const { what, unit = '', values, least, most } = figure;
    const inUnit = (value: number) => `${inDigits(value)}${unit && ` ${unit}`}`;
    const targets = [
      least === undefined ? [] : `≥ ${inUnit(least)}`,
      most === undefined ? [] : `≤ ${inUnit(most)}`,
    ];
    const target = `${targets.flat().join(', ') || '–'}${isMet(figure) ? '' : ', **missed**'}`;
    const [low, high] = [Math.min(...values), Math.max(...values)].map(inDigits);
    return [what, inUnit(quantile(values, 0.5)), low === high ? '' : `${low} to ${high}`, target];
  });
  return markdownTable(['figure', 'median', 'least to most', 'target'], rows);
}

/** Three digits. */
const inDigits = (value: number) => String(Number(value.toPrecision(3)));

/** Prints a figure, and gives it to the bench that started this one, if one did. */
export function say(figure: Figure): void {
  const { what, unit = '', values } = figure;
  const [median, low, high] = [quantile(values, 0.5), Math.min(...values), Math.max(...values)].map(inDigits);
  console.log(
    `${what}: ${median}${unit && ` ${unit}`} (${low} to ${high})${isMet(figure) ? '' : ', missed'}`,
  );
  process.send?.(figure);
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

/** What one arm of a bench took over its rounds, in nanoseconds of CPU time per step. */
export interface Timing {
  readonly best: number;
  readonly median: number;
  readonly worst: number;
}

/**
 * Times the CPU time of the process of the arms in turn, A B C A B C …, so that a disturbance of the machine meets all of
 * them. Each arm runs once unheeded first. On a machine that others use, `best` is the steadiest figure and ratios of it the
 * most comparable; median and worst say how much it was disturbed. `steps`: by what the time of an arm is divided.
 */
export async function timeInTurn<N extends string>(
  arms: Record<N, { readonly run: () => unknown; readonly steps: number }>,
  rounds: number,
): Promise<Record<N, Timing>> {
  const names = Object.keys(arms) as N[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<N, number[]>;
  for (let round = -1; round < rounds; round++) {
    for (const name of names) {
      const { run, steps } = arms[name];
      // Not the thread's own: that may advance in ticks of 4 ms, and the best round would be the luckiest tick.
      const cpu = cpuClock();
      run();
      if (round >= 0) times[name].push((1000 * cpu()) / steps);
    }
  }
  const timing = (name: N): Timing => {
    const at = (share: number) => Math.round(100 * quantile(times[name], share)) / 100;
    return { best: at(0), median: at(0.5), worst: at(1) };
  };
  return Object.fromEntries(names.map((name) => [name, timing(name)])) as Record<N, Timing>;
}

/** The machine in words: a figure means nothing without it. */
export function machine(): string {
  const [first] = cpus();
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown'}, node ${process.version}, ${process.platform}`;
}

/** Machine, date and load, and the version of Redis: a figure of the service means nothing without them. */
export async function setupOf(redis?: Redis): Promise<string> {
  const version = redis && `, Redis ${/redis_version:(\S+)/.exec(await redis.info('server'))?.[1]}`;
  return `${machine()}${version ?? ''}, ${today()}, load ${loadavg()[0]!.toFixed(1)}`;
}

/** The day of a measurement. */
export function today(): string {
  return new Date().toISOString().slice(0, 10);
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

/** Writes a page below docs/, named without its ending; `change` gets the page as it is. */
export function writePage(name: string, change: (page: string) => string): void {
  const file = new URL(`../../docs/${name}.md`, import.meta.url);
  writeFileSync(file, change(readFileSync(file, 'utf8')));
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

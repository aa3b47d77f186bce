import { cpus } from 'node:os';

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
      const cpu = process.cpuUsage();
      const start = process.hrtime.bigint();
      const result = run();
      if (clock === 'wall') await result;
      const wall = Number(process.hrtime.bigint() - start);
      const { user, system } = process.cpuUsage(cpu);
      if (round < 0) continue;
      walls[name].push(wall / steps);
      times[name].push((clock === 'wall' ? wall : 1000 * (user + system)) / steps);
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

/** The value below which a share `q` of the values lies. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

/** "median 1.2 (0.9–1.4, 5 rounds)". */
export function spreadOf(values: readonly number[], figures: number): string {
  const [least, most] = [Math.min(...values), Math.max(...values)].map((value) => value.toFixed(figures));
  return `median ${quantile(values, 0.5).toFixed(figures)} (${least}–${most}, ${values.length} rounds)`;
}

/** How long something takes by the clock on the wall, ms. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

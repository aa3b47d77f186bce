import type { Item } from './items.ts';
import { type Capacity, loadOf } from './schedule.ts';
import type { Time } from './times.ts';

/** Where a run stands. */
export interface State {
  readonly all: readonly Item[];
  readonly running: ReadonlyMap<Item, number>;
  readonly done: number;
  readonly failed: number;
  readonly begun: number;
}

/** One line: running, done, left, failed, expected end. `now` and the times in `state` in ms since the epoch. */
export function progressLine(
  { all, running, done, failed, begun }: State,
  { waiting, timeOf, capacity, now }: ProgressOptions,
): string {
  const [longest] = [...running].sort((a, b) => a[1] - b[1]);
  const place = longest === undefined ? '' : `, longest ${longest[0].name} ${seconds(now - longest[1])}`;
  const left = leftSeconds({ running, waiting, timeOf, capacity, now });
  const parts = [
    `${done} of ${all.length} files done`,
    `${running.size} running${place}`,
    `${waiting.length} left`,
    ...(failed > 0 ? [`${failed} FAILED`] : []),
    `about ${left} s to go`,
  ];
  return `[${seconds(now - begun)}] ${parts.join('; ')}`;
}

interface ProgressOptions {
  readonly waiting: readonly Item[];
  readonly timeOf: (item: Item) => Time;
  readonly capacity: Capacity;
  readonly now: number;
}

/** By the recorded times: the cores' work that is left, or the longest file if that ends later. */
function leftSeconds({
  running,
  waiting,
  timeOf,
  capacity,
  now,
}: ProgressOptions & { running: State['running'] }): number {
  const rest = [...running].map(([item, since]) => ({
    wall: Math.max(0, timeOf(item).wall - (now - since) / 1000),
    load: loadOf(timeOf(item)),
  }));
  const work = rest.reduce((sum, { wall, load }) => sum + wall * load, 0);
  const later = waiting.reduce((sum, item) => sum + timeOf(item).cpu, 0);
  const walls = [...rest.map(({ wall }) => wall), ...waiting.map((item) => timeOf(item).wall)];
  return Math.ceil(Math.max((work + later) / capacity.cores, 0, ...walls));
}

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;

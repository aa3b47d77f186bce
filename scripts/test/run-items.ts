import type { Item } from './items.ts';
import { network, type Outcome, openLanes } from './lanes.ts';
import { followNamespaces } from './namespace-cpu.ts';
import { progressLine } from './progress.ts';
import { failureText } from './report.ts';
import { byTime, type Capacity, nextItem } from './schedule.ts';
import type { Time } from './times.ts';

/** How items are run. */
export interface RunOptions {
  readonly timeOf: (item: Item) => Time;
  readonly capacity: Capacity;
  /** Called with what each item took; undefined: it is not measured. */
  readonly onTime?: (item: Item, time: Time) => void;
  readonly onOutcome: (outcome: Outcome) => void;
}

const PROGRESS_MS = process.stdout.isTTY ? 1_000 : 30_000;

/** Runs items beside each other, the longest first; prints failures as they come and a line of progress. */
export async function runItems(items: readonly Item[], options: RunOptions): Promise<Outcome[]> {
  const { timeOf, onTime, onOutcome } = options;
  const capacity = network === undefined ? { ...options.capacity, items: 1 } : options.capacity;
  const waiting = byTime(items, timeOf);
  const running = new Map<Item, number>();
  const outcomes: Outcome[] = [];
  const begun = Date.now();
  await using lanes = openLanes();
  using cpu = onTime && followNamespaces();
  const failed = (): number => outcomes.filter(({ failures }) => failures.length > 0).length;
  const show = createLine(() =>
    progressLine(
      { all: items, running, done: outcomes.length, failed: failed(), begun },
      { waiting, timeOf, capacity, now: Date.now() },
    ),
  );
  using _progress = show;
  const { promise, resolve, reject } = Promise.withResolvers<void>();

  async function runOne(item: Item): Promise<void> {
    running.set(item, Date.now());
    const started = lanes.run(item);
    const pid = lanes.pids.get(item.name) ?? 0;
    const before = cpu?.of(pid) ?? 0;
    const outcome = await started;
    onTime?.(item, { wall: outcome.seconds, cpu: cpu!.of(pid) - before });
    running.delete(item);
    outcomes.push(outcome);
    onOutcome(outcome);
    if (outcome.failures.length > 0) show.above(`\n${failureText(outcome)}\n`);
  }

  function fill(): void {
    for (
      let item = nextItem(waiting, [...running.keys()], { timeOf, capacity });
      item !== undefined;
      item = nextItem(waiting, [...running.keys()], { timeOf, capacity })
    ) {
      waiting.splice(waiting.indexOf(item), 1);
      runOne(item).then(fill, reject);
    }
    if (running.size === 0) resolve();
  }

  fill();
  await promise;
  return outcomes;
}

/** A line that is renewed in a terminal, and printed now and then elsewhere. */
function createLine(text: () => string): Disposable & { above(text: string): void } {
  const inPlace = process.stdout.isTTY;
  const clear = inPlace ? '\r\x1b[K' : '';
  const draw = (): void => {
    const line = text();
    process.stdout.write(inPlace ? `${clear}${line.slice(0, process.stdout.columns - 1)}` : `${line}\n`);
  };
  const timer = setInterval(draw, PROGRESS_MS);
  return {
    above(message) {
      process.stdout.write(`${clear}${message}\n`);
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      process.stdout.write(clear);
    },
  };
}

import { setTimeout as delay } from 'node:timers/promises';
import type { LaunchLine } from '../support/fake-ray-worker.ts';
import type { World } from './world.ts';

const EVERY_MS = 200;

/** An attempt that ran when a fault occurred. */
interface Exposure extends LaunchLine {
  readonly kind: string;
  /** Its first event after the fault. */
  readonly sequence: number;
  /** Times count from here: the last fault, or the end of the last outage. */
  since: number;
}

/** What a campaign has measured. */
export interface Measured {
  /** Faults, and attempts that ran when they occurred, by kind. */
  readonly faults: Map<string, { count: number; exposures: number }>;
  /** From a fault, or the first event after it, until that event was recorded; in ms. */
  readonly recoveries: number[];
  /** The longest time that an event waited for its recording, while no outage prevented it; in ms. */
  lagMs: number;
}

/** Measures how soon the events of every attempt are recorded. */
export interface Watch {
  readonly measured: Measured;
  /** Counts a fault, and every running attempt as exposed to it. An outage lasts until the returned function is called. */
  fault(kind: string, outage: boolean): () => void;
  /** Exposed attempts whose next event is not recorded. */
  unrecovered(): number;
  /** The faults so far, in words. */
  describe(): string;
  stop(): Promise<void>;
}

/** Starts a {@link Watch}. */
export function startWatch({ store, rayWorker }: World['bench']): Watch {
  const measured: Measured = { faults: new Map(), recoveries: [], lagMs: 0 };
  const open = new Map<string, LaunchLine>();
  let exposures: Exposure[] = [];
  let outages = 0;
  let since = Date.now();
  let stopped = false;

  function restartClocks(): void {
    since = Date.now();
    for (const exposure of exposures) exposure.since = since;
  }

  /** Number of recorded events; Infinity: the attempt is over, or another one has taken its place. */
  async function recordedOf({ experiment, attempt }: LaunchLine): Promise<number> {
    const attempts = await store.attempts.list(experiment);
    const own = attempts.find((item) => item.attempt === attempt);
    if (!own || own.ended || attempts.some((item) => item.attempt > attempt)) return Number.POSITIVE_INFINITY;
    return own.lastSequence;
  }

  async function look(): Promise<void> {
    for (const line of rayWorker.running()) open.set(`${line.experiment}/${line.attempt}`, line);
    const before = since;
    const found = await Promise.all(
      [...open].map(async ([key, line]) => ({ key, line, last: await recordedOf(line) })),
    );
    if (outages > 0 || before !== since) return;
    const now = Date.now();
    for (const { key, line, last } of found) {
      const next = rayWorker.arose(line.experiment, line.attempt, last + 1);
      if (next !== undefined) measured.lagMs = Math.max(measured.lagMs, now - Math.max(next, since));
      if (last === Number.POSITIVE_INFINITY) open.delete(key);
      exposures = exposures.filter((exposure) => {
        if (`${exposure.experiment}/${exposure.attempt}` !== key || last < exposure.sequence) return true;
        const arose = rayWorker.arose(line.experiment, line.attempt, exposure.sequence) ?? 0;
        measured.recoveries.push(now - Math.max(arose, exposure.since));
        return false;
      });
    }
  }

  const looking = (async () => {
    for (; !stopped; await delay(EVERY_MS)) await look().catch(() => {}); // the store may be away
  })();

  return {
    measured,
    fault(kind, outage) {
      const running = rayWorker.running();
      const counted = measured.faults.get(kind) ?? { count: 0, exposures: 0 };
      measured.faults.set(kind, { count: counted.count + 1, exposures: counted.exposures + running.length });
      restartClocks();
      // The store may have recorded the end of one of them before the witness removes it from its list.
      for (const line of running) open.set(`${line.experiment}/${line.attempt}`, line);
      const exposed = running.map((line) => ({
        ...line,
        kind,
        since,
        sequence: rayWorker.events(line.experiment, line.attempt) + 1,
      }));
      exposures.push(...exposed);
      if (!outage) return () => {};
      outages += 1;
      return () => {
        outages -= 1;
        restartClocks();
      };
    },
    unrecovered: () => exposures.length,
    describe() {
      const faults = measured.faults.values().reduce((sum, { count }) => sum + count, 0);
      return `${faults} faults, ${measured.recoveries.length} attempts recovered, longest wait ${measured.lagMs} ms`;
    },
    async stop() {
      stopped = true;
      await looking;
    },
  };
}

/** The value below which a share of the values lies; 0 without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

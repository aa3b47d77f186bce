import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { toNumber } from '../../../src/rpc/events.ts';
import { echelon } from '../../../src/rpc/gen/ray-worker.js';
import type { LaunchLine } from '../../support/fake-ray-worker.ts';
import type { Observed } from '../world.ts';

const EVERY_MS = 200;
const HEADER_BYTES = 8;

/** A line that a driver wrote about itself. */
interface DriverLine extends LaunchLine {
  readonly what: 'start' | 'beside another' | 'end';
  readonly pid: number;
}

/** An attempt's event log, as its supervisor writes it. */
interface EventLog extends LaunchLine {
  readonly path: string;
  segment: string;
  offset: number;
  /** When each event arose. */
  readonly times: number[];
  ended: boolean;
}

/** What drivers and supervisors wrote themselves. */
export interface Witness {
  readonly rayWorker: Observed['bench']['rayWorker'];
  drivers(): DriverLine[];
  /** The processes of an attempt, as its supervisor noted them. */
  processesOf(line: LaunchLine): { supervisor: number; driver: number } | undefined;
  /** Paths of the directories of all attempts. */
  attempts(): string[];
}

/** Reads the logs of drivers in `directory`, and those of supervisors in the ray-worker's `stateDir`. */
export function readWitness({ directory, stateDir }: { directory: string; stateDir: string }): Witness {
  const experiments = join(stateDir, 'experiments');
  const logs = new Map<string, EventLog>();
  const nameOf = ({ experiment, attempt }: LaunchLine) =>
    join(experiments, experiment, 'attempts', `${attempt}`);
  let readAt = 0;

  function drivers(): DriverLine[] {
    const lines = orEmpty(() => readFileSync(join(directory, 'drivers.jsonl'), 'utf8').trim().split('\n'));
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as DriverLine);
  }

  function refreshed(): Map<string, EventLog> {
    if (performance.now() < readAt + EVERY_MS) return logs;
    readAt = performance.now();
    for (const experiment of orEmpty(() => readdirSync(experiments)))
      for (const attempt of orEmpty(() => readdirSync(join(experiments, experiment, 'attempts')))) {
        const line = { experiment, attempt: Number(attempt) };
        const path = nameOf(line);
        const log = logs.get(path) ?? { ...line, path, segment: '', offset: 0, times: [], ended: false };
        if (!log.ended) readOn(log);
        if (log.times.length > 0) logs.set(path, log);
      }
    return logs;
  }

  const lines = (what: DriverLine['what']) => drivers().filter((line) => line.what === what);
  return {
    drivers,
    rayWorker: {
      running: () => [...refreshed().values()].filter((log) => !log.ended),
      launches: () => lines('start'),
      overlaps: () => lines('beside another').length,
      events: (experiment, attempt) => refreshed().get(nameOf({ experiment, attempt }))?.times.length ?? 0,
      arose: (experiment, attempt, sequence) =>
        refreshed().get(nameOf({ experiment, attempt }))?.times[sequence - 1],
    },
    processesOf(line) {
      try {
        const identity = JSON.parse(readFileSync(join(nameOf(line), 'supervisor.json'), 'utf8'));
        return { supervisor: identity.pid, driver: identity.driverPid };
      } catch {
        return undefined;
      }
    },
    attempts: () => [...refreshed().keys()],
  };
}

/** Reads the events that were added to a log; see deploy/ray-worker/echelon_rayworker/framing.py. */
function readOn(log: EventLog): void {
  const segments = readdirSync(log.path).filter((name) => /^events-\d+\.log$/.test(name));
  for (const segment of segments.toSorted()) {
    if (segment < log.segment) continue;
    if (segment > log.segment) Object.assign(log, { segment, offset: 0 });
    const data = readFrom(join(log.path, segment), log.offset);
    let at = 0;
    while (at + HEADER_BYTES <= data.length) {
      const end = at + HEADER_BYTES + data.readUInt32LE(at);
      if (end > data.length) break;
      const event = echelon.rayworker.v1.AttemptEvent.decode(data.subarray(at + HEADER_BYTES, end));
      log.times.push(toNumber(event.timeUnixMs));
      log.ended = event.body === 'ended';
      at = end;
    }
    log.offset += at;
  }
}

function readFrom(path: string, offset: number): Buffer {
  const file = openSync(path, 'r');
  const data = Buffer.alloc(Math.max(0, fstatSync(file).size - offset));
  readSync(file, data, 0, data.length, offset);
  closeSync(file);
  return data;
}

/** Nothing of the kind is there yet. */
function orEmpty(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
}

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Item } from './items.ts';

/** How long an item took in a recorded run, both in seconds; `cpu` of all its processes together. */
export interface Time {
  readonly wall: number;
  readonly cpu: number;
}

const FILE = 'test/times.json';
/** Of an item without a record. Those that take less than a second are not recorded. */
const UNKNOWN: Time = { wall: 1, cpu: 0.3 };

/** The recorded times of `test/times.json`, which `npm test -- --record` renews. */
export function readTimes(): (item: Item) => Time {
  const recorded = readRecords();
  return ({ name }) => {
    const time = recorded[name];
    return time === undefined ? UNKNOWN : { wall: time[0], cpu: time[1] };
  };
}

/** Replaces the records of these items, and drops those of items that no longer exist. */
export function writeTimes(measured: ReadonlyMap<string, Time>, existing: readonly Item[]): void {
  const old = readRecords();
  const lines = existing
    .map(({ name }): [string, [number, number] | undefined] => {
      const time = measured.get(name);
      return [name, time === undefined ? old[name] : [round(time.wall), round(time.cpu)]];
    })
    .filter(([, time]) => time !== undefined && time[0] >= 1)
    .map(([name, time]) => `  ${JSON.stringify(name)}: ${JSON.stringify(time).replace(',', ', ')}`);
  writeFileSync(FILE, `{\n${lines.join(',\n')}\n}\n`);
}

function readRecords(): Record<string, [wall: number, cpu: number]> {
  return existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};
}

const round = (seconds: number): number => Math.round(seconds * 10) / 10;

import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { TICKS_PER_SECOND } from './proc.ts';

/** The processor time of all processes of the machine. */
export interface Cpu {
  /** Seconds of all cores together since the measurement began. */
  used(): number;
  /** The share of the cores that was busy, in percent. */
  busy(): number;
}

/** Measures the machine from now on; stolen time counts as busy, since the tests could not use it. */
export function measureCpu(): Cpu {
  const begun = { at: Date.now(), ticks: busyTicks() };
  const used = (): number => (busyTicks() - begun.ticks) / TICKS_PER_SECOND;
  return {
    used,
    busy: () => Math.round((used() / (((Date.now() - begun.at) / 1000) * availableParallelism())) * 100),
  };
}

function busyTicks(): number {
  const [, ...fields] = readFileSync('/proc/stat', 'utf8').split('\n')[0]!.split(/\s+/);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = fields.map(Number);
  return user + nice + system + irq + softirq + steal;
}

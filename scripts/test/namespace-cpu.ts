import { networkOf, processes, statOf, TICKS_PER_SECOND } from './proc.ts';

/** Follows the processor time of the network namespaces that processes live in. */
export interface NamespaceCpu extends Disposable {
  /** Seconds that the processes in the namespace of `pid` have used since the following began. */
  of(pid: number): number;
}

interface Seen {
  readonly network: string;
  readonly parent: number;
  readonly ticks: number;
  alive: boolean;
}

const SAMPLE_MS = 500;

/** Samples all processes; of one that lived shorter than the interval only what its parent waited for counts. */
export function followNamespaces(): NamespaceCpu {
  const own = networkOf('self')!;
  const seen = new Map<number, Seen>();
  // The kernel gives the number of a namespace that is gone to another one.
  const uses = new Map<string, number>();
  const sample = (): void => {
    for (const one of seen.values()) one.alive = false;
    for (const pid of processes()) {
      const one = seenNow(pid, uses);
      if (one !== undefined) seen.set(pid, one);
    }
    // The parent of an ended process has counted it when it waited for it.
    for (const [pid, { alive, parent, network }] of seen)
      if (!alive && seen.get(parent)?.alive === true && seen.get(parent)?.network === network)
        seen.delete(pid);
    const living = new Set([...seen.values()].filter(({ alive }) => alive).map(({ network }) => network));
    for (const [number, use] of uses) if (!living.has(`${number} ${use}`)) uses.set(number, use + 1);
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return {
    of(pid) {
      const before = seen.get(pid)?.network;
      sample();
      const network = seen.get(pid)?.network ?? before;
      // A process that was just started has not entered its namespace yet.
      if (network?.startsWith(own)) return 0;
      const inside = [...seen.values()].filter((one) => one.network === network);
      return inside.reduce((sum, { ticks }) => sum + ticks, 0) / TICKS_PER_SECOND;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** With the time of children that ended and were waited for; undefined if the process has ended. `uses`: how often a namespace's number was used. */
function seenNow(pid: number, uses: Map<string, number>): Seen | undefined {
  const [number, fields] = [networkOf(pid), statOf(pid)];
  if (number === undefined || fields === undefined) return undefined;
  const ticks = fields.slice(11, 15).reduce((sum, one) => sum + Number(one), 0);
  if (!uses.has(number)) uses.set(number, 0);
  return { network: `${number} ${uses.get(number)}`, parent: Number(fields[1]), ticks, alive: true };
}

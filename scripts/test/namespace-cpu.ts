import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

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
const TICKS_PER_SECOND = 100;

/** Samples all processes; of one that lived shorter than the interval only what its parent waited for counts. */
export function followNamespaces(): NamespaceCpu {
  const own = readlinkSync('/proc/self/ns/net');
  const seen = new Map<number, Seen>();
  const sample = (): void => {
    for (const one of seen.values()) one.alive = false;
    for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
      const one = seenNow(pid);
      if (one !== undefined) seen.set(pid, one);
    }
    // The parent of an ended process has counted it when it waited for it.
    for (const [pid, { alive, parent, network }] of seen)
      if (!alive && seen.get(parent)?.alive === true && seen.get(parent)?.network === network)
        seen.delete(pid);
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return {
    of(pid) {
      const before = seen.get(pid)?.network;
      sample();
      const network = seen.get(pid)?.network ?? before;
      // A process that was just started has not entered its namespace yet.
      if (network === own) return 0;
      const inside = [...seen.values()].filter((one) => one.network === network);
      return inside.reduce((sum, { ticks }) => sum + ticks, 0) / TICKS_PER_SECOND;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** With the time of children that ended and were waited for; undefined if the process has ended. */
function seenNow(pid: number): Seen | undefined {
  try {
    const network = readlinkSync(`/proc/${pid}/ns/net`);
    const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?=[A-Z] )/);
    const fields = rest.split(' ').map(Number);
    const ticks = fields.slice(11, 15).reduce((sum, one) => sum + one, 0);
    return { network, parent: fields[1]!, ticks, alive: true };
  } catch {
    return undefined;
  }
}

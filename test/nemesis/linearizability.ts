import { type LeaseOperation, readLeases } from '../support/recorded-leases.ts';
import { takeoversWithoutCause } from './takeovers.ts';

/** An experiment's lease, as one process that does one operation after the other would have it. */
interface Lease {
  readonly attempt: number;
  /** Null: no dispatcher has it. */
  readonly holder: string | null;
  readonly confirmed: boolean;
  /** Until then no dispatcher may take it over. */
  readonly expires: number;
}

const FREE: Lease = { attempt: 0, holder: null, confirmed: false, expires: 0 };
/** Redis counts whole milliseconds of another clock. */
const CLOCKS_MS = 20;
/** The holder after a takeover whose token is not known. */
const UNKNOWN = 'unknown';

/** The lease after an operation; undefined: the operation has no such outcome now. */
function after(lease: Lease, operation: LeaseOperation, leaseMs: number): Lease | undefined {
  const { call, token, outcome, start, end } = operation;
  const attempt = operation.attempt ?? lease.attempt + 1;
  const taken = { holder: token ?? UNKNOWN, expires: start + leaseMs };
  switch (call) {
    case 'acquire':
      if (outcome === 'refused') return lease;
      if (lease.holder === token) return lease;
      return lease.holder === null && attempt > lease.attempt
        ? { ...taken, attempt, confirmed: false }
        : undefined;
    case 'takeOver':
      if (lease.holder === null || end + CLOCKS_MS < lease.expires) return undefined;
      if (outcome === 'unknown') return { ...lease, ...taken };
      if (operation.confirmed !== lease.confirmed || attempt < lease.attempt) return undefined;
      return lease.confirmed && attempt > lease.attempt ? undefined : { ...lease, ...taken, attempt };
    default:
      if (outcome === 'refused') return lease.holder === token ? undefined : lease;
      if (lease.holder !== token) return call === 'release' ? lease : undefined;
  }
  if (call === 'confirm') return { ...lease, attempt, confirmed: true };
  if (call === 'renew') return { ...lease, expires: taken.expires };
  if (call === 'release') return { ...lease, expires: 0 };
  return call === 'end' ? { ...FREE, attempt } : lease;
}

/** What dispatchers did with leases: how often by call, and the experiments for which it has no order, in words. */
export interface LeaseHistory {
  readonly operations: ReadonlyMap<string, number>;
  readonly contradictions: readonly string[];
  /** Takeovers that no fault explains. */
  readonly unexplained: readonly string[];
}

/** Reads the records in `directory` and searches an order for those of each experiment. */
export function checkLeases(directory: string, terms: { leaseMs: number }): LeaseHistory {
  const { byExperiment, lostTakeovers } = readLeases(directory);
  const counts = Map.groupBy([...byExperiment.values()].flat(), ({ call }) => call);
  const contradictions = [...byExperiment].flatMap(([experiment, operations]) => {
    const last = Math.max(...operations.map(({ start }) => start));
    const possible = lostTakeovers.filter(({ start }) => start < last);
    // A renewal whose answer was lost may have had no effect.
    const known = operations.filter(({ call, outcome }) => call !== 'renew' || outcome !== 'unknown');
    const contradiction = findContradiction([...known, ...possible], terms);
    return contradiction === undefined ? [] : [`${experiment}: ${contradiction}`];
  });
  const operations = new Map([...counts].map(([call, all]) => [`dispatchers: ${call}`, all.length]));
  return { operations, contradictions, unexplained: takeoversWithoutCause(byExperiment, terms) };
}

/**
 * Whether the operations of one experiment could have happened one after the other, each between its start and its end
 * (Wing and Gong's search, with the states that it has met). Operations of unknown outcome may have had no effect. While Redis
 * is away, every dispatcher loses the answers of many takeovers: to keep the search small, the first of them stands for all,
 * and may take effect any number of times. Returns the operations at which the search got stuck, in words; undefined: there is
 * such an order.
 */
export function findContradiction(
  operations: readonly LeaseOperation[],
  { leaseMs }: { leaseMs: number },
): string | undefined {
  const sorted = operations.toSorted((a, b) => a.start - b.start);
  const isLost = ({ call, outcome }: LeaseOperation) => call === 'takeOver' && outcome === 'unknown';
  const lostTakeover = sorted.find(isLost);
  const all = sorted.filter((operation) => !isLost(operation));
  const required = all.filter(({ outcome }) => outcome !== 'unknown').length;
  const stack = [{ done: 0n, left: required, lease: FREE }];
  const met = new Set<string>();
  let farthest = { left: Number.POSITIVE_INFINITY, words: '' };
  for (let place = stack.pop(); place; place = stack.pop()) {
    const { done, left, lease } = place;
    if (left === 0) return undefined;
    const key = `${done}:${Object.values(lease)}`;
    if (met.has(key)) continue;
    met.add(key);
    const open = all.flatMap((operation, index) =>
      (done >> BigInt(index)) & 1n ? [] : [{ operation, index }],
    );
    const firstEnd = Math.min(...open.map(({ operation }) => operation.end));
    const next = open.filter(({ operation }) => operation.start <= firstEnd);
    if (left < farthest.left)
      farthest = {
        left,
        words: describe(
          lease,
          next.map(({ operation }) => operation),
        ),
      };
    if (lostTakeover && lostTakeover.start <= firstEnd) {
      const then = after(lease, lostTakeover, leaseMs);
      if (then) stack.push({ done, left, lease: then });
    }
    // The last one pushed is tried first: the one that was answered first.
    for (const { operation, index } of next.toSorted((a, b) => b.operation.end - a.operation.end)) {
      const then = after(lease, operation, leaseMs);
      const counts = operation.outcome === 'unknown' ? 0 : 1;
      if (then) stack.push({ done: done | (1n << BigInt(index)), left: left - counts, lease: then });
    }
  }
  return farthest.words;
}

function describe({ attempt, holder, confirmed }: Lease, next: readonly LeaseOperation[]): string {
  const words = next.map(
    ({ process, call, outcome, token, attempt: number }) =>
      `${process} ${call} ${number ?? ''} ${outcome} (${token?.slice(0, 4)})`,
  );
  const lease = `attempt ${attempt}${confirmed ? ', confirmed' : ''}, holder ${holder?.slice(0, 4) ?? 'none'}`;
  return `no order explains its leases; with ${lease}, impossible: ${words.join('; ')}`;
}

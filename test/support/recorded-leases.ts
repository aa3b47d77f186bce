// Records what dispatchers did with leases in files that survive their death: a call that changes a lease before it is made,
// and every call when it is answered. test/nemesis/linearizability.ts checks the records.
import { mkdirSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Decorators, decorate } from '../../src/core/decorate.ts';
import { EchelonError } from '../../src/core/errors.ts';
import type { Store } from '../../src/store/store.ts';

/** The calls that take, need or end a lease. */
type LeaseCall = 'acquire' | 'takeOver' | 'confirm' | 'renew' | 'append' | 'release' | 'end';

/** The part of a call that concerns one lease. */
interface Part {
  readonly experiment: string;
  readonly token: string;
  readonly attempt?: number;
  /** Of a takeover: whether the store knew that the launch was confirmed. */
  readonly confirmed?: boolean;
  readonly refused?: boolean;
}

/** Times are ms of the machine's monotonic clock, the same for all processes. */
interface Line {
  readonly id: number;
  readonly call: LeaseCall;
  readonly start: number;
  readonly end?: number;
  readonly asked: readonly Part[];
  /** Undefined: no answer came. */
  readonly answered?: readonly Part[];
  /** The connection was lost meanwhile, and the client may have sent the call twice. */
  readonly resent?: boolean;
}

/** A call that concerns one experiment. */
export interface LeaseOperation extends Pick<Line, 'call' | 'start'>, Partial<Part> {
  readonly process: string;
  /** `unknown`: it took effect at any time after its start, or never. A takeover has no token then. */
  readonly outcome: 'ok' | 'refused' | 'unknown';
  readonly end: number;
}

/** Calls that are recorded when they are answered. */
const RECORDED_LATER: readonly LeaseCall[] = ['append'];

const now = () => Number(process.hrtime.bigint() / 1_000n) / 1_000;

/** The same store, whose calls with leases are recorded in `directory`. `losses`: of its connection so far. */
export function recordLeases(
  store: Store,
  { directory, name, losses }: { directory: string; name: string; losses: () => number },
): Store {
  mkdirSync(directory, { recursive: true });
  const file = openSync(join(directory, name), 'a');
  const write = (line: Line) => writeSync(file, `${JSON.stringify(line)}\n`);
  let calls = 0;

  async function record<R>(
    call: LeaseCall,
    asked: readonly Part[],
    { make, answer }: { make: () => Promise<R>; answer: (result: R) => readonly Part[] },
  ): Promise<R> {
    const isLater = RECORDED_LATER.includes(call);
    const line = { id: ++calls, call, start: now(), asked: isLater ? [] : asked };
    const before = losses();
    if (!isLater) write(line);
    const end = (answered: readonly Part[]) =>
      write({ ...line, end: now(), answered, resent: losses() !== before });
    try {
      const result = await make();
      end(answer(result));
      return result;
    } catch (error) {
      if (error instanceof EchelonError && error.code === 'lease-lost')
        end(asked.map((part) => ({ ...part, refused: true })));
      throw error;
    }
  }
  const decorators: Decorators<Pick<Store, 'attempts' | 'events'>> = {
    attempts: {
      acquire: (make, [{ experiment, token }]) =>
        record('acquire', [{ experiment, token }], {
          make,
          answer: (result) =>
            result.outcome === 'acquired' ? [result.lease] : [{ experiment, token, refused: true }],
        }),
      takeOver: (make) =>
        record('takeOver', [], {
          make,
          answer: (taken) => taken.map(({ lease, confirmed }) => ({ ...lease, confirmed })),
        }),
      renew: (make, [leases]) =>
        record('renew', leases, {
          make,
          answer: (all) => all.map(({ lease, status }) => ({ ...lease, refused: status === 'lost' })),
        }),
      release: (make, [leases]) => record('release', leases, { make, answer: () => leases }),
      confirm: (make, [lease]) => record('confirm', [lease], { make, answer: () => [lease] }),
      // While cancelling it may have ended nothing.
      end: (make, [lease]) =>
        record('end', [lease], { make, answer: (state) => (state === 'cancelling' ? [] : [lease]) }),
    },
    events: { append: (make, [lease]) => record('append', [lease], { make, answer: () => [lease] }) },
  };
  return decorate<Store, Pick<Store, 'attempts' | 'events'>>(store, decorators);
}

/** The recorded operations of all processes by experiment, and the takeovers whose answers were lost. */
export function readLeases(directory: string): {
  readonly byExperiment: ReadonlyMap<string, readonly LeaseOperation[]>;
  readonly lostTakeovers: readonly LeaseOperation[];
} {
  const byExperiment = new Map<string, LeaseOperation[]>();
  const lostTakeovers: LeaseOperation[] = [];
  for (const process of readdirSync(directory)) {
    const text = readFileSync(join(directory, process), 'utf8').split('\n').slice(0, -1);
    const lines = new Map(text.map((one) => JSON.parse(one) as Line).map((line) => [line.id, line]));
    for (const { call, start, end, asked, answered, resent } of lines.values()) {
      const add = (part: Part, outcome: LeaseOperation['outcome'], until: number) => {
        const known = byExperiment.get(part.experiment) ?? [];
        byExperiment.set(part.experiment, known);
        known.push({ ...part, call, process, start, outcome, end: until });
      };
      for (const part of answered ?? []) add(part, part.refused ? 'refused' : 'ok', end!);
      if (answered && (!resent || call === 'renew')) continue;
      const lost = { outcome: 'unknown', end: Number.POSITIVE_INFINITY } as const;
      if (call === 'takeOver') lostTakeovers.push({ call, process, start, ...lost });
      for (const part of call === 'takeOver' ? [] : asked) add(part, lost.outcome, lost.end);
    }
  }
  return { byExperiment, lostTakeovers };
}

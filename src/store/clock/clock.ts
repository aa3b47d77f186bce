import type { StoreContext } from '../redis/context.ts';
import type { ClockReading, OwnClocks } from './judge.ts';

/**
 * The store's clock: the server's clock (Redis TIME) without its leaps. A process that compares the server's clock with its
 * own steady one records the correction; the scripts add it (redis/lua/time.lua).
 */
export interface ClockStore {
  read(): Promise<ClockReading>;
  /** Records the correction from now on. False: the reading is outdated, so the caller must read again. */
  see(reading: ClockReading, correction: number, own: OwnClocks): Promise<boolean>;
  /**
   * The server's clock is right: the store's time becomes the server's. Leases and due times move with it. False: the
   * correction is not this one.
   */
  confirm(correction: number): Promise<boolean>;
}

/** See {@link ClockStore}. */
export function createClock({ run }: Pick<StoreContext, 'run'>): ClockStore {
  return {
    async read() {
      const reply = (await run('read-clock', [])) as [string, string, string, string, string, string];
      const [server, time, correction, seen, machine, uptime] = reply;
      return {
        ...{ server: Number(server), time: Number(time), correction: Number(correction) },
        ...{ seen: seen === '' ? null : Number(seen), machine, uptime: Number(uptime) },
      };
    },
    async see({ server, correction: judged }, correction, { machine, uptime }) {
      return (await run('see-clock', [server, judged, correction, machine, Math.round(uptime)])) === 1;
    },
    async confirm(correction) {
      return (await run('confirm-clock', [correction])) === 1;
    },
  };
}

/** The store's time in ms since 1970. The age of data is judged by it: clocks of processes may be wrong. */
export async function storeTime(context: Pick<StoreContext, 'run'>): Promise<number> {
  return (await createClock(context).read()).time;
}

import type { StoreContext } from '../context.ts';
import type { ClockReading, OwnClocks } from './judge.ts';

/**
 * The store's clock: the server's clock (Redis TIME) without its leaps. A process that compares the server's clock with its
 * own steady one records the correction; the scripts add it (redis/lua/time.lua).
 */
export function createClock({ run }: Pick<StoreContext, 'run'>) {
  return {
    async read(): Promise<ClockReading> {
      const reply = (await run('read-clock', [])) as [string, string, string, string, string, string];
      const [server, time, correction, seen, machine, uptime] = reply;
      return {
        server: Number(server),
        time: Number(time),
        correction: Number(correction),
        seen: seen === '' ? null : Number(seen),
        machine,
        uptime: Number(uptime),
      };
    },
    /** Records the correction from now on. False: the reading is outdated, so the caller must read again. */
    async see(
      { server, correction: judged }: ClockReading,
      correction: number,
      { machine, uptime }: OwnClocks,
    ): Promise<boolean> {
      return (await run('see-clock', [server, judged, correction, machine, Math.round(uptime)])) === 1;
    },
    /**
     * The server's clock is right: the store's time becomes the server's. Leases and due times move with it. False: the
     * correction is not this one.
     */
    async confirm(correction: number): Promise<boolean> {
      return (await run('confirm-clock', [correction])) === 1;
    },
  };
}

/** The store's time in ms since 1970. The age of data is judged by it: clocks of processes may be wrong. */
export async function storeTime(context: Pick<StoreContext, 'run'>): Promise<number> {
  return (await createClock(context).read()).time;
}

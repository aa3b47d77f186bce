/** The server's clock and the store's, read in one step; ms. */
export interface ClockReading {
  /** The server's clock (Redis TIME). */
  server: number;
  /** The store's time. */
  time: number;
  /** What the server's clock has leapt, negated: the store's time is the server's clock plus this. */
  correction: number;
  /** The store's time when a process last judged the server's clock; null: none has. */
  seen: number | null;
  /** The machine of that process, and its uptime then. */
  machine: string;
  uptime: number;
}

/** The clocks of a process, read together with the server's; ms. */
export interface OwnClocks {
  /** Names this run of the machine; empty if unknown. */
  machine: string;
  /** Since the start of the machine. It cannot be set, and passes while the machine sleeps. */
  uptime: number;
  /** The server's clock was read at most this much later. */
  within: number;
  /** Since 1970. May be set wrongly. */
  wall: number;
}

/** What a process remembers of its last judgement. */
export type ClockMemory = Pick<ClockReading, 'server' | 'time'> & Pick<OwnClocks, 'uptime' | 'within'>;

const DAY_MS = 24 * 3_600_000;
/** Clocks that differ by less agree: of two machines, or after a small setting. The share of the elapsed time is drift. */
const AGREE_MS = 5_000;
const DRIFT = 0.001;
/** A judgement that is younger shows that other processes judge the clock. */
const RECENT_MS = 30_000;
/** If no process was running for longer, the server's clock is not believed without an operator. */
const MAX_ABSENCE_MS = 31 * DAY_MS;
/** How far the clock of a process may differ from the server's clock that it confirms. */
const MAX_APART_MS = 3_600_000;
/** A correction up to this is worked off by a tenth of the elapsed time: an operator set the clock right. */
const MAX_WORKED_OFF_MS = 600_000;
const WORKED_OFF_SHARE = 0.1;

/** Whether the server's clock has leapt so far that only its return, or an operator, ends the correction. */
export function isLeapt(correction: number): boolean {
  return Math.abs(correction) > MAX_WORKED_OFF_MS;
}

/** For logs and the readiness of a process. */
export const LEAPT =
  "The clock of Redis has leapt. The store's time continues without the leap, and retention deletes nothing. Set the clock of its machine right; if it is right now, run `echelon clock --confirm`.";

/**
 * The correction from now on. The store's time continues at the pace of the steady clocks of the processes: a leap of the
 * server's clock changes the correction, and its return takes that back.
 */
export function judgeClock(reading: ClockReading, own: OwnClocks, memory: ClockMemory | null): number {
  const correction = correctionOf(reading, own, memory);
  const elapsed = Math.max(0, reading.server + correction - (reading.seen ?? 0));
  const size = Math.abs(correction);
  if (isLeapt(correction)) return correction;
  return Math.sign(correction) * Math.floor(Math.max(0, size - elapsed * WORKED_OFF_SHARE));
}

function correctionOf(reading: ClockReading, own: OwnClocks, memory: ClockMemory | null): number {
  const { server, correction, seen } = reading;
  if (seen === null) return 0;
  const before = memory ?? sameMachine(reading, own);
  // The store's time itself may stand still until a process has judged the server's clock.
  const time = server + correction;
  if (before !== null) {
    const elapsed = own.uptime - before.uptime;
    const allowed = AGREE_MS + elapsed * DRIFT + before.within + own.within;
    const agree = (a: number, b: number) => Math.abs(a - b) <= allowed;
    // Another process may have corrected the leap, or an operator may have confirmed the clock.
    const steady = agree(server, before.server + elapsed) || agree(time, before.time + elapsed);
    return steady ? correction : Math.round(before.time + elapsed - server);
  }
  if (Math.abs(time - seen) <= RECENT_MS) return correction;
  const absence = server - seen;
  const believed = absence >= -AGREE_MS && absence <= MAX_ABSENCE_MS;
  if (believed && Math.abs(own.wall - server) <= MAX_APART_MS) return 0;
  return seen - server;
}

/** What a process on this run of this machine, which may have ended, has left of its last judgement. */
function sameMachine(
  { machine, uptime, seen, correction }: ClockReading,
  own: OwnClocks,
): ClockMemory | null {
  if (machine === '' || machine !== own.machine || own.uptime < uptime || seen === null) return null;
  return { server: seen - correction, time: seen, uptime, within: 0 };
}

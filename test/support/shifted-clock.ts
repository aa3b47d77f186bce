/*
 * Imported by a process under test: from then on `Date` is this machine's clock plus an offset that the test changes
 * at any time. Timers and `performance.now()` stay as they are, as after a change of a machine's clock.
 */
const real = Date;
let offsetMs = 0;

// The function itself: a test that mocks `Date.now` puts this module's own in its place afterwards.
const { now } = real;
const shifted = () => now() + offsetMs;

globalThis.Date = new Proxy(real, {
  apply: () => new real(shifted()).toString(),
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [shifted()] : args, newTarget),
  get: (target, name, receiver) =>
    name === 'now' && target.now === now ? shifted : Reflect.get(target, name, receiver),
});

/** Sets the clock of this process that much after the machine's; negative: before. */
export function shiftClock(ms: number): void {
  offsetMs = ms;
}

const COMMAND = /^clock (-?\d+)$/;

/** Follows a line `clock MS` from the test; false: it is another line. */
export function followsClock(line: string): boolean {
  const ms = COMMAND.exec(line)?.[1];
  if (ms === undefined) return false;
  shiftClock(Number(ms));
  return true;
}

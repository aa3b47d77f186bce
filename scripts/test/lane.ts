// Runs test files in this process, one item at a time as the runner asks over IPC, so that items share the modules that they load.
// Each file is a suite of its own: its hooks run around its own tests. The reporter sends what became of each test.
import { resolve } from 'node:path';
import { beforeEach, suite } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { endKeptLines } from '../../test/support/kept-log.ts';

/** What the runner asks of a lane. */
export interface Order {
  readonly file: string;
  /** Variables for the file and what it starts. */
  readonly env: Readonly<Record<string, string>>;
}

/** What a lane tells when a file has run: what it leaves in the process. */
export interface Done {
  readonly type: 'done';
  readonly left: readonly string[];
  /** When each test began (ms since the epoch), in order. */
  readonly tests: readonly { readonly name: string; readonly at: number }[];
}

const SETTLE_MS = 10_000;
const POLL_MS = 20;

/** Every interval that was started; Node tells them apart from timers that fire once, which end by themselves. */
const intervals = new Set<NodeJS.Timeout & { readonly _destroyed?: boolean }>();
const startInterval = globalThis.setInterval;
globalThis.setInterval = ((...args: Parameters<typeof setInterval>) => {
  const timer = startInterval(...args);
  intervals.add(timer);
  return timer;
}) as typeof setInterval;

/** How many handles of each kind keep the process alive. */
const resources = (): Map<string, number> => {
  const counts = new Map<string, number>();
  const count = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const timer of intervals)
    if (timer._destroyed) intervals.delete(timer);
    else if (timer.hasRef()) count('interval');
  for (const name of process.getActiveResourcesInfo()) if (name !== 'Timeout') count(name);
  return counts;
};

/** Handles that keep the process alive and were not open before; polled, since closing one takes turns of the loop. */
async function openedSince(before: ReadonlyMap<string, number>): Promise<string[]> {
  for (const begun = Date.now(); ; await pause(POLL_MS, undefined, { ref: false })) {
    const more = [...resources()].flatMap(([name, count]) => {
      const opened = count - (before.get(name) ?? 0);
      return opened > 0 ? [`open handle ${name}${opened > 1 ? ` (${opened} times)` : ''}`] : [];
    });
    if (more.length === 0 || Date.now() - begun > SETTLE_MS) return more;
  }
}

/** A copy of it changes the environment of no process that is started, and no TMPDIR. */
const ENVIRONMENT = process.env;

/** Restores what the file changed of the whole process; gives its names. */
function changedSince({ env, directory }: { env: NodeJS.ProcessEnv; directory: string }): string[] {
  const replaced = process.env === ENVIRONMENT ? [] : ['another object as process.env'];
  process.env = ENVIRONMENT;
  const names = Object.keys({ ...env, ...process.env }).filter((name) => env[name] !== process.env[name]);
  for (const name of names)
    if (env[name] === undefined) delete process.env[name];
    else process.env[name] = env[name];
  const moved = process.cwd() === directory ? [] : [`working directory ${process.cwd()}`];
  process.chdir(directory);
  return [...names.map((name) => `environment variable ${name}`), ...replaced, ...moved];
}

async function carryOut({ file, env }: Order): Promise<Done> {
  Object.assign(process.env, env);
  const before = { env: { ...process.env }, directory: process.cwd(), resources: resources() };
  const tests: { name: string; at: number }[] = [];
  await suite(file, async () => {
    beforeEach((context) => void tests.push({ name: context.name, at: Date.now() }));
    await import(resolve(file));
  });
  endKeptLines(true); // shown only if the item has failed
  const left = [...changedSince(before), ...(await openedSince(before.resources))];
  return { type: 'done', left, tests };
}

process.on('message', async (order: Order) => process.send?.(await carryOut(order)));
process.on('disconnect', () => process.exit());

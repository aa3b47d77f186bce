import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isolation } from '../isolation.mjs';
import type { Item } from './items.ts';
import type { Done, Order } from './lane.ts';
import type { Begun, Ended, Failure } from './lane-reporter.ts';
import { clear, killMarked, type Leak, MARK } from './leaks.ts';
import { pytestCommand, pytestResult, skippedFile } from './pytest.ts';

/** What became of an item. */
export interface Outcome {
  readonly item: Item;
  readonly passed: number;
  /** The reason of each skipped test. */
  readonly skipped: readonly string[];
  readonly failures: readonly Failure[];
  readonly seconds: number;
  readonly output: string;
  /** What the same process had run before, the last first. */
  readonly after: readonly string[];
}

/** The processes in which items run. */
export interface Lanes extends AsyncDisposable {
  /** Runs an item in a process that no other item uses meanwhile. */
  run(item: Item): Promise<Outcome>;
  /** The ids of the processes in which items run, by the item's name. */
  readonly pids: ReadonlyMap<string, number>;
}

/**
 * Items that run beside each other are each in a network namespace, because each Ray takes any free ports. Undefined if none can
 * be made; then they must run one after another.
 */
export const network = process.env.ECHELON_ISOLATED
  ? isolation(process.env.ECHELON_PYTHON ?? '.venv/bin/python')
  : undefined;

const TEST_TIMEOUT_MS = 180_000;
/** Longer than a test may take: an item that reports nothing for this long is stopped. */
const SILENCE_MS = 600_000;
const END_MS = 10_000;
/** Of the times at which Linux says that a file or a process arose. */
const GRANULARITY_MS = 20;

const NODE_COMMAND = [
  process.execPath,
  `--test-timeout=${TEST_TIMEOUT_MS}`,
  `--test-reporter=${import.meta.resolve('./lane-reporter.ts')}`,
  '--test-reporter-destination=stdout',
  fileURLToPath(import.meta.resolve('./lane.ts')),
];

const VARIABLES = {
  // Set under `node --test`, of which a lane is no part.
  NODE_TEST_CONTEXT: undefined,
  // CI=true makes libraries colour their output, which the tests compare.
  NO_COLOR: '1',
  // Many processes load the same modules: stripped and compiled once, not once in each, in whatever folder they run.
  NODE_COMPILE_CACHE: resolve('.cache/node-compile'),
  // Ray makes its processes nice: beside other items they would starve.
  RAY_worker_niceness: '0',
};

/** A process of Node that runs items, and what it ran. */
interface Lane {
  readonly child: ChildProcess;
  readonly output: Buffer[];
  readonly history: string[];
}

/** Beside the TMPDIR of an item, which must be empty in the end. */
const scratchOf = ({ directory }: { directory: string }): string => `${directory}p`;

interface Progress {
  passed: number;
  readonly skipped: string[];
  readonly failures: Failure[];
  /** The test that began last. */
  current: string;
}

/** Lanes whose temporary files are below a folder of this run. Disposing ends the processes. */
export function openLanes(): Lanes {
  const scratch = mkdtempSync(join(tmpdir(), 'et-')); // short: Ray puts sockets below it
  const idle: Lane[] = [];
  const alive = new Set<ChildProcess>();
  const pids = new Map<string, number>();
  let count = 0;

  function start(command: readonly string[], env: Record<string, string>, ipc: boolean): ChildProcess {
    const [program, ...args] = [...(network ?? []), ...command];
    const child = spawn(program!, args, {
      stdio: ['ignore', 'pipe', 'pipe', ...(ipc ? (['ipc'] as const) : [])],
      env: { ...process.env, ...VARIABLES, ...env },
    });
    alive.add(child);
    child.once('close', () => alive.delete(child));
    return child;
  }

  function openLane(): Lane {
    const lane: Lane = { child: start(NODE_COMMAND, {}, true), output: [], history: [] };
    for (const stream of [lane.child.stdout!, lane.child.stderr!])
      stream.on('data', (chunk: Buffer) => lane.output.push(chunk));
    return lane;
  }

  async function runInLane(item: Item, traces: { mark: string; directory: string }): Promise<Outcome> {
    const begun = Date.now();
    const lane = (item.kind === 'shared' ? idle.pop() : undefined) ?? openLane();
    const { child, output, history } = lane;
    pids.set(item.name, child.pid!);
    output.length = 0;
    const progress: Progress = { passed: 0, skipped: [], failures: [], current: item.name };
    const order: Order = { file: item.name, env: { TMPDIR: traces.directory, [MARK]: traces.mark } };
    const { left: inside, tests } = await carriedOut(child, { order, progress });
    const left = item.kind === 'shared' ? inside : []; // the process ends
    const isAlive = child.exitCode === null && !child.killed && child.connected;
    const isKept = item.kind === 'shared' && isAlive;
    if (!isKept && isAlive) await end(child);
    const leaks = await clear({ ...traces, ...(isKept && { lane: child.pid! }) });
    progress.failures.push(...leakFailures(item, { left, leaks, tests }));
    const after = [...history];
    history.unshift(item.name);
    if (isKept && left.length + leaks.length === 0) idle.push(lane);
    else if (isKept) await end(child);
    return outcome({ item, begun, output, after, progress });
  }

  async function runPytest(item: Item, traces: { mark: string; directory: string }): Promise<Outcome> {
    const begun = Date.now();
    const skipped = skippedFile(item);
    if (skipped.length > 0)
      return { item, passed: 0, skipped, failures: [], seconds: 0, output: '', after: [] };
    const { command, env } = pytestCommand(item, scratchOf(traces));
    // For a pytest that a test starts.
    const inner = { PYTEST_DEBUG_TEMPROOT: scratch };
    const child = start(command, { ...env, ...inner, TMPDIR: traces.directory, [MARK]: traces.mark }, false);
    pids.set(item.name, child.pid!);
    const output: Buffer[] = [];
    const problem = await closed(child, (chunk) => output.push(chunk));
    const result = pytestResult(item, { output: `${Buffer.concat(output)}`, problem });
    const leaks = await clear(traces);
    const failures = [...result.failures, ...leakFailures(item, { left: [], leaks, tests: [] })];
    return outcome({ item, begun, output, after: [], progress: { ...result, failures } });
  }

  async function run(item: Item): Promise<Outcome> {
    count += 1;
    const directory = join(scratch, String(count));
    mkdirSync(directory);
    const traces = { mark: `${process.pid}-${count}`, directory };
    try {
      return await (item.kind === 'pytest' ? runPytest(item, traces) : runInLane(item, traces));
    } finally {
      pids.delete(item.name);
      for (const path of [directory, scratchOf(traces)]) rmSync(path, { recursive: true, force: true });
    }
  }

  const killAll = (): void => {
    for (const child of alive) child.kill('SIGKILL');
    killMarked(`${process.pid}-`);
    rmSync(scratch, { recursive: true, force: true });
  };
  process.once('exit', killAll);
  return {
    run,
    pids,
    async [Symbol.asyncDispose]() {
      await Promise.all(idle.map(({ child }) => end(child)));
      process.off('exit', killAll);
      killAll();
    },
  };
}

function outcome({
  item,
  begun,
  output,
  after,
  progress,
}: {
  item: Item;
  begun: number;
  output: readonly Buffer[];
  after: readonly string[];
  progress: Pick<Progress, 'passed' | 'skipped' | 'failures'>;
}): Outcome {
  const { passed, skipped, failures } = progress;
  const seconds = (Date.now() - begun) / 1000;
  return { item, passed, skipped, failures, seconds, output: `${Buffer.concat(output)}`, after };
}

/** Each leak as a failure of the test that had begun last when it arose, or of the item. */
function leakFailures(
  item: Item,
  { left, leaks, tests }: Pick<Done, 'left' | 'tests'> & { leaks: readonly Leak[] },
): Failure[] {
  const all: Leak[] = [...left.map((what) => ({ what })), ...leaks];
  const byTest = Map.groupBy(all, ({ at }) =>
    at === undefined
      ? item.name
      : (tests.findLast((test) => test.at <= at + GRANULARITY_MS)?.name ?? item.name),
  );
  return [...byTest].map(([test, some]) => ({
    title: `${item.name}${test === item.name ? '' : ` ${test}`}: leaves something`,
    reason: some.map(({ what }) => `left: ${what}`),
  }));
}

/** Sends the order to a lane and follows it to the end. */
async function carriedOut(
  child: ChildProcess,
  { order, progress }: { order: Order; progress: Progress },
): Promise<Done> {
  const { promise, resolve } = Promise.withResolvers<Done>();
  let done: Done | undefined;
  let isOver = false;
  const fail = (why: string): void => {
    progress.failures.push({ title: `${order.file}: ${progress.current}`, reason: [why] });
    resolve({ type: 'done', left: [], tests: [] });
  };
  const silence = setTimeout(() => {
    fail(`it reported nothing for ${SILENCE_MS / 1000} s and was stopped`);
    child.kill('SIGKILL');
  }, SILENCE_MS);
  const onMessage = (message: Begun | Ended | Done): void => {
    silence.refresh();
    if (message.type === 'begun') progress.current = message.name;
    else if (message.type === 'done') done = message;
    else {
      if (message.isFile) isOver = true;
      if (message.failed) progress.failures.push(message.failed);
      else if (message.skipped !== undefined) progress.skipped.push(message.skipped);
      else if (!message.isFile) progress.passed += 1;
    }
    if (done !== undefined && isOver) resolve(done);
  };
  const onExit = (code: number | null, signal: string | null): void =>
    fail(`its process ended with ${signal ?? code}`);
  child.on('message', onMessage).once('exit', onExit);
  child.send(order);
  const result = await promise;
  clearTimeout(silence);
  child.off('message', onMessage).off('exit', onExit);
  return result;
}

/** Follows a process to its end; gives what went wrong, '' for nothing. */
async function closed(child: ChildProcess, onOutput: (chunk: Buffer) => void): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let problem: string | undefined;
  const silence = setTimeout(() => {
    problem = `it printed nothing for ${SILENCE_MS / 1000} s and was stopped`;
    child.kill('SIGKILL');
  }, SILENCE_MS);
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk: Buffer) => {
      silence.refresh();
      onOutput(chunk);
    });
  child.once('error', (error) => resolve(error.message));
  child.once('exit', (code, signal) =>
    resolve(problem ?? (code === 0 ? '' : `it ended with ${signal ?? code}`)),
  );
  const result = await promise;
  clearTimeout(silence);
  return result;
}

/** Lets a lane end, so that what it releases at its end is released. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const late = setTimeout(() => child.kill('SIGKILL'), END_MS);
  child.disconnect();
  await gone;
  clearTimeout(late);
}

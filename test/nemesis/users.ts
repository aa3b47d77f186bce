import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, type Connection, connect, events } from '../../src/client/index.ts';
import { retryUntil } from '../../src/core/retry.ts';
import { FAKE_DRIVER } from '../support/dispatch.ts';
import { fakeArguments } from '../support/fake-driver.ts';

const WAITS = { firstMs: 50, longestMs: 1_000 };
/** Experiments that users have open at a time: more than the cluster starts at once. */
const OPEN = 40;
const TIMEOUT_MS = 6_000;
const USERS = 3;

/** What users know, independently of the store. */
export interface Users {
  /** Accepted experiments with the idempotency keys under which they were accepted. */
  readonly accepted: ReadonlyMap<string, string>;
  /** Answers of repeated submissions that named another experiment. */
  readonly contradictions: readonly string[];
  /** Accepted sweeps, with the number of their children. */
  readonly sweeps: ReadonlyMap<string, number>;
  /** Experiments whose cancel was accepted, and those whose cancel was refused because they had ended. */
  readonly cancelled: ReadonlySet<string>;
  readonly cancelRefused: ReadonlySet<string>;
  /** Ids of the events that each follower of an experiment received, over all its connections. */
  readonly followed: ReadonlyMap<string, readonly string[]>;
  readonly operations: ReadonlyMap<string, number>;
  /** Ends the users; followers continue to the end of their streams. */
  leave(): Promise<void>;
  /** Resolves when every follower has reached the end of its stream. */
  followers(): Promise<void>;
}

/** Starts users of the API at `url`. They retry each request under its key until it is answered. `ended`: of an experiment. */
export function startUsers({
  url,
  token,
  random,
  openCount,
}: {
  url: string;
  token: string;
  random: () => number;
  openCount: () => Promise<number>;
}): Users {
  const client = connect({ url, token, timeoutMs: TIMEOUT_MS });
  const accepted = new Map<string, string>();
  const contradictions: string[] = [];
  const sweeps = new Map<string, number>();
  const cancelled = new Set<string>();
  const cancelRefused = new Set<string>();
  const followed = new Map<string, string[]>();
  const operations = new Map<string, number>();
  const following: Promise<void>[] = [];
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = () => [...accepted.keys()].at(-1 - below(OPEN)) ?? [...accepted.keys()][0]!;
  let left = false;

  async function submit(): Promise<void> {
    const key = randomUUID();
    const spec = specOf(random);
    const { id } = await send(() => post(client, key, spec));
    accepted.set(id, key);
    if (below(3) === 0) following.push(follow(client, id, random, collect(followed, id)));
  }

  async function repeatSubmission(): Promise<void> {
    const key = randomUUID();
    const spec = specOf(random);
    const answers = await Promise.all([1, 2].map(() => send(() => post(client, key, spec))));
    for (const { id } of answers) accepted.set(id, key);
    if (answers[0]!.id !== answers[1]!.id) contradictions.push(`key ${key}: ${answers.map(({ id }) => id)}`);
  }

  async function cancel(): Promise<void> {
    const id = pick();
    const answer = await refusable(() => client.post('/v1/experiments/{id}/cancel', { path: { id } }));
    (answer === undefined ? cancelRefused : cancelled).add(id);
  }

  async function changePriority(): Promise<void> {
    const path = { id: pick() };
    await refusable(() => client.patch('/v1/experiments/{id}', { path, body: { priority: below(5) - 2 } }));
  }

  async function sweep(): Promise<void> {
    const { name: _, ...spec } = specOf(random);
    const axes = { '/replay/batches': [1, 2, 3] };
    const body = { name: 'a sweep', method: 'list', spec, axes } as const;
    const headers = { 'idempotency-key': randomUUID() };
    const { id } = await send(() => client.post('/v1/sweeps', { headers, body }));
    sweeps.set(id, axes['/replay/batches'].length);
  }

  const others = { repeatSubmission, cancel, changePriority, sweep };
  async function use(): Promise<void> {
    for (; !left; await delay(50 + below(150))) {
      const room = (await openCount().catch(() => OPEN)) < OPEN;
      const names = Object.keys(others) as (keyof typeof others)[];
      const other = names[below(names.length * 4)];
      const name = other && accepted.size > 0 && (room || other !== 'sweep') ? other : 'submit';
      if (name === 'submit' && !room) continue;
      await (name === 'submit' ? submit() : others[name]());
      operations.set(name, (operations.get(name) ?? 0) + 1);
    }
  }
  const using = Array.from({ length: USERS }, use);

  return {
    ...{ accepted, contradictions, sweeps, cancelled, cancelRefused, followed, operations },
    async leave() {
      left = true;
      await Promise.all(using);
    },
    async followers() {
      await Promise.all(following);
    },
  };
}

type Spec = ReturnType<typeof specOf>;

function post(client: Connection, key: string, spec: Spec) {
  return client.post('/v1/experiments', { headers: { 'idempotency-key': key }, body: spec });
}

/** Some drivers are quiet for longer than a lease. */
function specOf(random: () => number) {
  const quiet = random() < 0.15;
  const driver = {
    steps: quiet ? 2 : 4 + Math.floor(random() * 16),
    delayMs: quiet ? 4_000 : 150 + Math.floor(random() * 300),
    batchBytes: random() < 0.5 ? 500 : 0,
  };
  return {
    ...{ name: 'one of many', engine: 'replay' as const, maxAttempts: 20, rules: [] },
    resources: { cpus: 1 },
    gracePeriodSeconds: 1,
    env: { [FAKE_DRIVER]: fakeArguments(driver).join(' ') },
  };
}

/** Repeats a request until it has an answer; throws a refusal that a retry would meet again. */
function send<T>(request: () => Promise<T>): Promise<T> {
  return retryUntil(request, {
    waits: WAITS,
    shouldRetry: (error) => !(error instanceof ApiError) || error.retry,
  });
}

/** {@link send}; undefined if the experiment is in another state than the request needs. */
async function refusable<T>(request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await send(request);
  } catch (error) {
    if (error instanceof ApiError && error.status === 409) return undefined;
    throw error;
  }
}

function collect(followed: Map<string, string[]>, id: string): string[] {
  const ids: string[] = [];
  followed.set(id, ids);
  return ids;
}

/** Follows an experiment to its end, and connects again after its last event every few seconds. */
async function follow(client: Connection, id: string, random: () => number, ids: string[]): Promise<void> {
  for (;;) {
    const signal = AbortSignal.timeout(Math.floor(500 + random() * 5_000));
    const after = ids.at(-1);
    const options = { signal, patienceMs: 300_000, pauseMs: 100, ...(after !== undefined && { after }) };
    for await (const message of events(client, id, options)) ids.push(message.id);
    if (!signal.aborted) return;
  }
}

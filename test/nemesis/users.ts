import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, type Connection, connect, type ExperimentSpec, events } from 'echelon-client';
import { retryUntil } from '../../src/core/retry.ts';
import { FAKE_DRIVER } from '../support/dispatch.ts';
import { fakeArguments } from '../support/fake-driver.ts';
import { between, pick } from './faults/fault.ts';
import { type FollowedFeed, followFeed } from './feed.ts';

const WAITS = { firstMs: 50, longestMs: 1_000 };
/** Experiments that users have open at a time: more than the cluster starts at once. */
const OPEN = 40;
const TIMEOUT_MS = 6_000;
const USERS = 3;
/** The share of operations that are a submission. */
const SUBMISSIONS = 0.75;
/** The share of experiments that a user follows. */
const FOLLOWED = 0.3;
/** The share of experiments that need a GPU: at times more than the quota of the project. */
const WITH_GPU = 0.1;
/** Values of the axis of a sweep. */
const AXIS = [18, 19, 20];

/** What users know, independently of the store. */
export interface Users {
  /** Accepted experiments with the idempotency keys under which they were accepted. */
  readonly accepted: ReadonlyMap<string, string>;
  /** Accepted sweeps, with the number of their children. */
  readonly sweeps: ReadonlyMap<string, number>;
  /** Experiments whose cancel was accepted, and those whose cancel was refused because they had ended. */
  readonly cancelled: ReadonlySet<string>;
  readonly cancelRefused: ReadonlySet<string>;
  /** Experiments whose priority was changed. */
  readonly reprioritized: ReadonlySet<string>;
  /** Ids of the events that each follower of an experiment received, over all its connections. */
  readonly followed: ReadonlyMap<string, readonly string[]>;
  readonly feed: FollowedFeed;
  /** Answers that contradict the documentation: refusals of good requests, answers to bad ones, keys with two answers. */
  readonly contradictions: readonly string[];
  readonly operations: ReadonlyMap<string, number>;
  /** Ends the users; followers continue to the end of their streams. */
  leave(): Promise<void>;
  /** Resolves when every follower has reached the end of its stream. */
  followers(): Promise<void>;
  /** Gives up every request. */
  abandon(): void;
}

/** Starts users of the API at `url`. They retry each request under its key until it is answered. */
export function startUsers({
  url,
  token,
  random,
  specOf,
  openCount,
}: {
  url: string;
  token: string;
  random: () => number;
  /** What they submit. */
  specOf: (random: () => number) => ExperimentSpec;
  openCount: () => Promise<number>;
}): Users {
  const client = connect({ url, token, timeoutMs: TIMEOUT_MS });
  const accepted = new Map<string, string>();
  const sweeps = new Map<string, number>();
  const cancelled = new Set<string>();
  const cancelRefused = new Set<string>();
  const reprioritized = new Set<string>();
  const followed = new Map<string, string[]>();
  const contradictions: string[] = [];
  const operations = new Map<string, number>();
  const following: Promise<void>[] = [];
  const gone = new AbortController();
  const { signal } = gone;
  const send = <T>(request: () => Promise<T>) => retry(request, signal);
  const recent = () => ({ id: pick(random, [...accepted.keys()].slice(-OPEN)) });
  let left = false;

  async function submit(spec = specOf(random), key: string = randomUUID()): Promise<string> {
    const headers = { 'idempotency-key': key };
    const { id } = await send(() => client.post('/v1/experiments', { headers, body: spec, signal }));
    accepted.set(id, key);
    return id;
  }

  function startFollower(id: string): void {
    const ids: string[] = [];
    followed.set(id, ids);
    following.push(noting(`following ${id}`, () => follow(client, id, { random, ids, signal })));
  }

  const others = {
    async 'submit twice with one key'() {
      const [spec, key] = [specOf(random), randomUUID()];
      const ids = await Promise.all([submit(spec, key), submit(spec, key)]);
      if (ids[0] !== ids[1]) contradictions.push(`key ${key}: ${ids.join(' and ')}`);
    },
    async cancel() {
      const path = recent();
      const answer = await refusable(
        send(() => client.post('/v1/experiments/{id}/cancel', { path, signal })),
      );
      (answer === undefined ? cancelRefused : cancelled).add(path.id);
    },
    async 'change the priority'() {
      const [path, body] = [recent(), { priority: between(random, -2, 3) }];
      reprioritized.add(path.id);
      await refusable(send(() => client.patch('/v1/experiments/{id}', { path, body, signal })));
    },
    async 'submit a sweep'() {
      const { name: _, ...spec } = specOf(random);
      const body = { name: 'a sweep', method: 'list' as const, spec, axes: { '/maxAttempts': AXIS } };
      const headers = { 'idempotency-key': randomUUID() };
      const { id } = await send(() => client.post('/v1/sweeps', { headers, body, signal }));
      sweeps.set(id, AXIS.length);
    },
    async 'submit a bad spec'() {
      const bad = { ...specOf(random), priority: 'high' } as unknown as ExperimentSpec;
      const answer = await submit(bad).catch((error: unknown) => error);
      const named = answer instanceof ApiError && answer.status === 400 && answer.problems?.[0]?.field;
      if (!signal.aborted && named !== '/priority') contradictions.push(`a bad spec: ${answer}`);
    },
  };
  const feed = followFeed(client, { random, signal });
  const names = Object.keys(others) as (keyof typeof others)[];

  async function operate(): Promise<void> {
    const room = (await openCount().catch(() => OPEN)) < OPEN;
    const submits = accepted.size === 0 || random() < SUBMISSIONS;
    const name = submits ? 'submit' : pick(random, names);
    if (!room && name.startsWith('submit')) return;
    if (name !== 'submit') await others[name]();
    else {
      const id = await submit();
      if (random() < FOLLOWED) startFollower(id);
    }
    operations.set(name, (operations.get(name) ?? 0) + 1);
  }

  /** Nothing that users do may fail. */
  async function noting(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) contradictions.push(`${what}: ${error}`);
    }
  }
  const using = Array.from({ length: USERS }, async () => {
    for (; !left; await delay(between(random, 50, 200))) await noting('a user', operate);
  });

  return {
    accepted,
    sweeps,
    cancelled,
    cancelRefused,
    reprioritized,
    followed,
    feed,
    contradictions,
    operations,
    async leave() {
      left = true;
      await Promise.all(using);
    },
    async followers() {
      await Promise.all(following);
    },
    abandon() {
      left = true;
      gone.abort();
    },
  };
}

/** What users submit to a fake ray-worker. Some drivers are quiet for longer than a lease, and some experiments large. */
export function specOfFake(random: () => number): ExperimentSpec {
  const quiet = random() < 0.15;
  const driver = {
    steps: quiet ? 2 : between(random, 4, 20),
    delayMs: quiet ? 4_000 : between(random, 150, 450),
    // The largest go to the archive.
    batchBytes: pick(random, [0, 0, 500, 500, 100_000]),
  };
  const common = {
    name: 'one of many',
    maxAttempts: 20,
    rules: [],
    gracePeriodSeconds: 1,
    env: { [FAKE_DRIVER]: fakeArguments(driver).join(' ') },
  };
  if (random() < WITH_GPU)
    return { ...common, engine: 'command', command: ['fake'], resources: { cpus: 1, gpus: 1 } };
  return { ...common, engine: 'replay', resources: { cpus: random() < 0.05 ? LARGE_CPUS : 1 } };
}

/** The CPUs of a large experiment among those of {@link specOfFake}: small ones do not leave them free by chance. */
export const LARGE_CPUS = 12;

/** Repeats a request until it has an answer; throws a refusal that a retry would meet again. */
export function retry<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
  return retryUntil(request, {
    waits: WAITS,
    signal,
    shouldRetry: (error) => !signal.aborted && (!(error instanceof ApiError) || error.retry),
  });
}

/** The answer; undefined if the experiment is in another state than the request needs. */
async function refusable<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.status === 409) return undefined;
    throw error;
  }
}

/** Follows an experiment to its end, and connects again after its last event every few seconds. */
async function follow(
  client: Connection,
  id: string,
  { random, ids, signal }: { random: () => number; ids: string[]; signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    const pause = AbortSignal.timeout(between(random, 500, 5_500));
    const after = ids.at(-1);
    const either = AbortSignal.any([pause, signal]);
    const options = {
      signal: either,
      patienceMs: 300_000,
      pauseMs: 100,
      ...(after !== undefined && { after }),
    };
    for await (const message of events(client, id, options)) ids.push(message.id);
    if (!pause.aborted) return;
  }
}

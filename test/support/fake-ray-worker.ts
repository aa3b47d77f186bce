import { EventEmitter, once } from 'node:events';
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Server, type ServerWritableStream, status } from '@grpc/grpc-js';
import { SPEC_VERSION } from '../../src/core/launch-plan.ts';
import {
  type DrivenAttempt,
  drive,
  type FakeDriver,
  fakeArguments,
  type Message,
  readDriver,
} from './fake-driver.ts';
import { refusal, serveRayWorker } from './fake-ray-worker-grpc.ts';

/** One line of the launch log: what really started, written and synced before the answer. */
export interface LaunchLine {
  experiment: string;
  attempt: number;
}

/** What a launch does: as specified; start it but answer UNAVAILABLE; start it and never answer; or only refuse. */
export type LaunchFault = 'none' | 'lose-answer' | 'never-answer' | 'unavailable' | 'exhausted' | 'invalid';

/** A ray-worker whose drivers are timers in this process; see proto/ for what it promises. */
export interface FakeRayWorker {
  readonly address: string;
  readonly token: string;
  /** Changed by tests at any time. */
  launchFault: LaunchFault;
  /** The nodes that Ray drains, by id. */
  draining: Map<string, { remainingMs: number | null }>;
  /** The bundles of the last request to an autoscaler; undefined: there was none. */
  asked: Message[] | undefined;
  /** What a preflight finds; `severity` as in proto/. */
  findings: { check: string; severity: number; message: string; remedy: string }[];
  /** Called when a Launch arrives, before it has any effect. */
  onLaunch: (line: LaunchLine) => Promise<void>;
  /** What really started, from the synced file. */
  launches(): LaunchLine[];
  /** Number of the last event of an attempt that was handed to the transport; of all, once its end is recorded. */
  sent(experiment: string, attempt: number): number;
  /** When an event of an attempt arose (ms since 1970); undefined: there is no such event yet, or it is forgotten. */
  arose(experiment: string, attempt: number, sequence: number): number | undefined;
  /** Number of events of an attempt so far. */
  events(experiment: string, attempt: number): number;
  /** Drivers that run now. */
  running(): LaunchLine[];
  /** Those of them that have said nothing for `ms`. */
  silent(ms: number): LaunchLine[];
  /** How often two drivers of one experiment ran at the same time. */
  overlaps(): number;
  /** The most GPUs that the plans of running drivers had at a time. */
  peakGpus(): number;
  /** Breaks every event stream once; they can be attached again. */
  breakStreams(): void;
  /** Ends the driver of an attempt by a signal that is not ours. */
  kill(experiment: string, attempt: number): void;
  /** Ends the driver of an attempt by a failure of the cluster. */
  fail(experiment: string, attempt: number): void;
  /** Lets the drivers of an experiment end as planned after their present step. */
  finish(experiment: string): void;
  /** Forgets everything, as a new state directory would. */
  forget(): void;
  /** Stops answering, and answers again at the same address; drivers continue meanwhile. */
  down(): Promise<void>;
  up(): Promise<void>;
  stop(): Promise<void>;
}

/** The step of the last whole checkpoint of the experiment's earlier attempts; 0: none. */
function lastCheckpoint({ experiment, driven }: Attempt, attempts: Iterable<Attempt>): number {
  const events = [...attempts].flatMap((one) => (one.experiment === experiment ? one.events : []));
  const steps = events.flatMap(({ checkpoint }) => (checkpoint as { step: number } | undefined)?.step ?? []);
  const whole = driven.torn ? steps.filter((step) => step < Math.max(...steps)) : steps;
  return Math.max(0, ...whole);
}

interface Attempt extends LaunchLine, DrivenAttempt {
  driven: Required<FakeDriver>;
  gpus: number;
  launchedAt: number;
  sent: number;
}

/** Starts one on a free port of 127.0.0.1; `directory` gets its launch log. The caller must `stop()` it. */
export async function startFakeRayWorker({
  directory,
  token = 'fake-token',
  cpus = 8,
  gpus = 0,
  nodes = ['fake'],
  synced = true,
  driver,
}: {
  directory: string;
  token?: string;
  cpus?: number;
  gpus?: number;
  /** Ids of its nodes; each has that many CPUs and GPUs. Default: one, `fake`. */
  nodes?: readonly string[];
  /** False: the launch log is not synced, which would hold up this process at each launch. */
  synced?: boolean;
  /** What every launch does. If omitted, the arguments of its plan say so. */
  driver?: FakeDriver;
}): Promise<FakeRayWorker> {
  const attempts = new Map<string, Attempt>();
  /** The highest attempt of each experiment that is known or was stopped before its launch. */
  const fences = new Map<string, number>();
  const logPath = join(directory, 'launches.jsonl');
  const log = openSync(logPath, 'a+');
  const streams = new EventEmitter().setMaxListeners(0);
  let generation = 1;
  let overlaps = 0;
  let peakGpus = 0;
  let server: Server;
  let port = 0;

  const keyOf = ({ experiment, attempt }: LaunchLine) => `${experiment}/${attempt}`;
  const raiseFence = ({ experiment, attempt }: LaunchLine) =>
    fences.set(experiment, Math.max(fences.get(experiment) ?? 0, attempt));

  function start({ experiment, attempt }: LaunchLine, plan: Message): void {
    if ([...attempts.values()].some((other) => other.experiment === experiment && !other.ended))
      overlaps += 1;
    writeSync(log, `${JSON.stringify({ experiment, attempt })}\n`);
    if (synced) fsyncSync(log);
    const args = (plan.arguments as string[] | undefined) ?? [];
    const driven = readDriver(driver ? fakeArguments(driver) : args);
    const record: Attempt = {
      experiment,
      attempt,
      driven,
      gpus: Number(plan.gpus ?? 0),
      events: [],
      ended: null,
      launchedAt: Date.now(),
      stop: new AbortController(),
      killed: false,
      failed: false,
      finish: false,
      changed: new EventEmitter().setMaxListeners(0),
      sent: 0,
    };
    attempts.set(keyOf(record), record);
    const inUse = [...attempts.values()].reduce((sum, { gpus, ended }) => sum + (ended ? 0 : gpus), 0);
    peakGpus = Math.max(peakGpus, inUse);
    void drive(record, driven, driven.saveEvery > 0 ? lastCheckpoint(record, attempts.values()) : 0);
  }

  async function launch(request: Message): Promise<Message> {
    const line = { experiment: String(request.experiment), attempt: Number(request.attempt) };
    await fake.onLaunch(line);
    const fault = fake.launchFault;
    if (fault === 'unavailable') throw refusal(status.UNAVAILABLE, 'told to');
    if (fault === 'exhausted') throw refusal(status.RESOURCE_EXHAUSTED, 'told to');
    if (fault === 'invalid') throw refusal(status.INVALID_ARGUMENT, 'told to');
    const known = attempts.get(keyOf(line));
    const fence = fences.get(line.experiment) ?? 0;
    if (known && fence <= line.attempt) {
      if (fault === 'never-answer') await new Promise(() => {});
      return { outcome: known.ended ? 3 : 2 };
    }
    if (fence >= line.attempt)
      return { outcome: 4, fencingAttempt: fence, reason: `attempt ${fence} is known` };
    raiseFence(line);
    start(line, request.plan as Message);
    if (fault === 'lose-answer') throw refusal(status.UNAVAILABLE, 'the answer is lost');
    if (fault === 'never-answer') await new Promise(() => {});
    return { outcome: 1 };
  }

  async function stop(request: Message): Promise<Message> {
    const line = { experiment: String(request.experiment), attempt: Number(request.attempt) };
    const known = attempts.get(keyOf(line));
    if (!known) {
      raiseFence(line);
      return { dropped: true };
    }
    if (known.driven.stubborn) await delay(Number(request.gracePeriodMs ?? 0));
    known.stop.abort();
    while (!known.ended) await once(known.changed, 'changed');
    return { dropped: false, ended: known.ended };
  }

  function forget(request: Message): Message {
    let forgotten = 0;
    for (const [key, known] of attempts) {
      if (known.experiment !== request.experiment || known.attempt > Number(request.attempt)) continue;
      if (!known.ended) throw refusal(status.UNAVAILABLE, 'an attempt to be forgotten still runs');
      attempts.delete(key);
      raiseFence(known);
      forgotten += 1;
    }
    return { forgotten };
  }

  async function attach(call: ServerWritableStream<Message, Message>): Promise<void> {
    const line = { experiment: String(call.request.experiment), attempt: Number(call.request.attempt) };
    const known = attempts.get(keyOf(line));
    if (!known) throw refusal(status.NOT_FOUND, 'no such attempt');
    let next = Number(call.request.after ?? 0);
    if (next > known.events.length) throw refusal(status.OUT_OF_RANGE, 'after is too large');
    const broken = new AbortController();
    const { signal } = broken;
    streams.once('break', () => broken.abort());
    call.once('cancelled', () => broken.abort());
    while (!signal.aborted) {
      const event = known.events[next];
      if (event) {
        next += 1;
        known.sent = next;
        if (!call.write(event)) await once(call, 'drain', { signal }).catch(() => {});
        if (event.ended) return void call.end();
      } else await once(known.changed, 'changed', { signal }).catch(() => {});
    }
    if (!call.cancelled) throw refusal(status.UNAVAILABLE, 'broken');
  }

  function describe(): Message {
    const busy = [...attempts.values()].filter((attempt) => !attempt.ended).length;
    return {
      version: '0.0.0',
      generation: `g${generation}`,
      nodeId: 'fake',
      engines: ['local', 'replay'],
      specVersions: [SPEC_VERSION],
      nodes: nodes.map((id) => ({
        id,
        address: '127.0.0.1',
        alive: true,
        cpusTotal: cpus,
        gpusTotal: gpus,
        cpusAvailable: nodes.length > 1 ? cpus : Math.max(0, cpus - busy),
        gpusAvailable: gpus,
        draining: fake.draining.has(id),
        drainRemainingMs: fake.draining.get(id)?.remainingMs ?? 0,
      })),
    };
  }

  function list(request: Message): Message {
    const known = [...attempts.values()].filter(
      ({ experiment }) => !request.experiment || request.experiment === experiment,
    );
    return {
      attempts: known.toReversed().map(({ experiment, attempt, events, ended, launchedAt }) => ({
        experiment,
        attempt,
        running: ended === null,
        lastSequence: events.length,
        launchedAtUnixMs: launchedAt,
        ...(ended && { ended }),
      })),
    };
  }

  async function up(): Promise<void> {
    const preflight = () => ({ findings: fake.findings });
    const autoscale = ({ bundles = [] }: Message) => {
      fake.asked = bundles as Message[];
      return {};
    };
    const unary = { Describe: describe, Launch: launch, Stop: stop, Forget: forget, List: list };
    const calls = { unary: { ...unary, Preflight: preflight, Autoscale: autoscale }, attach };
    ({ server, port } = await serveRayWorker(calls, { port, token }));
  }

  const fake: FakeRayWorker = {
    get address() {
      return `127.0.0.1:${port}`;
    },
    token,
    launchFault: 'none',
    draining: new Map(),
    asked: undefined,
    findings: [{ check: 'fake', severity: 2, message: 'it looks at nothing', remedy: 'ask a real one' }],
    onLaunch: async () => {},
    launches: () =>
      readFileSync(logPath, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as LaunchLine),
    sent: (experiment, attempt) => attempts.get(keyOf({ experiment, attempt }))?.sent ?? 0,
    arose: (experiment, attempt, sequence) =>
      attempts.get(keyOf({ experiment, attempt }))?.events[sequence - 1]?.timeUnixMs as number | undefined,
    events: (experiment, attempt) => attempts.get(keyOf({ experiment, attempt }))?.events.length ?? 0,
    running: () =>
      [...attempts.values()]
        .filter((attempt) => !attempt.ended)
        .map(({ experiment, attempt }) => ({ experiment, attempt })),
    silent: (ms) =>
      fake.running().filter((line) => {
        const last = fake.arose(line.experiment, line.attempt, fake.events(line.experiment, line.attempt));
        return last !== undefined && Date.now() - last > ms;
      }),
    overlaps: () => overlaps,
    peakGpus: () => peakGpus,
    breakStreams: () => void streams.emit('break'),
    kill(experiment, attempt) {
      const known = attempts.get(keyOf({ experiment, attempt }));
      if (!known) throw new Error('no such attempt');
      known.killed = true;
      known.stop.abort();
    },
    fail(experiment, attempt) {
      const known = attempts.get(keyOf({ experiment, attempt }));
      if (!known) throw new Error('no such attempt');
      known.failed = true;
      known.stop.abort();
    },
    finish(experiment) {
      for (const known of attempts.values()) {
        if (known.experiment !== experiment) continue;
        known.finish = true;
        known.changed.emit('changed');
      }
    },
    forget() {
      for (const attempt of attempts.values()) attempt.stop.abort();
      attempts.clear();
      fences.clear();
      generation += 1;
      streams.emit('break');
    },
    async down() {
      server.forceShutdown();
    },
    up,
    async stop() {
      for (const attempt of attempts.values()) attempt.stop.abort();
      server.forceShutdown();
      closeSync(log);
    },
  };
  await up();
  return fake;
}

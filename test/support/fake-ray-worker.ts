import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  Server,
  ServerCredentials,
  status,
} from '@grpc/grpc-js';
import protobuf from 'protobufjs';

const ROOT = protobuf.loadSync(join(import.meta.dirname, '../../proto/echelon/rayworker/v1/rayworker.proto'));
const type = (name: string) => ROOT.lookupType(`echelon.rayworker.v1.${name}`);

type Message = Record<string, unknown>;

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
  /** What a preflight finds; `severity` as in proto/. */
  findings: { check: string; severity: number; message: string; mend: string }[];
  /** Called when a Launch arrives, before it has any effect. */
  onLaunch: (line: LaunchLine) => Promise<void>;
  /** What really started, from the synced file. */
  launches(): LaunchLine[];
  /** Number of the last event of an attempt that was handed to the transport. */
  sent(experiment: string, attempt: number): number;
  /** Drivers that run now. */
  running(): LaunchLine[];
  /** How often two drivers of one experiment ran at the same time. */
  overlaps(): number;
  /** Breaks every event stream once; they can be attached again. */
  breakStreams(): void;
  /** Ends the driver of an attempt by a signal that is not ours. */
  kill(experiment: string, attempt: number): void;
  /** Forgets everything, as a new state directory would. */
  forget(): void;
  /** Stops answering, and answers again at the same address; drivers go on meanwhile. */
  down(): Promise<void>;
  up(): Promise<void>;
  stop(): Promise<void>;
}

/** What a fake driver does; written into the plan's arguments as `key=value`. */
export interface FakeDriver {
  steps?: number;
  delayMs?: number;
  /** Size of the batch of each step; 0: none. */
  batchBytes?: number;
  logLines?: number;
  exitCode?: number;
  hang?: boolean;
}

/** The plan's arguments for a fake driver. */
export function fakeArguments(driver: FakeDriver): string[] {
  return Object.entries(driver).map(([key, value]) => `${key}=${value}`);
}

interface Attempt extends LaunchLine {
  events: Message[];
  ended: Message | null;
  launchedAt: number;
  stop: AbortController;
  killed: boolean;
  changed: EventEmitter;
  sent: number;
}

interface Fence {
  attempt: number;
}

const CAUSE = { succeeded: 1, failed: 2, stopped: 3, killed: 4 };

function readDriver(args: readonly string[]): Required<FakeDriver> {
  const values = Object.fromEntries(args.map((text) => text.split('=') as [string, string]));
  return {
    steps: Number(values.steps ?? 3),
    delayMs: Number(values.delayMs ?? 1),
    batchBytes: Number(values.batchBytes ?? 0),
    logLines: Number(values.logLines ?? 0),
    exitCode: Number(values.exitCode ?? 0),
    hang: values.hang === 'true',
  };
}

const CHUNK_BYTES = 512 * 1024;

function batchEvents(step: number, bytes: number): Message[] {
  const data = Buffer.alloc(bytes, step);
  const digest = createHash('sha256').update(data).digest();
  const count = Math.ceil(bytes / CHUNK_BYTES);
  return Array.from({ length: count }, (_, index) => ({
    batch: {
      step,
      batch: step,
      index,
      count,
      data: data.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES),
      digest,
      rows: 4,
    },
  }));
}

async function drive(attempt: Attempt, driver: Required<FakeDriver>): Promise<void> {
  const push = (body: Message) => {
    const sequence = attempt.events.length + 1;
    attempt.events.push({ sequence, timeUnixMs: Date.now(), ...body });
    if (body.ended) attempt.ended = body.ended as Message;
    attempt.changed.emit('changed');
  };
  const { signal } = attempt.stop;
  push({ started: { pid: 1, nodeId: 'fake', command: ['fake'] } });
  for (let step = 1; step <= driver.steps && !signal.aborted; step += 1) {
    push({ stage: { name: `step ${step} of ${driver.steps}`, step, steps: driver.steps } });
    if (driver.logLines > 0)
      push({ log: { source: 1, lines: Array(driver.logLines).fill(`line of step ${step}`) } });
    push({ metrics: { step, values: { loss: 1 / step, 'odd/value': Number.NaN } } });
    if (driver.batchBytes > 0) for (const body of batchEvents(step, driver.batchBytes)) push(body);
    if (driver.delayMs > 0) await delay(driver.delayMs, undefined, { signal }).catch(() => {});
  }
  if (driver.hang && !signal.aborted) await once(signal, 'abort');
  const cause = attempt.killed
    ? CAUSE.killed
    : signal.aborted
      ? CAUSE.stopped
      : driver.exitCode === 0
        ? CAUSE.succeeded
        : CAUSE.failed;
  const byExit = cause === CAUSE.succeeded || cause === CAUSE.failed;
  push({
    ended: {
      cause,
      exitCode: byExit ? driver.exitCode : 0,
      signal: byExit ? 0 : attempt.killed ? 9 : 15,
      message: '',
      lastLines: [],
    },
  });
}

/** Starts one on a free port of 127.0.0.1; `directory` gets its launch log. The caller must `stop()` it. */
export async function startFakeRayWorker({
  directory,
  token = 'fake-token',
  cpus = 8,
  gpus = 0,
  synced = true,
}: {
  directory: string;
  token?: string;
  cpus?: number;
  gpus?: number;
  /** False: the launch log is not synced, which would hold up this process at each launch. */
  synced?: boolean;
}): Promise<FakeRayWorker> {
  const attempts = new Map<string, Attempt>();
  const fences = new Map<string, Fence>();
  const logPath = join(directory, 'launches.jsonl');
  const log = openSync(logPath, 'a+');
  const streams = new EventEmitter().setMaxListeners(0);
  let generation = 1;
  let overlaps = 0;
  let server: Server;
  let port = 0;

  const keyOf = ({ experiment, attempt }: LaunchLine) => `${experiment}/${attempt}`;
  const refuse = (code: status, details: string) => ({ code, details, metadata: new Metadata() });

  function start(experiment: string, attempt: number, args: string[]): void {
    if ([...attempts.values()].some((other) => other.experiment === experiment && !other.ended))
      overlaps += 1;
    writeSync(log, `${JSON.stringify({ experiment, attempt })}\n`);
    if (synced) fsyncSync(log);
    const record: Attempt = {
      experiment,
      attempt,
      events: [],
      ended: null,
      launchedAt: Date.now(),
      stop: new AbortController(),
      killed: false,
      changed: new EventEmitter().setMaxListeners(0),
      sent: 0,
    };
    attempts.set(keyOf(record), record);
    void drive(record, readDriver(args));
  }

  const unary =
    (work: (request: Message) => Promise<Message> | Message): handleUnaryCall<Message, Message> =>
    async (call, callback) => {
      if (call.metadata.get('authorization')[0] !== `Bearer ${token}`)
        return callback(refuse(status.UNAUTHENTICATED, 'no valid token'));
      try {
        callback(null, await work(call.request));
      } catch (error) {
        callback(error as ReturnType<typeof refuse>);
      }
    };

  async function launch(request: Message): Promise<Message> {
    const line = { experiment: String(request.experiment), attempt: Number(request.attempt) };
    await fake.onLaunch(line);
    const fault = fake.launchFault;
    if (fault === 'unavailable') throw refuse(status.UNAVAILABLE, 'told to');
    if (fault === 'exhausted') throw refuse(status.RESOURCE_EXHAUSTED, 'told to');
    if (fault === 'invalid') throw refuse(status.INVALID_ARGUMENT, 'told to');
    const known = attempts.get(keyOf(line));
    const fence = fences.get(line.experiment)?.attempt ?? 0;
    if (known && fence <= line.attempt) return { outcome: known.ended ? 3 : 2 };
    if (fence >= line.attempt)
      return { outcome: 4, fencingAttempt: fence, reason: `attempt ${fence} is known` };
    fences.set(line.experiment, { attempt: line.attempt });
    const plan = request.plan as Message;
    start(line.experiment, line.attempt, (plan.arguments as string[] | undefined) ?? []);
    if (fault === 'lose-answer') throw refuse(status.UNAVAILABLE, 'the answer is lost');
    if (fault === 'never-answer') await new Promise(() => {});
    return { outcome: 1 };
  }

  async function stop(request: Message): Promise<Message> {
    const line = { experiment: String(request.experiment), attempt: Number(request.attempt) };
    const known = attempts.get(keyOf(line));
    if (!known) {
      const before = fences.get(line.experiment)?.attempt ?? 0;
      fences.set(line.experiment, { attempt: Math.max(before, line.attempt) });
      return { dropped: true };
    }
    known.stop.abort();
    while (!known.ended) await once(known.changed, 'changed');
    return { dropped: false, ended: known.ended };
  }

  function forget(request: Message): Message {
    let forgotten = 0;
    for (const [key, known] of attempts) {
      if (known.experiment !== request.experiment || known.attempt > Number(request.attempt)) continue;
      if (!known.ended) throw refuse(status.UNAVAILABLE, 'an attempt to be forgotten still runs');
      attempts.delete(key);
      const before = fences.get(known.experiment)?.attempt ?? 0;
      fences.set(known.experiment, { attempt: Math.max(before, known.attempt) });
      forgotten += 1;
    }
    return { forgotten };
  }

  const attach: handleServerStreamingCall<Message, Message> = async (call) => {
    const fail = (code: status, details: string) => call.emit('error', refuse(code, details));
    if (call.metadata.get('authorization')[0] !== `Bearer ${token}`)
      return fail(status.UNAUTHENTICATED, 'no valid token');
    const line = { experiment: String(call.request.experiment), attempt: Number(call.request.attempt) };
    const known = attempts.get(keyOf(line));
    if (!known) return fail(status.NOT_FOUND, 'no such attempt');
    let next = Number(call.request.after ?? 0);
    if (next > known.events.length) return fail(status.OUT_OF_RANGE, 'after is too large');
    const broken = new AbortController();
    streams.once('break', () => broken.abort());
    call.once('cancelled', () => broken.abort());
    while (!broken.signal.aborted) {
      const event = known.events[next];
      if (event) {
        next += 1;
        known.sent = next;
        if (!call.write(event)) await once(call, 'drain', { signal: broken.signal }).catch(() => {});
        if (event.ended) return call.end();
      } else await once(known.changed, 'changed', { signal: broken.signal }).catch(() => {});
    }
    if (!call.cancelled) fail(status.UNAVAILABLE, 'broken');
  };

  function describe(): Message {
    const busy = [...attempts.values()].filter((attempt) => !attempt.ended).length;
    return {
      version: '0.0.0',
      generation: `g${generation}`,
      nodeId: 'fake',
      engines: ['local', 'replay'],
      nodes: [
        {
          id: 'fake',
          address: '127.0.0.1',
          alive: true,
          cpusTotal: cpus,
          gpusTotal: gpus,
          cpusAvailable: Math.max(0, cpus - busy),
          gpusAvailable: gpus,
        },
      ],
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

  function definition(name: string, request: string, response: string, responseStream = false) {
    const toBytes = (messageType: protobuf.Type) => (message: Message) =>
      Buffer.from(messageType.encode(messageType.fromObject(message)).finish());
    const fromBytes = (messageType: protobuf.Type) => (bytes: Buffer) =>
      messageType.toObject(messageType.decode(bytes), { longs: Number, bytes: Buffer, enums: Number });
    return {
      path: `/echelon.rayworker.v1.RayWorker/${name}`,
      requestStream: false,
      responseStream,
      requestSerialize: toBytes(type(request)),
      requestDeserialize: fromBytes(type(request)),
      responseSerialize: toBytes(type(response)),
      responseDeserialize: fromBytes(type(response)),
    };
  }

  async function up(): Promise<void> {
    server = new Server({ 'grpc.max_receive_message_length': 5 * 1024 * 1024 });
    server.addService(
      {
        Describe: definition('Describe', 'DescribeRequest', 'DescribeResponse'),
        Launch: definition('Launch', 'LaunchRequest', 'LaunchResponse'),
        Attach: definition('Attach', 'AttachRequest', 'AttemptEvent', true),
        Stop: definition('Stop', 'StopRequest', 'StopResponse'),
        Forget: definition('Forget', 'ForgetRequest', 'ForgetResponse'),
        List: definition('List', 'ListRequest', 'ListResponse'),
        Preflight: definition('Preflight', 'PreflightRequest', 'PreflightResponse'),
      },
      {
        Describe: unary(describe),
        Launch: unary(launch),
        Attach: attach,
        Stop: unary(stop),
        Forget: unary(forget),
        List: unary(list),
        Preflight: unary(() => ({ findings: fake.findings })),
      },
    );
    port = await new Promise<number>((resolve, reject) =>
      server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      ),
    );
  }

  const fake: FakeRayWorker = {
    get address() {
      return `127.0.0.1:${port}`;
    },
    token,
    launchFault: 'none',
    findings: [{ check: 'fake', severity: 2, message: 'it looks at nothing', mend: 'ask a real one' }],
    onLaunch: async () => {},
    launches: () =>
      readFileSync(logPath, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as LaunchLine),
    sent: (experiment, attempt) => attempts.get(keyOf({ experiment, attempt }))?.sent ?? 0,
    running: () =>
      [...attempts.values()]
        .filter((attempt) => !attempt.ended)
        .map(({ experiment, attempt }) => ({ experiment, attempt })),
    overlaps: () => overlaps,
    breakStreams: () => void streams.emit('break'),
    kill(experiment, attempt) {
      const known = attempts.get(keyOf({ experiment, attempt }));
      if (!known) throw new Error('no such attempt');
      known.killed = true;
      known.stop.abort();
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

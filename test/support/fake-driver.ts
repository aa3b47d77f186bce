import { createHash } from 'node:crypto';
import { type EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** A message of the ray-worker's proto, as protobufjs takes and gives it. */
export type Message = Record<string, unknown>;

/** What a fake driver does; written into the plan's arguments as `key=value`. */
export interface FakeDriver {
  /** {@link ENDLESS}: until a test finishes it. */
  steps?: number;
  delayMs?: number;
  /** Size of the batch of each step; 0: none. */
  batchBytes?: number;
  logLines?: number;
  /** False: a step has no event of its own beside its metrics. */
  stages?: boolean;
  exitCode?: number;
  /** After its steps it says nothing until it is stopped or told to finish. */
  hang?: boolean;
  /** Each step ends with a checkpoint. */
  saves?: boolean;
  /** Every so many steps end with a checkpoint, from which the next attempt continues; 0: none. */
  saveEvery?: number;
  /** The newest checkpoint is incomplete: the next attempt continues from the one before. */
  torn?: boolean;
  /** It ignores a stop for the grace period, and is then killed. */
  stubborn?: boolean;
}

/** Steps of a driver that continues until a test finishes it. */
export const ENDLESS = Number.POSITIVE_INFINITY;

/** The plan's arguments for a fake driver. */
export function fakeArguments(driver: FakeDriver): string[] {
  return Object.entries(driver).map(([key, value]) => `${key}=${value}`);
}

/** An attempt as its driver has it. */
export interface DrivenAttempt {
  /** Every event so far, numbered from 1. */
  readonly events: Message[];
  /** How it ended; null while it runs. */
  ended: Message | null;
  /** Ends the driver: by a stop of ours, or, where `killed`, by a signal from elsewhere. */
  readonly stop: AbortController;
  killed: boolean;
  /** Its end is a failure of the cluster. */
  failed: boolean;
  /** True: no further step, and the end that its plan says. */
  finish: boolean;
  /** Emits `changed` with each event. */
  readonly changed: EventEmitter;
}

const CAUSE = { succeeded: 1, failed: 2, stopped: 3, killed: 4, clusterFailed: 9 };

/** The driver that a plan's arguments describe; see {@link fakeArguments}. */
export function readDriver(args: readonly string[]): Required<FakeDriver> {
  const values = Object.fromEntries(args.map((text) => text.split('=') as [string, string]));
  return {
    steps: Number(values.steps ?? 3),
    delayMs: Number(values.delayMs ?? 1),
    batchBytes: Number(values.batchBytes ?? 0),
    logLines: Number(values.logLines ?? 0),
    stages: values.stages !== 'false',
    exitCode: Number(values.exitCode ?? 0),
    hang: values.hang === 'true',
    saves: values.saves === 'true',
    saveEvery: Number(values.saveEvery ?? 0),
    torn: values.torn === 'true',
    stubborn: values.stubborn === 'true',
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

/** Runs a driver to its end, and records its events. `after`: the step of the checkpoint from which it continues. */
export async function drive(attempt: DrivenAttempt, driver: Required<FakeDriver>, after = 0): Promise<void> {
  const push = (body: Message) => {
    const sequence = attempt.events.length + 1;
    attempt.events.push({ sequence, timeUnixMs: Date.now(), ...body });
    if (body.ended) attempt.ended = body.ended as Message;
    attempt.changed.emit('changed');
  };
  const { signal } = attempt.stop;
  push({ started: { pid: 1, nodeId: 'fake', command: ['fake'] } });
  for (let step = after + 1; step <= driver.steps && !signal.aborted && !attempt.finish; step += 1) {
    for (const body of stepEvents(step, driver)) push(body);
    if (driver.delayMs > 0) await delay(driver.delayMs, undefined, { signal }).catch(() => {});
  }
  while (driver.hang && !signal.aborted && !attempt.finish)
    await once(attempt.changed, 'changed', { signal }).catch(() => {});
  push({ ended: endOf(attempt, driver) });
}

function stepEvents(step: number, driver: Required<FakeDriver>): Message[] {
  const { steps, stages, logLines, batchBytes, saves, saveEvery } = driver;
  const isSaved = saves || (saveEvery > 0 && step % saveEvery === 0);
  const stage = { name: `step ${step} of ${steps}`, step, steps: steps === ENDLESS ? 0 : steps };
  return [
    ...(stages ? [{ stage }] : []),
    ...(logLines > 0 ? [{ log: { source: 1, lines: Array(logLines).fill(`line of step ${step}`) } }] : []),
    { metrics: { step, values: { loss: 1 / step, 'odd/value': Number.NaN } } },
    ...(batchBytes > 0 ? batchEvents(step, batchBytes) : []),
    ...(isSaved ? [{ checkpoint: { step, path: `checkpoints/${step}` } }] : []),
  ];
}

function endOf({ stop, killed, failed }: DrivenAttempt, { exitCode }: Required<FakeDriver>): Message {
  const rest = { message: '', lastLines: [] };
  if (failed) return { cause: CAUSE.clusterFailed, exitCode: 1, signal: 0, ...rest };
  if (killed) return { cause: CAUSE.killed, exitCode: 0, signal: 9, ...rest };
  if (stop.signal.aborted) return { cause: CAUSE.stopped, exitCode: 0, signal: 15, ...rest };
  return { cause: exitCode === 0 ? CAUSE.succeeded : CAUSE.failed, exitCode, signal: 0, ...rest };
}

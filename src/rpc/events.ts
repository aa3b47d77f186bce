import { boundEnded } from '../core/event-bounds.ts';
import type { AttemptEvent, EndCause, Ended, MetricValue, NumberedEvent } from '../core/events.ts';
import { echelon } from './gen/ray-worker.js';

const v1 = echelon.rayworker.v1;

const CAUSES: Readonly<Record<number, EndCause>> = {
  [v1.Ended.Cause.SUCCEEDED]: 'succeeded',
  [v1.Ended.Cause.FAILED]: 'failed',
  [v1.Ended.Cause.STOPPED]: 'stopped',
  [v1.Ended.Cause.KILLED]: 'killed',
  [v1.Ended.Cause.OUT_OF_MEMORY]: 'out-of-memory',
  [v1.Ended.Cause.SUPERVISOR_LOST]: 'supervisor-lost',
  [v1.Ended.Cause.NOT_STARTED]: 'not-started',
  [v1.Ended.Cause.NODE_LOST]: 'node-lost',
  [v1.Ended.Cause.CLUSTER_FAILED]: 'cluster-failed',
  [v1.Ended.Cause.GPUS_SHORT]: 'gpus-short',
  [v1.Ended.Cause.DISK_FULL]: 'disk-full',
};

const GAPS: Readonly<Record<number, 'logs' | 'batch'>> = {
  [v1.Gap.Kind.LOGS]: 'logs',
  [v1.Gap.Kind.BATCH]: 'batch',
};

/** A 64-bit field as a number: protobufjs returns an object if the `long` package is installed. */
export function toNumber(value: number | { toNumber(): number } | null | undefined): number {
  return typeof value === 'object' && value !== null ? value.toNumber() : (value ?? 0);
}

function toMetricValue(value: number): MetricValue {
  if (Number.isFinite(value)) return value;
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? 'Infinity' : '-Infinity';
}

function toMetrics(values: Readonly<Record<string, number>>): Record<string, MetricValue> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toMetricValue(value)]));
}

/** How a driver ended. A cause that this version does not know counts as `failed`. */
export function toEnded(message: echelon.rayworker.v1.Ended.$Properties): Ended {
  return boundEnded({
    type: 'ended',
    cause: CAUSES[message.cause ?? 0] ?? 'failed',
    exitCode: message.exitCode ?? 0,
    signal: message.signal ?? 0,
    message: message.message ?? '',
    lastLines: message.lastLines ?? [],
  });
}

function toBatchPart(chunk: echelon.rayworker.v1.BatchChunk.$Properties): AttemptEvent {
  return {
    type: 'batch',
    step: toNumber(chunk.step),
    batch: toNumber(chunk.batch),
    index: chunk.index ?? 0,
    count: chunk.count ?? 0,
    rows: chunk.rows ?? 0,
    digest: Buffer.from(chunk.digest ?? []).toString('hex'),
    bytes: chunk.data?.length ?? 0,
  };
}

type Wire = echelon.rayworker.v1.AttemptEvent;

/** How each kind of event of the wire is read. Exactly one of these fields is set. */
const READERS: { readonly [K in keyof Wire]?: (body: NonNullable<Wire[K]>) => AttemptEvent } = {
  started: ({ pid, nodeId, command }) => ({
    type: 'started',
    pid: toNumber(pid),
    nodeId: nodeId ?? '',
    command: command ?? [],
  }),
  stage: ({ name, step, steps }) => ({
    type: 'stage',
    name: name ?? '',
    step: toNumber(step),
    steps: toNumber(steps),
  }),
  log: ({ source, lines, cutBytes, progress }) => ({
    type: 'log',
    source: source === v1.LogLines.Source.STDERR ? 'stderr' : 'stdout',
    lines: lines ?? [],
    cutBytes: toNumber(cutBytes),
    ...(progress ? { progress } : {}),
  }),
  metrics: ({ step, values }) => ({ type: 'metrics', step: toNumber(step), values: toMetrics(values ?? {}) }),
  batch: toBatchPart,
  checkpoint: ({ step, path }) => ({ type: 'checkpoint', step: toNumber(step), path: path ?? '' }),
  stored: ({ step, manifest }) => ({
    type: 'stored',
    step: toNumber(step),
    manifest: manifest ?? '',
  }),
  evaluation: ({ step, panel, digest, decoding, games }) => ({
    type: 'evaluation',
    step: toNumber(step),
    panel: panel ?? '',
    digest: digest ?? '',
    decoding: decoding ?? {},
    games: (games ?? []).map((one) => ({
      game: one.game ?? '',
      replicate: one.replicate ?? 0,
      success: one.success ?? 0,
      score: one.score ?? 0,
      steps: one.steps ?? 0,
      invalidSteps: one.invalidSteps ?? 0,
    })),
  }),
  gap: ({ kind, step, count, bytes, rows, reason }) => ({
    type: 'gap',
    kind: GAPS[kind ?? 0] ?? 'reports',
    step: toNumber(step),
    count: toNumber(count),
    bytes: toNumber(bytes),
    rows: rows ?? 0,
    reason: reason ?? '',
  }),
  ended: toEnded,
};

/** A newer ray-worker's kind of event keeps its number, so that the sequence has no hole. It is shown as missing. */
const UNKNOWN_KIND: AttemptEvent = {
  type: 'gap',
  kind: 'reports',
  step: 0,
  count: 0,
  bytes: 0,
  rows: 0,
  reason: 'an event of a kind that this version does not know',
};

function toBody(message: Wire): AttemptEvent {
  for (const [kind, read] of Object.entries(READERS)) {
    const body = message[kind as keyof Wire];
    if (body) return (read as (body: unknown) => AttemptEvent)(body);
  }
  return UNKNOWN_KIND;
}

/** How far a cluster's clock may be ahead of ours. */
const CLOCK_AHEAD_MS = 300_000;

/**
 * When an event arose, by the cluster's clock. A time in the future, or no valid time, becomes the present. Order never
 * depends on it.
 */
function timeOf(unixMs: number, nowMs: number): number {
  return Number.isSafeInteger(unixMs) && unixMs >= 0 && unixMs <= nowMs + CLOCK_AHEAD_MS ? unixMs : nowMs;
}

/** An event of the wire as the store takes it; the bytes of a batch part are separate. */
export function toNumberedEvent(
  message: echelon.rayworker.v1.AttemptEvent,
  nowMs: number = Date.now(),
): NumberedEvent {
  const numbered = {
    sequence: toNumber(message.sequence),
    at: timeOf(toNumber(message.timeUnixMs), nowMs),
    event: toBody(message),
  };
  return message.batch ? { ...numbered, data: message.batch.data ?? new Uint8Array() } : numbered;
}

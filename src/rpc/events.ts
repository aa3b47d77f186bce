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
};

const GAPS: Readonly<Record<number, 'logs' | 'batch'>> = {
  [v1.Gap.Kind.LOGS]: 'logs',
  [v1.Gap.Kind.BATCH]: 'batch',
};

/** A 64-bit field as a number: protobufjs yields an object for it where the `long` package is installed. */
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

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: it lists the events of the wire, one case each
function toBody(message: echelon.rayworker.v1.AttemptEvent): AttemptEvent {
  const { started, stage, log, metrics, batch, checkpoint, gap, ended } = message;
  if (started)
    return {
      type: 'started',
      pid: toNumber(started.pid),
      nodeId: started.nodeId ?? '',
      command: started.command ?? [],
    };
  if (stage)
    return {
      type: 'stage',
      name: stage.name ?? '',
      step: toNumber(stage.step),
      steps: toNumber(stage.steps),
    };
  if (log)
    return {
      type: 'log',
      source: log.source === v1.LogLines.Source.STDERR ? 'stderr' : 'stdout',
      lines: log.lines ?? [],
      cutBytes: toNumber(log.cutBytes),
    };
  if (metrics)
    return { type: 'metrics', step: toNumber(metrics.step), values: toMetrics(metrics.values ?? {}) };
  if (batch) return toBatchPart(batch);
  if (checkpoint) return { type: 'checkpoint', step: toNumber(checkpoint.step), path: checkpoint.path ?? '' };
  if (gap)
    return {
      type: 'gap',
      kind: GAPS[gap.kind ?? 0] ?? 'reports',
      step: toNumber(gap.step),
      count: toNumber(gap.count),
      bytes: toNumber(gap.bytes),
      rows: gap.rows ?? 0,
      reason: gap.reason ?? '',
    };
  if (ended) return toEnded(ended);
  // A newer ray-worker's kind of event keeps its number, so that the sequence has no hole, and is seen as missing.
  return {
    type: 'gap',
    kind: 'reports',
    step: 0,
    count: 0,
    bytes: 0,
    rows: 0,
    reason: 'an event of a kind that this version does not know',
  };
}

/** How far a cluster's clock may be ahead of ours. */
const CLOCK_AHEAD_MS = 300_000;

/**
 * When an event arose, by the cluster's clock; the present where that lies in the future, or is no time at all. Order never
 * depends on it.
 */
function timeOf(unixMs: number, nowMs: number): number {
  return Number.isSafeInteger(unixMs) && unixMs >= 0 && unixMs <= nowMs + CLOCK_AHEAD_MS ? unixMs : nowMs;
}

/** An event of the wire as the store takes it; the bytes of a batch's part go beside it. */
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

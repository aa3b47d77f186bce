import { signalOf } from 'echelon-verify/report';
import type { MetricValue, RuleEvent } from '../../core/events.ts';
import { fromRank } from '../../core/priority-class.ts';
import type { State } from '../../core/states.ts';
import type { ExpectedPlace } from '../../schemas/answer-parts.ts';
import { type Experiment, RECORD_VERSION } from '../../schemas/experiment.ts';
import type { Attempt } from '../attempts/types.ts';
import { readReport } from '../batches/stored-report.ts';
import type { BatchRecord } from '../batches/types.ts';
import type { QueuedExperiment } from '../queue/types.ts';
import { inKnownLayout } from '../redis/layouts.ts';

/** A hash of Redis; null is stored as an absent or empty field. */
export type Fields = Record<string, string>;

/** The record of an experiment from its hash and the hash of its metrics; undefined if there is none. */
export function toExperiment(stored: Fields, metrics: Fields): Experiment | undefined {
  if (stored.id === undefined || stored.state === undefined) return undefined;
  const fields: Fields & { id: string } = { ...inKnownLayout('experiment', stored), id: stored.id };
  return {
    version: RECORD_VERSION,
    id: fields.id,
    name: fields.name ?? '',
    project: fields.project ?? '',
    owner: fields.owner || null,
    note: fields.note ?? '',
    tags: fields.tags ? fields.tags.split('\n') : [],
    state: fields.state as State,
    reason: fields.reason ?? '',
    attempt: count(fields.attempt),
    cluster: fields.cluster || null,
    ...fromRank(count(fields.priority)),
    gpus: count(fields.gpus),
    submittedAt: count(fields.submittedAt),
    startedAt: time(fields.startedAt),
    endedAt: time(fields.endedAt),
    customCode: fields.customCode === '1',
    submitted: json(fields.submitted),
    resolved: json(fields.resolved),
    defaults: json(fields.defaults) as string[],
    fingerprint: fields.fingerprint || null,
    progress: {
      // A succeeded experiment has no current stage. A failed one shows how far it came.
      stage: fields.state === 'succeeded' ? '' : (fields.stage ?? ''),
      step: count(fields.step),
      steps: count(fields.steps),
      metrics: Object.fromEntries(
        Object.entries(metrics).map(([name, value]) => [name, json(value) as MetricValue]),
      ),
    },
    verification: toVerification(fields),
    rerunOf: fields.rerunOf ?? null,
    ...toRules(fields),
    quarantined: fields.quarantined === '1',
    sweep: fields.sweep ?? null,
    sweepIndex: fields.sweepIndex === undefined ? null : Number(fields.sweepIndex),
    expired: { batchesAt: time(fields.batchesExpired), streamAt: time(fields.streamExpired) },
    checkpoint: (json(fields.checkpoint) ?? null) as Experiment['checkpoint'],
  };
}

/** Counters of the verification: `complete` exactly when the experiment has ended and each batch has its report. */
export function toVerification(fields: Fields): Experiment['verification'] {
  const batches = count(fields.vBatches);
  const batchesVerified = count(fields.vVerified);
  const exact = count(fields.vExact);
  const rounding = count(fields.vRounding);
  const wrong = count(fields.vWrong);
  const unverifiable = count(fields.vUnverifiable);
  const errors = count(fields.vErrors);
  return {
    status: isOver(fields) && batches === batchesVerified ? 'complete' : 'pending',
    batches,
    batchesVerified,
    rowsSeen: count(fields.vSeen),
    rowsVerified: exact + rounding + wrong,
    signal: signalOf({
      right: exact + rounding,
      wrong,
      unverifiable,
      errors,
      unreadable: count(fields.vUnreadable),
    }),
    exact,
    rounding,
    wrong,
    unverifiable,
    errors,
    dropped: count(fields.vDropped),
  };
}

/** A queued experiment from its hash. */
export function toQueuedExperiment(id: string, fields: Fields): QueuedExperiment {
  return {
    experiment: id,
    name: fields.name ?? '',
    project: fields.project ?? '',
    ...fromRank(count(fields.priority)),
    cluster: fields.wanted || null,
    gpus: count(fields.gpus),
    cpus: count(fields.cpus),
    nodes: Number(fields.nodes ?? 1),
    ...(fields.nodeLabels ? { nodeLabels: json(fields.nodeLabels) as Record<string, string> } : {}),
    submittedAt: count(fields.submittedAt),
    reason: fields.waitReason ?? null,
    notBefore: time(fields.notBefore),
    waitsFor: fields.waitsFor || null,
    ...(fields.avoid ? { avoid: json(fields.avoid) as string[] } : {}),
    ...(fields.wantedLabels ? { labels: json(fields.wantedLabels) as Record<string, string> } : {}),
    sweep: fields.sweep ?? null,
    rank: fields.waitRank ? Number(fields.waitRank) : null,
    ...toEstimate(fields.waitEstimate),
    ...(fields.seq ? { arrival: Number(fields.seq) } : {}),
    checkpoint: toQueuedCheckpoint(fields),
  };
}

/** Whether a checkpoint is in an object store, such as s3://bucket/key, which every cluster reaches. */
export const isEverywhere = (path: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//.test(path);

function toQueuedCheckpoint({
  checkpoint,
  checkpointCluster,
}: Fields): NonNullable<QueuedExperiment['checkpoint']> | null {
  if (!checkpoint || !checkpointCluster) return null;
  const { step, path } = JSON.parse(checkpoint) as { step: number; path: string };
  if (isEverywhere(path)) return null;
  // The directory of the experiment belongs to its ray-worker; other paths are on the storage of the cluster.
  return { cluster: checkpointCluster, step, ...(path.startsWith('../') && { shared: true as const }) };
}

/** A stored estimate: its three times and its place, or why there is none. */
function toEstimate(text: string | undefined): Pick<QueuedExperiment, 'estimate' | 'unknown' | 'place'> {
  const stored = text ? (JSON.parse(text) as string | [number, number, number, ExpectedPlace | null]) : null;
  if (stored === null || typeof stored === 'string') return { estimate: null, unknown: stored, place: null };
  const [startAt, earliest, latest, place] = stored;
  return { estimate: { startAt, earliest, latest }, unknown: null, place };
}

/** The attempts of an experiment, in order, from the hash `<attempt>:<field>`. */
export function toAttempts(fields: Fields): Attempt[] {
  const attempts = new Map<number, Attempt>();
  for (const [key, value] of Object.entries(fields)) {
    const colon = key.indexOf(':');
    const number = Number(key.slice(0, colon));
    const attempt = attempts.get(number) ?? {
      attempt: number,
      cluster: '',
      claimedAt: 0,
      confirmedAt: null,
      lastSequence: 0,
      ended: null,
    };
    attempts.set(number, attempt);
    const field = key.slice(colon + 1);
    if (field === 'cluster') attempt.cluster = value;
    else if (field === 'claimedAt') attempt.claimedAt = Number(value);
    else if (field === 'confirmedAt') attempt.confirmedAt = Number(value);
    else if (field === 'last') attempt.lastSequence = Number(value);
    else if (field === 'ended') attempt.ended = json(value) as Attempt['ended'];
  }
  return [...attempts.values()].sort((a, b) => a.attempt - b.attempt);
}

/** A batch from its row and its report (JSON), if it has one. */
export function toBatch(
  place: { experiment: string; field: string },
  row: string,
  report: string | null | undefined,
): BatchRecord {
  const [attempt, batch] = place.field.split(':').map(Number);
  const [step, rows, digest, firstEntry, lastEntry, gpuMs] = row.split(' ');
  return {
    experiment: place.experiment,
    attempt: attempt ?? 0,
    batch: batch ?? 0,
    step: Number(step),
    rows: Number(rows),
    digest: digest ?? '',
    firstEntry: firstEntry ?? '',
    lastEntry: lastEntry ?? '',
    gpuMs: Number(gpuMs ?? 0),
    report: report ? readReport(report, { step: Number(step), rows: Number(rows) }) : null,
  };
}

/** The rules of the resolved spec and their shown firings. */
function toRules(fields: Fields): Pick<Experiment, 'rules' | 'marks' | 'stoppedBy'> {
  const lines = fields.fired ? fields.fired.split('\n') : [];
  const fired = lines.map((line) => JSON.parse(line) as RuleEvent);
  const { rules = [] } = (json(fields.resolved) ?? {}) as { rules?: { name: string; do: RuleEvent['do'] }[] };
  const known = new Map(rules.map((rule) => [rule.name, rule.do]));
  for (const { rule, do: action } of fired) if (!known.has(rule)) known.set(rule, action);
  return {
    rules: [...known].map(([name, action]) => ({
      name,
      do: action,
      fired: fired.flatMap(({ rule, attempt, step, at, batch, reason, evidence }) =>
        rule === name ? [{ attempt, step, at, batch, reason, evidence }] : [],
      ),
    })),
    marks: count(fields.marks),
    stoppedBy:
      fields.stoppedBy === undefined
        ? null
        : { rule: fields.stoppedBy, reason: fields.stopReason ?? '', at: count(fields.stoppedAt) },
  };
}

/** True once the experiment has ended: only the step that makes its state final sets `endedAt`. */
export function isOver(fields: Fields): boolean {
  return fields.endedAt !== undefined;
}

function json(text: string | undefined): unknown {
  return text === undefined || text === '' ? undefined : JSON.parse(text);
}

function count(text: string | undefined): number {
  return Number(text ?? 0);
}

function time(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

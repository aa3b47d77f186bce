import { signalOf } from 'echelon-verify/report';
import type { MetricValue, RuleEvent } from '../../core/events.ts';
import { fromRank } from '../../core/priority-class.ts';
import type { State } from '../../core/states.ts';
import { type Experiment, RECORD_VERSION } from '../../schemas/experiment.ts';
import { count, type Fields, json, time } from '../redis/fields.ts';
import { inKnownLayout } from '../redis/layouts.ts';

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

import { parseEntryId } from '../../src/core/ids.ts';
import { isFinal, type State, TRANSITIONS } from '../../src/core/states.ts';
import type { ReportSummary } from '../../src/dispatch/background/verification.ts';
import type { History, Recorded } from './history.ts';

/** Checks one guarantee over a whole history; returns its violations in words. */
type Check = (history: History) => string[];

const each = (history: History, check: (recorded: Recorded) => string[]): string[] =>
  [...history.experiments.values()].flatMap((recorded) =>
    check(recorded).map((violation) => `${recorded.record.id}: ${violation}`),
  );

const repeated = (values: readonly string[]): string[] =>
  values.filter((value, index) => values.indexOf(value) !== index);

/** What holds for every ended experiment by itself, whatever happened to it. */
export function checkExperiment(recorded: Recorded): string[] {
  return [checkSequences, checkStates, checkBatches].flatMap((check) => check(recorded));
}

/** The checks by guarantee. */
export const CHECKS: Readonly<Record<string, Check>> = {
  'an accepted experiment is never lost': ({ users, experiments }) => [
    ...[...users.accepted.keys()].filter((id) => !experiments.has(id)).map((id) => `${id} is lost`),
    ...[...users.sweeps].flatMap(([sweep, count]) => {
      const children = [...experiments.values()].filter(({ record }) => record.sweep === sweep).length;
      return children === count ? [] : [`${sweep} has ${children} instead of ${count} children`];
    }),
  ],
  'one Idempotency-Key makes one experiment': ({ users, experiments }) => [
    ...users.contradictions,
    ...[...experiments.values()]
      .filter(({ record }) => !users.accepted.has(record.id) && !users.sweeps.has(record.sweep ?? ''))
      .map(({ record }) => `${record.id} was never accepted`),
  ],
  'an attempt is launched at most once': ({ launches }) =>
    repeated(launches.map(({ experiment, attempt }) => `${experiment}/${attempt}`)),
  'one driver of an experiment runs at a time': ({ overlaps }) =>
    overlaps === 0 ? [] : [`${overlaps} launches beside a running driver`],
  'every event is recorded once and in order': (history) => each(history, checkSequences),
  'states follow the table of transitions': (history) => each(history, checkStates),
  'a cancelled experiment is cancelled': (history) =>
    each(history, ({ record }) => {
      const accepted = history.users.cancelled.has(record.id);
      return accepted && record.state !== 'cancelled' ? [`cancelled, and then ${record.state}`] : [];
    }),
  'no experiment ends by a fault that is not its own': (history) =>
    each(history, ({ record: { id, state, reason, quarantined } }) => {
      const asked = history.users.cancelled.has(id) || history.users.cancelRefused.has(id);
      const good = state === 'succeeded' || (state === 'cancelled' && asked);
      return good && !quarantined ? [] : [`${state}${quarantined ? ', in quarantine' : ''}: ${reason}`];
    }),
  'every batch is verified': (history) => each(history, checkBatches),
  'nothing is left': ({ left }) =>
    Object.entries(left).flatMap(([what, count]) => (count === 0 ? [] : [`${count} ${what}`])),
  'a follower receives every event once and in order': ({ users, experiments }) =>
    [...users.followed].flatMap(([id, ids]) => {
      const entries = experiments.get(id)?.entries.map((entry) => entry.id) ?? [];
      const at = entries.findIndex((entry, index) => ids[index] !== entry);
      if (at < 0 && ids.length === entries.length) return [];
      return [
        `${id}: received ${ids.length} of ${entries.length} events; the first difference is event ${at}`,
      ];
    }),
  'no process ends by itself': ({ selfEnded }) => [...selfEnded],
};

/** Events of an attempt stand there from 1 on, and all of them if its end is recorded; ids rise. */
function checkSequences({ record, entries, made }: Recorded): string[] {
  const violations: string[] = [];
  const last = new Map<number, number>();
  const ended = new Set<number>();
  let before: [attempt: number, low: bigint] = [0, 0n];
  for (const { id, event } of entries) {
    const { attempt, sequence, fromAttempt } = parseEntryId(id)!;
    const low = BigInt(id.split('-')[1]!);
    if (attempt < before[0] || (attempt === before[0] && low <= before[1]))
      violations.push(`${id} is out of order`);
    before = [attempt, low];
    if (!fromAttempt || event.type === 'state' || event.type === 'verification') continue;
    const expected = (last.get(attempt) ?? 0) + 1;
    if (sequence !== expected) violations.push(`${id} instead of event ${expected}`);
    last.set(attempt, sequence);
    if (event.type === 'ended') ended.add(attempt);
  }
  if (record.state === 'succeeded') ended.add(record.attempt);
  for (const [attempt, count] of last) {
    const expected = made.get(attempt) ?? 0;
    if (expected > 0 && (ended.has(attempt) ? count !== expected : count > expected))
      violations.push(`attempt ${attempt} has ${count} events, its driver made ${expected}`);
  }
  return violations;
}

function checkStates({ entries, record }: Recorded): string[] {
  const violations: string[] = [];
  let state = null as State | null;
  for (const { id, event } of entries) {
    if (event.type !== 'state') continue;
    if (event.from !== state) violations.push(`${id} leaves ${event.from} after ${state}`);
    if (state && !TRANSITIONS[state].includes(event.to)) violations.push(`${id}: ${state} to ${event.to}`);
    state = event.to;
  }
  if (state !== record.state) violations.push(`its events lead to ${state}, its record is ${record.state}`);
  if (!isFinal(record.state)) violations.push(`it has not ended: ${record.state}, ${record.reason}`);
  return violations;
}

/** Each complete batch in the stream has a record, and each record one report, which found every row exact. */
function checkBatches({ entries, batches }: Recorded): string[] {
  const known = new Map(batches.map((batch) => [`${batch.attempt}:${batch.batch}`, batch]));
  const recorded = entries.flatMap(({ id, event }) =>
    event.type === 'batch' && event.index === event.count - 1
      ? [`${parseEntryId(id)!.attempt}:${event.batch}`]
      : [],
  );
  const reported = entries.flatMap(({ event }) =>
    event.type === 'verification' ? [`${event.attempt}:${event.batch}`] : [],
  );
  return [
    ...repeated(reported).map((name) => `batch ${name} was reported again`),
    ...recorded.filter((name) => !known.has(name)).map((name) => `batch ${name} has no record`),
    ...[...known].flatMap(([name, { report, rows }]) => {
      const { exact, unverifiable } = (report ?? {}) as Partial<ReportSummary>;
      return exact === rows
        ? []
        : [`batch ${name}: ${exact} of ${rows} rows exact, ${unverifiable} unverifiable`];
    }),
  ];
}

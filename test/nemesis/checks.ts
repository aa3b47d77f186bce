import { parseEntryId } from '../../src/core/ids.ts';
import { isFinal, type State, TRANSITIONS } from '../../src/core/states.ts';
import type { StoredReport } from '../../src/store/batches/stored-report.ts';
import { violationsOfFeed } from './feed.ts';
import type { History, Recorded } from './history.ts';
import { violationsOfNotified } from './receivers.ts';

/** Later experiments that may start before a large one. */
const MAX_OVERTAKING = 10;

/** A guarantee of the design, and what a campaign checks of it over a whole history. */
interface Guarantee {
  readonly number: number;
  readonly name: string;
  /** Returns the violations in words. */
  check(history: History): string[];
}

/**
 * The guarantees by number. docs/evidence/guarantees.md names the tests of the rest: of 7 (no secret reaches a log, an event,
 * a response or a page) all, of 4 the grace period of real processes, of 8 and 10 the arithmetic, which is none here.
 */
export const GUARANTEES: readonly Guarantee[] = [
  { number: 1, name: 'an accepted experiment is never lost', check: checkAccepted },
  { number: 2, name: 'an attempt is launched at most once', check: checkLaunches },
  {
    number: 3,
    name: 'every event is recorded once and in order',
    check: (history) => [
      ...each(history, checkSequences),
      ...each(history, checkStates),
      ...checkFollowers(history),
      ...checkFeed(history),
      ...checkNotified(history),
    ],
  },
  { number: 4, name: 'a cancelled or ended experiment leaves no process', check: checkEnds },
  {
    number: 5,
    name: 'a large experiment is not starved by small ones, and a quota holds',
    check: (history) => [...checkTurns(history), ...checkQuota(history)],
  },
  { number: 6, name: 'bad input is refused and changes nothing', check: checkAnswers },
  {
    number: 8,
    name: 'every batch is verified once, and coverage is stated',
    check: (history) => [...each(history, checkReports), ...left(history, ['batches without a report'])],
  },
  { number: 9, name: 'a fault ends no experiment and no process', check: checkFaults },
  { number: 10, name: 'a correct batch is exact', check: (history) => each(history, checkRows) },
];

/** The violations of a history in words, each with its guarantee. */
export function violationsOf(history: History): string[] {
  return GUARANTEES.flatMap(({ number, name, check }) =>
    check(history).map((violation) => `guarantee ${number}, ${name}: ${violation}`),
  );
}

/** What holds for every ended experiment by itself, whatever happened to it. */
export function checkExperiment(recorded: Recorded): string[] {
  return [checkSequences, checkStates, checkReports, checkRows].flatMap((check) => check(recorded));
}

const each = (history: History, check: (recorded: Recorded) => string[]): string[] =>
  [...history.experiments.values()].flatMap((recorded) =>
    check(recorded).map((violation) => `${recorded.record.id}: ${violation}`),
  );

const repeated = (values: readonly string[]): string[] => {
  const seen = new Set<string>();
  return values.filter((value) => seen.size === seen.add(value).size);
};

const left = (history: History, names: readonly (keyof History['left'])[]): string[] =>
  names.flatMap((name) => (history.left[name] === 0 ? [] : [`${history.left[name]} ${name} are left`]));

/** An accepted experiment or child has a record, and one Idempotency-Key makes one experiment. */
function checkAccepted({ users, experiments }: History): string[] {
  const records = [...experiments.values()].map(({ record }) => record);
  return [
    ...[...users.accepted.keys()].filter((id) => !experiments.has(id)).map((id) => `${id} is lost`),
    ...repeated([...users.accepted.values()]).map((key) => `key ${key} made two experiments`),
    ...[...users.sweeps].flatMap(([sweep, count]) => {
      const children = records.filter((record) => record.sweep === sweep).length;
      return children === count ? [] : [`${sweep} has ${children} instead of ${count} children`];
    }),
  ];
}

function checkLaunches({ launches, overlaps, leases }: History): string[] {
  const names = launches.map(({ experiment, attempt }) => `${experiment}/${attempt}`);
  return [
    ...repeated(names).map((name) => `${name} was launched again`),
    ...leases.contradictions,
    ...(overlaps === 0 ? [] : [`${overlaps} launches beside a running driver of the same experiment`]),
  ];
}

/** A follower receives every event once and in order, over all its connections. */
function checkFollowers({ users, experiments }: History): string[] {
  return [...users.followed].flatMap(([id, ids]) => {
    const entries = experiments.get(id)?.entries.map((entry) => entry.id) ?? [];
    const at = entries.findIndex((entry, index) => ids[index] !== entry);
    if (at < 0 && ids.length === entries.length) return [];
    return [
      `${id}: a follower received ${ids.length} of ${entries.length} events; the first difference is event ${at}`,
    ];
  });
}

/** The follower of the feed received every state of every experiment once. */
function checkFeed({ users: { feed }, experiments }: History): string[] {
  return violationsOfFeed(feed.received, streamsOf(experiments));
}

/** Receivers of notifications got every state at least once and in order. */
function checkNotified({ notified, experiments }: History): string[] {
  const streams = streamsOf(experiments);
  return notified.flatMap((one) => violationsOfNotified(one, streams));
}

const streamsOf = (experiments: History['experiments']) =>
  new Map([...experiments].map(([id, { entries }]) => [id, entries]));

/** An accepted cancel leads to no other end, and no driver has outlived its attempt's or its experiment's end. */
function checkEnds(history: History): string[] {
  const { users, launches, experiments, endOf } = history;
  const outlived = launches.flatMap(({ experiment, attempt }) => {
    const [driver, record] = [endOf(experiment, attempt), experiments.get(experiment)?.record];
    const late = (driver ?? 0) - (record?.endedAt ?? Number.POSITIVE_INFINITY);
    return late > history.clockErrorMs
      ? [`${experiment}/${attempt}: its driver ran ${late} ms after the end`]
      : [];
  });
  const otherwise = each(history, ({ record: { id, state } }) =>
    users.cancelled.has(id) && state !== 'cancelled' ? [`cancelled, and then ${state}`] : [],
  );
  return [...outlived, ...otherwise, ...left(history, ['drivers'])];
}

/** Few later experiments start before a large one, whatever faults put out of order. Others have no order of their own. */
function checkTurns({ experiments, users }: History): string[] {
  const inOrder = [...experiments.values()].filter(
    ({ record, allocatedAt }) =>
      allocatedAt !== null && users.accepted.has(record.id) && !users.reprioritized.has(record.id),
  );
  return inOrder.flatMap(({ record, allocatedAt, cpus }) => {
    if (cpus === 1) return [];
    const overtook = inOrder.filter(
      (other) => other.record.submittedAt > record.submittedAt && other.allocatedAt! < allocatedAt!,
    );
    return overtook.length <= MAX_OVERTAKING ? [] : [`${overtook.length} started before ${record.id}`];
  });
}

function checkQuota({ quota }: History): string[] {
  if (quota.peak() <= quota.gpus) return [];
  return [`drivers had ${quota.peak()} GPUs at a time, the quota is ${quota.gpus}`];
}

/** Users got the documented answers, and nothing was made that was not accepted. */
function checkAnswers({ users, experiments }: History): string[] {
  const unknown = [...experiments.values()].filter(
    ({ record }) => !users.accepted.has(record.id) && !users.sweeps.has(record.sweep ?? ''),
  );
  return [...users.contradictions, ...unknown.map(({ record }) => `${record.id} was never accepted`)];
}

function checkFaults(history: History): string[] {
  const { users, selfEnded } = history;
  const ended = each(history, ({ record: { id, state, reason, quarantined } }) => {
    const asked = users.cancelled.has(id) || users.cancelRefused.has(id);
    const good = state === 'succeeded' || (state === 'cancelled' && asked);
    return good && !quarantined ? [] : [`${state}${quarantined ? ', in quarantine' : ''}: ${reason}`];
  });
  const held = left(history, ['allocations', 'unacquired attempts', 'leases', 'queued experiments']);
  const lost = history.leases.unexplained;
  return [...ended, ...held, ...lost, ...selfEnded.map((name) => `${name} ended by itself`)];
}

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

/** Each complete batch in the stream has a record, each record one report, and the experiment counts all of them. */
function checkReports({ entries, batches, record }: Recorded): string[] {
  const known = new Set(batches.map(({ attempt, batch }) => `${attempt}:${batch}`));
  const recorded = entries.flatMap(({ id, event }) =>
    event.type === 'batch' && event.index === event.count - 1
      ? [`${parseEntryId(id)!.attempt}:${event.batch}`]
      : [],
  );
  const reported = entries.flatMap(({ event }) =>
    event.type === 'verification' ? [`${event.attempt}:${event.batch}`] : [],
  );
  const missing = [...known].filter((name) => !reported.includes(name));
  return [
    ...repeated(reported).map((name) => `batch ${name} was reported again`),
    ...missing.map((name) => `batch ${name} has no report`),
    ...recorded.filter((name) => !known.has(name)).map((name) => `batch ${name} has no record`),
    ...(record.verification.batches === batches.length
      ? []
      : [`it states ${record.verification.batches} of ${batches.length} batches`]),
  ];
}

function checkRows({ batches }: Recorded): string[] {
  return batches.flatMap(({ attempt, batch, report, rows }) => {
    const { exact, wrong, unverifiable } = (report ?? {}) as Partial<StoredReport>;
    if (exact === rows) return [];
    return [
      `batch ${attempt}:${batch}: of ${rows} rows ${exact} exact, ${wrong} wrong, ${unverifiable} unverifiable`,
    ];
  });
}

import type { State } from '../../core/states.ts';
import type { Pause } from '../../schemas/answer-parts.ts';
import type { StoreContext } from '../context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import { unlessChanged } from '../redis/revisions.ts';
import { readQueued } from './positions.ts';
import { isEverywhere } from './queued-experiment.ts';
import type {
  Leaving,
  Measured,
  Pauses,
  PauseTarget,
  QueuedExperiment,
  QueueTarget,
  QueueWindow,
  RecordedPace,
  WaitNote,
} from './types.ts';

/** Notes written in one atomic step. */
const NOTES_PER_CALL = 500;

/** The queue: queued experiments and their order, pauses, wait reasons and estimates. */
export function createQueue(context: StoreContext) {
  const { redis, keys, run } = context;
  const paused = `${keys.root}:paused`;
  return {
    /** The first `perProject` of each project. */
    window: (perProject: number) => readWindow(context, perProject),

    /** A queued experiment; undefined if it is not queued. */
    async get(id: string): Promise<QueuedExperiment | undefined> {
      return (await readQueued(context, [id]))[0];
    },

    async note(notes: ReadonlyMap<string, WaitNote>): Promise<void> {
      const entries = [...notes];
      for (let at = 0; at < entries.length; at += NOTES_PER_CALL) {
        const some = entries.slice(at, at + NOTES_PER_CALL);
        await run(
          'set-wait-reasons',
          some.flatMap(([id, note]) => [id, note.reason, note.rank ?? '', estimateText(note)]),
        );
      }
    },

    /**
     * `not-queued`: it has an allocation, or has ended; nothing was changed. Throws `precondition-failed` if it has another
     * `revision`.
     */
    async setPriority(
      id: string,
      priority: number,
      revision?: number,
    ): Promise<'changed' | 'not-queued' | 'not-found'> {
      const answer = await unlessChanged(run('set-priority', [id, priority, revision ?? '']));
      return answer as 'changed' | 'not-queued' | 'not-found';
    },

    /** Null resumes it. An allocation that was decided before a pause is refused after it. False: no such cluster. */
    async setPaused(target: PauseTarget, pause: Pause | null): Promise<boolean> {
      const cluster = target.kind === 'cluster' ? target.name : '';
      return (
        (await run('set-paused', [fieldOf(target), pause === null ? '' : JSON.stringify(pause), cluster])) ===
        1
      );
    },

    /**
     * While a queue is closed, submissions, sweeps and re-runs are refused with `queue-closed`. Accepted experiments and
     * sweeps continue. Null resumes it.
     */
    async setClosed(target: QueueTarget, by: Pause | null): Promise<void> {
      const field = target.kind === 'all' ? 'closed' : `closed:${target.name}`;
      await run('set-paused', [field, by === null ? '' : JSON.stringify(by), '']);
    },

    async pauses(): Promise<Pauses> {
      return toPauses(await guarded(redis.hgetall(paused)));
    },

    /** Versions of the projects' allocations, to be read before the allocations; see {@link QueueSnapshot}. */
    async projectVersions(): Promise<ReadonlyMap<string, number>> {
      return toProjectVersions(await guarded(redis.hgetall(keys.versions)));
    },

    /** Preempted experiments that have not stopped yet, by id. */
    async leaving(): Promise<Map<string, Leaving>> {
      return toLeaving(await guarded(redis.hgetall(`${keys.root}:leaving`)));
    },

    /** The speeds of these experiments; one without a record is omitted. */
    paces: (ids: readonly string[]) => readPaces(context, ids),
  };
}

async function readWindow(context: StoreContext, perProject: number): Promise<QueueWindow> {
  const { redis, keys } = context;
  if (perProject <= 0) return { queued: [], truncated: new Set() };
  const projects = await guarded(redis.smembers(`${keys.root}:queues`));
  const commands = redis.pipeline();
  for (const project of projects) {
    const queue = `${keys.queue}:${project}`;
    commands.zcard(queue).zrange(queue, '0', String(perProject - 1), 'WITHSCORES');
  }
  const replies = await runAll(commands);
  const places: { id: string; score: number }[] = [];
  const truncated = new Set<string>();
  projects.forEach((project, at) => {
    const [count, found] = [Number(replies[2 * at]), replies[2 * at + 1] as string[]];
    if (count * 2 > found.length) truncated.add(project);
    for (let index = 0; index < found.length; index += 2)
      places.push({ id: found[index]!, score: Number(found[index + 1]) });
  });
  places.sort((a, b) => a.score - b.score);
  // Experiments that started since their ids were read are not in the answer.
  const queued = await readQueued(
    context,
    places.map(({ id }) => id),
  );
  return { queued, truncated };
}

function fieldOf(target: PauseTarget): string {
  return target.kind === 'all' ? 'all' : `${target.kind}:${target.name}`;
}

/** The versions of projects among all versions of allocations. */
export function toProjectVersions(versions: Record<string, string>): Map<string, number> {
  return new Map(
    Object.entries(versions).flatMap(([name, version]) =>
      name.startsWith('project:') ? [[name.slice('project:'.length), Number(version)] as const] : [],
    ),
  );
}

/** Preempted experiments from their hash. */
export function toLeaving(fields: Record<string, string>): Map<string, Leaving> {
  return new Map(Object.entries(fields).map(([id, text]) => [id, JSON.parse(text) as Leaving]));
}

/** Pauses and closed queues from their hash. */
export function toPauses(fields: Record<string, string>): Pauses {
  const projects = new Map<string, Pause>();
  const clusters = new Map<string, Pause>();
  const closed = { all: null as Pause | null, projects: new Map<string, Pause>() };
  let all: Pause | null = null;
  for (const [field, text] of Object.entries(fields)) {
    const pause = JSON.parse(text) as Pause;
    const [kind, name] = [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1)];
    if (field === 'all') all = pause;
    else if (field === 'closed') closed.all = pause;
    else if (kind === 'closed') closed.projects.set(name, pause);
    else if (kind === 'project') projects.set(name, pause);
    else if (kind === 'cluster') clusters.set(name, pause);
  }
  return { all, projects, clusters, closed };
}

function estimateText({ estimate, unknown, place }: WaitNote): string {
  if (estimate)
    return JSON.stringify([estimate.startAt, estimate.earliest, estimate.latest, ...(place ? [place] : [])]);
  return unknown === undefined ? '' : JSON.stringify(unknown);
}

const PACE_FIELDS = [
  'state',
  'attempt',
  'startedAt',
  'steps',
  'pace',
  'checkpoint',
  'sweep',
  'timeoutMs',
  'checkpointCluster',
  'name',
  'preempted',
  'deadlineAt',
  'saveEvery',
];

async function readPaces(
  { redis, keys }: StoreContext,
  ids: readonly string[],
): Promise<Map<string, RecordedPace>> {
  if (ids.length === 0) return new Map();
  const commands = redis.pipeline();
  for (const id of ids) commands.hmget(keys.experiment(id), ...PACE_FIELDS);
  const rows = (await runAll(commands)) as (string | null)[][];
  const sweeps = [...new Set(rows.flatMap((row) => row[6] || []))];
  const timed = ids.flatMap((id, at) => (rows[at]![7] ? [{ id, attempt: rows[at]![1] }] : []));
  const asked = redis.pipeline().hkeys(keys.clusters);
  for (const sweep of sweeps) asked.hget(`${keys.root}:sweep:${sweep}`, 'lengths');
  for (const { id, attempt } of timed) asked.hget(keys.attempts(id), `${attempt}:confirmedAt`);
  const [clusters, ...texts] = (await runAll(asked)) as [string[], ...(string | null)[]];
  const lengths = new Map(sweeps.map((sweep, at) => [sweep, toMeasured(texts[at]?.split(' ') ?? [])]));
  const confirmed = new Map(timed.map(({ id }, at) => [id, Number(texts[sweeps.length + at] ?? 0)]));
  return new Map(
    ids.flatMap((id, at) => {
      const pace = toPace(rows[at]!, { lengths, clusters, confirmedAt: confirmed.get(id) || null });
      return pace === undefined ? [] : [[id, pace] as const];
    }),
  );
}

function toPace(
  row: (string | null)[],
  known: {
    lengths: ReadonlyMap<string, Measured | null>;
    clusters: readonly string[];
    confirmedAt: number | null;
  },
): RecordedPace | undefined {
  const { lengths, clusters, confirmedAt } = known;
  const [state, attempt, startedAt, steps, pace, checkpoint, sweep, timeout, checkpointCluster, ...more] =
    row;
  const [name, preempted, deadlineAt, saveEvery] = more;
  const saved = checkpoint ? (JSON.parse(checkpoint) as { step: number; path: string }) : null;
  const isKept =
    saved !== null &&
    (!checkpointCluster || clusters.includes(checkpointCluster) || isEverywhere(saved.path));
  if (!state) return undefined;
  const [paceOf, step, at, ...measured] = pace?.split(' ') ?? [];
  const number = Number(attempt ?? 0);
  return {
    name: name ?? '',
    state: state as State,
    preemptions: Number(preempted ?? 0),
    hasDeadline: Boolean(deadlineAt),
    saveEvery: saveEvery ? Number(saveEvery) : null,
    attempt: number,
    startedAt: startedAt ? Number(startedAt) : null,
    steps: Number(steps ?? 0),
    step: pace && Number(paceOf) === number ? { number: Number(step), at: Number(at) } : null,
    perStep: toMeasured(measured),
    kept: isKept ? saved.step : 0,
    sweep: sweep ? (lengths.get(sweep) ?? null) : null,
    timeoutMs: timeout ? Number(timeout) : null,
    timeoutAt: timeout && confirmedAt !== null ? confirmedAt + Number(timeout) : null,
  };
}

/** From the summary of redis/lua/pace.lua: number, mean, sum of squared deviations. */
function toMeasured([count, mean, squares]: string[]): Measured | null {
  const n = Number(count ?? 0);
  if (!(n > 0)) return null;
  return { count: n, meanMs: Number(mean), deviationMs: n > 1 ? Math.sqrt(Number(squares) / (n - 1)) : 0 };
}

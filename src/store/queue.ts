import type { StoreContext } from './context.ts';
import { readWaiting } from './line.ts';
import type {
  LineWindow,
  Measured,
  Pace,
  Pause,
  Pauses,
  PauseTarget,
  QueueStore,
  WaitNote,
} from './queue-store.ts';
import { guarded, runAll } from './redis-errors.ts';
import type { ScriptArgument } from './scripts.ts';
import { unlessChanged } from './versions.ts';

/** Notes written in one atomic step. */
const NOTES_PER_CALL = 500;
/** The lines of the projects are compared with the line of all at most so often, so many places at a time. */
const MEND_MS = 5_000;
const MENDED_AT_ONCE = 500;

/** See {@link QueueStore}. */
export function createQueue(context: StoreContext): QueueStore {
  const { redis, keys, run } = context;
  const paused = `${keys.root}:paused`;
  return {
    lineWindow: createLineWindow(context),

    async waitNote(id) {
      return (await readWaiting(context, [id]))[0];
    },

    async noteWaiting(notes) {
      const entries = [...notes];
      for (let at = 0; at < entries.length; at += NOTES_PER_CALL) {
        const some = entries.slice(at, at + NOTES_PER_CALL);
        await run(
          'set-waiting-reasons',
          some.flatMap(([id, note]) => [id, note.reason, note.rank ?? '', estimateText(note)]),
        );
      }
    },

    async setPriority(id, priority, version = '') {
      const answer = await unlessChanged(run('set-priority', [id, priority, version]));
      return answer as Awaited<ReturnType<QueueStore['setPriority']>>;
    },

    async setPaused(target, pause) {
      const cluster = target.kind === 'cluster' ? target.name : '';
      return (
        (await run('set-paused', [fieldOf(target), pause === null ? '' : JSON.stringify(pause), cluster])) ===
        1
      );
    },

    async setDrained(target, by) {
      const field = target.kind === 'line' ? 'drain' : `drain:${target.name}`;
      await run('set-paused', [field, by === null ? '' : JSON.stringify(by), '']);
    },

    async pauses() {
      return toPauses(await guarded(redis.hgetall(paused)));
    },

    async projectVersions() {
      return toProjectVersions(await guarded(redis.hgetall(keys.versions)));
    },

    paces: (ids) => readPaces(context, ids),

    async setCluster(name, { labels, backfill }, version = '') {
      const set: ScriptArgument[] = [];
      if (labels !== undefined) set.push('labels', JSON.stringify(labels));
      if (backfill !== undefined) set.push('backfill', backfill === null ? '' : JSON.stringify(backfill));
      return (await unlessChanged(run('set-cluster', [name, version, ...set]))) === 1;
    },
  };
}

interface Place {
  id: string;
  score: number;
  project: string;
}

function createLineWindow(context: StoreContext): QueueStore['lineWindow'] {
  const { redis, keys } = context;
  let mendedAt = Number.NEGATIVE_INFINITY;

  async function read(limit: number) {
    const projects = await guarded(redis.smembers(`${keys.root}:lines`));
    const commands = redis.pipeline().zcard(keys.line);
    for (const project of projects) {
      const line = `${keys.root}:line:${project}`;
      commands.zcard(line).zrange(line, '0', String(limit - 1), 'WITHSCORES');
    }
    const [length, ...replies] = await runAll(commands);
    const places: Place[] = [];
    const truncated = new Set<string>();
    let counted = 0;
    projects.forEach((project, at) => {
      const [count, found] = [Number(replies[2 * at]), replies[2 * at + 1] as string[]];
      counted += count;
      if (count * 2 > found.length) truncated.add(project);
      for (let index = 0; index < found.length; index += 2)
        places.push({ id: found[index]!, score: Number(found[index + 1]), project });
    });
    places.sort((a, b) => a.score - b.score);
    const ids = places.map(({ id }) => id);
    const waiting = await readWaiting(context, ids);
    return { window: { waiting, truncated }, places, isWhole: counted === Number(length) };
  }

  return async (perProject): Promise<LineWindow> => {
    if (perProject <= 0) return { waiting: [], truncated: new Set() };
    const found = await read(perProject);
    const waits = new Set(found.window.waiting.map(({ experiment }) => experiment));
    const gone = found.places.filter(({ id }) => !waits.has(id));
    // Mostly they have just started. Where one stands there wrongly, another may be missing, and the numbers agree.
    const isWhole = found.isWhole && (gone.length === 0 || (await dropGone(context, gone)) === 0);
    if (isWhole || performance.now() - mendedAt <= MEND_MS) return found.window;
    mendedAt = performance.now();
    await mendLines(context);
    return (await read(perProject)).window;
  };
}

/** Takes those who do not wait out of the lines of their projects; how many stood there. */
async function dropGone({ run }: StoreContext, places: readonly Place[]): Promise<number> {
  let dropped = 0;
  for (const [project, some] of Map.groupBy(places, (place) => place.project)) {
    for (let at = 0; at < some.length; at += MENDED_AT_ONCE) {
      const ids = some.slice(at, at + MENDED_AT_ONCE).map(({ id }) => id);
      dropped += Number(await run('mend-lines', ['drop', project, ...ids]));
    }
  }
  return dropped;
}

/** In steps, between which others have their turn: what changes meanwhile is right already, or found the next time. */
async function mendLines({ redis, keys, run }: StoreContext): Promise<void> {
  for (let from = '-inf'; from !== ''; )
    from = (await run('mend-lines', ['add', from, MENDED_AT_ONCE])) as string;
  for (const project of await guarded(redis.smembers(`${keys.root}:lines`))) {
    const line = `${keys.root}:line:${project}`;
    for (let from = 0; ; ) {
      const ids = await guarded(redis.zrange(line, String(from), String(from + MENDED_AT_ONCE - 1)));
      const dropped = Number(await run('mend-lines', ['drop', project, ...ids]));
      if (ids.length < MENDED_AT_ONCE) break;
      from += ids.length - dropped;
    }
  }
}

function fieldOf(target: PauseTarget): string {
  return target.kind === 'line' ? 'line' : `${target.kind}:${target.name}`;
}

/** Of the versions of reservations, by what holds them, those of projects. */
export function toProjectVersions(versions: Record<string, string>): Map<string, number> {
  return new Map(
    Object.entries(versions).flatMap(([name, version]) =>
      name.startsWith('project:') ? [[name.slice('project:'.length), Number(version)] as const] : [],
    ),
  );
}

/** Pauses and drains from their hash, by what they hold. */
export function toPauses(fields: Record<string, string>): Pauses {
  const projects = new Map<string, Pause>();
  const clusters = new Map<string, Pause>();
  const draining = { line: null as Pause | null, projects: new Map<string, Pause>() };
  let line: Pause | null = null;
  for (const [field, text] of Object.entries(fields)) {
    const pause = JSON.parse(text) as Pause;
    const [kind, name] = [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1)];
    if (field === 'line') line = pause;
    else if (field === 'drain') draining.line = pause;
    else if (kind === 'drain') draining.projects.set(name, pause);
    else if (kind === 'project') projects.set(name, pause);
    else if (kind === 'cluster') clusters.set(name, pause);
  }
  return { line, projects, clusters, draining };
}

function estimateText({ estimate, unknown }: WaitNote): string {
  if (estimate) return JSON.stringify([estimate.startAt, estimate.earliest, estimate.latest]);
  return unknown === undefined ? '' : JSON.stringify(unknown);
}

const PACE_FIELDS = ['state', 'attempt', 'startedAt', 'steps', 'pace', 'checkpoint', 'sweep', 'timeoutMs'];

async function readPaces({ redis, keys }: StoreContext, ids: readonly string[]): Promise<Map<string, Pace>> {
  if (ids.length === 0) return new Map();
  const commands = redis.pipeline();
  for (const id of ids) commands.hmget(keys.experiment(id), ...PACE_FIELDS);
  const rows = (await runAll(commands)) as (string | null)[][];
  const sweeps = [...new Set(rows.flatMap((row) => row[6] || []))];
  const timed = ids.flatMap((id, at) => (rows[at]![7] ? [{ id, attempt: rows[at]![1] }] : []));
  const asked = redis.pipeline();
  for (const sweep of sweeps) asked.hget(`${keys.root}:sweep:${sweep}`, 'lengths');
  for (const { id, attempt } of timed) asked.hget(keys.attempts(id), `${attempt}:confirmedAt`);
  const texts = asked.length === 0 ? [] : ((await runAll(asked)) as (string | null)[]);
  const lengths = new Map(sweeps.map((sweep, at) => [sweep, toMeasured(texts[at]?.split(' ') ?? [])]));
  const confirmed = new Map(timed.map(({ id }, at) => [id, Number(texts[sweeps.length + at] ?? 0)]));
  return new Map(
    ids.flatMap((id, at) => {
      const pace = toPace(rows[at]!, lengths, confirmed.get(id) || null);
      return pace === undefined ? [] : [[id, pace] as const];
    }),
  );
}

function toPace(
  row: (string | null)[],
  lengths: ReadonlyMap<string, Measured | null>,
  confirmedAt: number | null,
): Pace | undefined {
  const [state, attempt, startedAt, steps, pace, checkpoint, sweep, timeout] = row;
  if (!state) return undefined;
  const [paceOf, step, at, ...measured] = pace?.split(' ') ?? [];
  const number = Number(attempt ?? 0);
  return {
    attempt: number,
    startedAt: startedAt ? Number(startedAt) : null,
    steps: Number(steps ?? 0),
    step: pace && Number(paceOf) === number ? { number: Number(step), at: Number(at) } : null,
    perStep: toMeasured(measured),
    kept: checkpoint ? (JSON.parse(checkpoint) as { step: number }).step : 0,
    sweep: sweep ? (lengths.get(sweep) ?? null) : null,
    timeoutMs: timeout ? Number(timeout) : null,
    timeoutAt: timeout && confirmedAt !== null ? confirmedAt + Number(timeout) : null,
  };
}

/** From what include/pace.lua writes: number, mean, sum of squared deviations. */
function toMeasured([count, mean, squares]: string[]): Measured | null {
  const n = Number(count ?? 0);
  if (!(n > 0)) return null;
  return { count: n, meanMs: Number(mean), deviationMs: n > 1 ? Math.sqrt(Number(squares) / (n - 1)) : 0 };
}

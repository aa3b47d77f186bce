import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import { MAX_CHILDREN } from '../../core/ids.ts';
import { isFinal } from '../../core/states.ts';
import type { ComparisonPlan, RecordedRun } from '../../schemas/comparison.ts';
import { digestOf } from '../archive/archive-keys.ts';
import type { StoreContext } from '../context.ts';
import type { createEvents } from '../events/events.ts';
import type { createExperiments } from '../experiments/experiments.ts';
import { guarded } from '../redis/errors.ts';
import type { createSweeps } from './sweeps.ts';
import type { SweepChild, SweepRecord } from './types.ts';

/** Children read in one call. */
const PAGE = 500;
/** Runs read at once. */
const AT_ONCE = 8;
/** MAX bytes of an unpacked run: 100 replicates of 10,000 games with long names. */
const MAX_BYTES = 256 * 1024 * 1024;

/** The other parts of the store that a run of a comparison is read from. */
interface Sources {
  sweeps: Pick<ReturnType<typeof createSweeps>, 'get' | 'children'>;
  experiments: Pick<ReturnType<typeof createExperiments>, 'get'>;
  events: Pick<ReturnType<typeof createEvents>, 'evaluations' | 'evaluation'>;
}

/**
 * The runs of comparisons. An ended run is recorded as an object of the archive that belongs to the comparison, so that the
 * result outlives the events and the records of its experiments.
 */
export function createComparisonRuns(context: StoreContext, sources: Sources) {
  const { redis, keys } = context;
  return {
    /** The runs of a comparison in the order of its sweep: each seed with all methods. */
    runs: (sweep: SweepRecord): Promise<RecordedRun[]> => runsOf(context, sources, sweep),

    /** Comparisons with ended runs that may not be recorded, oldest first. */
    withEndedRuns: (limit: number): Promise<string[]> =>
      guarded(redis.zrange(`${keys.root}:comparison-work`, '0', String(limit - 1))),

    /** Records the ended runs of a comparison whose batches are verified. May be repeated. */
    recordRuns: (id: string): Promise<void> => recordRuns(context, sources, id),
  };
}

async function runsOf(context: StoreContext, sources: Sources, sweep: SweepRecord): Promise<RecordedRun[]> {
  const children = await childrenOf(sources, sweep);
  const recorded = await recordedOf(context, sweep.id);
  return await inParts(children, async (child) => {
    const digest = recorded[child.experiment];
    if (digest === undefined) return runOf(sources, sweep.comparison!, child);
    const packed = await context.archive.get(sweep.id, digest);
    const bytes = await promisify(zstdDecompress)(packed, { maxOutputLength: MAX_BYTES });
    return JSON.parse(bytes.toString()) as RecordedRun;
  });
}

async function recordRuns(context: StoreContext, sources: Sources, id: string): Promise<void> {
  const sweep = await sources.sweeps.get(id);
  if (sweep === undefined) return void (await context.run('record-runs', [id, '0', '1']));
  const recorded = await recordedOf(context, id);
  const ended = (await childrenOf(sources, sweep)).filter(
    ({ state, experiment }) => state !== null && isFinal(state) && recorded[experiment] === undefined,
  );
  const due = ended.filter(({ verification }) => verification?.status === 'complete');
  const objects = await inParts(due, async (child) => {
    const run = await runOf(sources, sweep.comparison!, child);
    const bytes = await promisify(zstdCompress)(JSON.stringify(run));
    const digest = digestOf(bytes);
    await context.archive.put(id, digest, bytes);
    return [child.experiment, digest];
  });
  const isDone = due.length === ended.length ? '1' : '';
  await context.run('record-runs', [id, sweep.ends, isDone, ...objects.flat()]);
}

async function recordedOf({ redis, keys }: StoreContext, id: string): Promise<Record<string, string>> {
  return await guarded(redis.hgetall(`${keys.root}:sweep:${id}:recorded`));
}

async function childrenOf({ sweeps }: Sources, sweep: SweepRecord): Promise<SweepChild[]> {
  const children: SweepChild[] = [];
  for (let from = 0; from < Math.min(sweep.count, MAX_CHILDREN); from += PAGE)
    children.push(...(await sweeps.children(sweep, from, PAGE)));
  return children;
}

async function inParts<T, U>(items: readonly T[], act: (item: T) => Promise<U>): Promise<U[]> {
  const done: U[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE)
    done.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(act))));
  return done;
}

/** A run from its experiment. */
async function runOf(sources: Sources, plan: ComparisonPlan, child: SweepChild): Promise<RecordedRun> {
  const { index, experiment, state, verification } = child;
  const record = state === null ? undefined : await sources.experiments.get(experiment);
  return {
    method: plan.methods[index % plan.methods.length]!.name,
    seed: plan.seeds[Math.floor(index / plan.methods.length)]!,
    experiment,
    state,
    startedAt: record?.startedAt ?? null,
    resolved: record?.resolved ?? null,
    panel: state === null ? null : await panelOf(sources, plan, experiment),
    rowsSeen: verification?.rowsSeen ?? 0,
    rowsVerified: verification?.rowsVerified ?? 0,
    wrong: verification?.wrong ?? 0,
    signal: verification?.signal ?? null,
  };
}

/** The games of the evaluation at the planned step, of the last attempt that has one. */
async function panelOf(
  { events }: Sources,
  { step, panel }: ComparisonPlan,
  experiment: string,
): Promise<RecordedRun['panel']> {
  const all = await events.evaluations(experiment);
  const places = all.filter((one) => one.step === step && one.panel === panel);
  const last = places.filter(({ attempt }) => attempt === places.at(-1)?.attempt);
  const games = [];
  let found: RecordedRun['panel'] = null;
  for (const place of last) {
    const part = await events.evaluation(experiment, place);
    if (part === undefined) continue;
    games.push(...part.games);
    found = { digest: part.digest, decoding: part.decoding, games };
  }
  return found;
}

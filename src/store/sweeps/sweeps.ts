import { EchelonError } from '../../core/errors.ts';
import { RECORD_VERSION } from '../../schemas/experiment.ts';
import { SWEEP_VERSION, type Sweep } from '../../schemas/sweep.ts';
import type { StoreContext } from '../context.ts';
import { type Admission, admissionLimits, admitted } from '../experiments/admission.ts';
import type { CancelOutcome } from '../experiments/types.ts';
import { guarded, runAll } from '../redis/errors.ts';
import type { Fields } from '../redis/fields.ts';
import type { Pressure } from '../redis/fitness.ts';
import type { ScriptArgument } from '../redis/scripts.ts';
import { childArgument, keyOf, MADE_AT_ONCE, readChildren, sharedDocuments } from './sweep-children.ts';
import {
  FIGURE_FIELDS,
  FINDING_FIELDS,
  SWEEP_FIELDS,
  toFigures,
  toSweep,
  toSweepRecord,
  withFindings,
  writeEntry,
} from './sweep-records.ts';
import { release, rerun } from './sweep-release.ts';
import type { Figures, MakeChild, SweepChild, SweepInput, SweepRecord, SweptExperiment } from './types.ts';

/** Children that one pipeline cancels. */
const PIPELINED = 250;

/** Running averages are needed while other children reach the step; each of these renews the lifetime. */
const AVERAGES_LIFETIME_SECONDS = 90 * 86_400;

/** Sweeps: records whose children are expanded, cancelled and run again in steps that any process may repeat. */
export function createSweeps(context: StoreContext, pressure: Pressure) {
  const { redis, keys, run } = context;

  async function sweep(id: string): Promise<SweepRecord | undefined> {
    return toSweepRecord(await guarded(redis.hgetall(keyOf(context, id))));
  }

  return {
    get: sweep,
    /**
     * The record and the values of every child in one step. `created` is false for a repeated idempotency key. Throws
     * EchelonError `invalid-spec` if its project was removed.
     */
    create: (input: SweepInput) => create(context, pressure, input),
    /** Newest first. `comparisons`: only sweeps that belong to a comparison. */
    list: (filter: { project?: string; comparisons?: boolean; limit: number; before?: string }) =>
      list(context, filter),
    /**
     * Records a child's running average at a step of its sweep's early stopping, and returns those of the other children
     * at the same step. May be repeated.
     */
    recordAverage: (input: { sweep: string; index: number; step: number; average: number }) =>
      recordAverage(context, input),
    /** Children from `from` on, by index. */
    children: (record: SweepRecord, from: number, limit: number) =>
      childrenOf(context, record, { from, limit }),

    /** Sweeps with children to create or to cancel, oldest first. */
    withWork: (limit: number) =>
      limit <= 0
        ? Promise.resolve([])
        : guarded(redis.zrange(`${keys.root}:sweep-work`, '0', String(limit - 1))),

    /**
     * Creates the experiments of the next children. `more` is false if all exist, if the sweep was cancelled, or if the store
     * accepts no new work now (the sweep then still has work).
     */
    async expand(id: string, make: MakeChild): Promise<{ made: SweptExperiment[]; more: boolean }> {
      const record = await sweep(id);
      return record === undefined ? { made: [], more: false } : expand(context, pressure, record, make);
    },

    /**
     * Settles dependent children: a child becomes an experiment if the child that it depends on has succeeded, and is skipped
     * if that one has ended otherwise.
     */
    async release(id: string, make: MakeChild): Promise<SweptExperiment[]> {
      const record = await sweep(id);
      return record === undefined ? [] : release(context, pressure, record, make);
    },

    /** From then on no child is created; `cancelChildren` cancels the existing ones. */
    async cancel(id: string, reason: string): Promise<CancelOutcome> {
      return (await run('cancel-sweep', [id, reason])) as CancelOutcome;
    },

    /** Cancels children of a cancelled sweep from `from` on. `next`: the next call's `from`; null after the last one. */
    cancelChildren: (id: string, from: number) => cancelChildren(context, id, from),
    /**
     * Runs the failed ones of these children again, all or none of each 100. Throws EchelonError `already-final` if the sweep
     * is cancelled, `store-full`, `queue-full`, `queue-closed`.
     */
    rerunChildren: (record: SweepRecord, children: readonly SweepChild[], make: MakeChild) =>
      rerun(context, pressure, { record, children, make }),
    /** In the order of `ids`; undefined if there is no such experiment. */
    figures: (ids: readonly string[], metrics: readonly string[]) => figuresOf(context, ids, metrics),
  };
}

async function recordAverage(
  { run }: StoreContext,
  { sweep, index, step, average }: { sweep: string; index: number; step: number; average: number },
): Promise<number[]> {
  const args = [sweep, step, index, average, AVERAGES_LIFETIME_SECONDS];
  const all = (await run('record-average', args)) as string[];
  return all.flatMap((child, at) => (at % 2 === 0 && child !== String(index) ? [Number(all[at + 1])] : []));
}

async function childrenOf(
  context: StoreContext,
  record: SweepRecord,
  range: { from: number; limit: number },
): Promise<SweepChild[]> {
  const { redis, keys } = context;
  const children = await readChildren(context, record, range);
  const commands = redis.pipeline();
  for (const { experiment } of children) commands.hmget(keys.experiment(experiment), ...FINDING_FIELDS);
  const found = children.length === 0 ? [] : ((await runAll(commands)) as (string | null)[][]);
  return children.map((child, at) => withFindings(child, found[at]!));
}

async function figuresOf(
  { redis, keys }: StoreContext,
  ids: readonly string[],
  metrics: readonly string[],
): Promise<(Figures | undefined)[]> {
  if (ids.length === 0) return [];
  const commands = redis.pipeline();
  for (const id of ids) {
    commands.hmget(keys.experiment(id), ...FIGURE_FIELDS);
    if (metrics.length > 0) commands.hmget(keys.metrics(id), ...metrics);
  }
  const replies = (await runAll(commands)) as (string | null)[][];
  const step = metrics.length > 0 ? 2 : 1;
  return ids.map((_id, at) =>
    toFigures(replies[step * at]!, step === 2 ? replies[2 * at + 1]! : [], metrics),
  );
}

async function create(context: StoreContext, pressure: Pressure, input: SweepInput) {
  const { accepting, maxQueued, projectBytes } = await admissionLimits(context, pressure);
  const fingerprints = [...new Set(input.fingerprints)];
  const places = new Map(fingerprints.map((fingerprint, at) => [fingerprint, at]));
  const { id, project, name, method, seed, idempotency, earlyStopping } = input;
  const record = {
    id,
    project,
    name,
    method,
    seed: String(seed ?? ''),
    key: idempotency?.name ?? '',
    digest: idempotency?.digest ?? '',
    accepting,
    version: SWEEP_VERSION,
    maxQueued,
    projectBytes,
    owner: input.owner ?? '',
    metric: input.metric ? JSON.stringify(input.metric) : '',
    comparison: input.comparison ? JSON.stringify(input.comparison) : '',
    after: Object.entries(input.after ?? {}).flatMap(([index, other]) => [index, String(other)]),
  };
  const reply = await context.run('create-sweep', [
    JSON.stringify(record),
    JSON.stringify(input.spec),
    JSON.stringify(input.axes),
    JSON.stringify(fingerprints),
    earlyStopping ? JSON.stringify(earlyStopping) : '',
    ...input.entries.map((entry, at) => writeEntry(entry, places.get(input.fingerprints[at] ?? null) ?? 0)),
  ]);
  const projectField = input.method === 'preset' ? '/project' : '/spec/project';
  return admitted(reply as Admission, { projectField, maxQueued });
}

async function list(
  context: StoreContext,
  {
    project,
    comparisons = false,
    limit,
    before,
  }: {
    project?: string;
    comparisons?: boolean;
    limit: number;
    before?: string;
  },
) {
  if (limit <= 0) return { items: [], next: null };
  const { redis, keys } = context;
  const all = `${keys.root}:${comparisons ? 'comparisons' : 'sweeps'}`;
  const index = project === undefined ? all : `${all}:${project}`;
  if (before !== undefined && !/^[1-9]\d{0,15}$/.test(before)) {
    throw new EchelonError(
      'invalid-cursor',
      `Cursor ${before} is not from this list. Repeat the request without a cursor.`,
    );
  }
  const from = before === undefined ? '+inf' : `(${before}`;
  const found = await guarded(
    redis.zrevrangebyscore(index, from, '-inf', 'WITHSCORES', 'LIMIT', 0, limit + 1),
  );
  const ids = found.filter((_value, at) => at % 2 === 0).slice(0, limit);
  if (ids.length === 0) return { items: [], next: null };
  const commands = redis.pipeline();
  for (const id of ids) commands.hmget(keyOf(context, id), ...SWEEP_FIELDS);
  const rows = (await runAll(commands)) as (string | null)[][];
  const items = rows.flatMap((row): Sweep[] => {
    const fields: Fields = {};
    SWEEP_FIELDS.forEach((name, at) => {
      if (row[at] !== null && row[at] !== undefined) fields[name] = row[at];
    });
    const one = toSweep(fields);
    return one === undefined ? [] : [one];
  });
  return { items, next: found.length / 2 > limit ? found[2 * limit - 1]! : null };
}

async function expand(context: StoreContext, pressure: Pressure, record: SweepRecord, make: MakeChild) {
  const nothing = { made: [], more: false };
  const { id, state, free, freeMade } = record;
  const left = free - freeMade;
  if (state !== 'running' || left <= 0) return nothing;
  const children = await readChildren(context, record, {
    from: freeMade,
    limit: Math.min(left, MADE_AT_ONCE),
  });
  const { accepting, projectBytes } = await admissionLimits(context, pressure);
  const shared = await sharedDocuments(context, record, make);
  const made: SweptExperiment[] = [];
  const args: ScriptArgument[] = [id, freeMade, accepting, projectBytes, RECORD_VERSION];
  for (const child of children) {
    const input = make(record, child.entry);
    args.push(childArgument(child, input, { shared }));
    made.push({ experiment: child.experiment, priority: input.priority });
  }
  const outcome = (await context.run('expand-sweep', args)) as 'ok' | 'moved' | 'full';
  // Another process has created these children. The next call reads the next ones.
  if (outcome === 'moved') return { made: [], more: true };
  if (outcome === 'full') return nothing;
  return { made, more: freeMade + made.length < free };
}

async function cancelChildren(
  context: StoreContext,
  id: string,
  from: number,
): Promise<{ cancelled: string[]; next: number | null }> {
  const { redis, run } = context;
  const fields = ['expanded', 'state', 'free', 'count'];
  const [expanded, state, free, count] = await guarded(redis.hmget(keyOf(context, id), ...fields));
  if (state !== 'cancelled') return { cancelled: [], next: null };
  // Dependent children that are no experiments are ignored by the cancel.
  const last = Number(free === null ? expanded : count);
  const sweep = { id, free: last, count: last };
  const children = await readChildren(context, sweep, { from, limit: Math.min(PIPELINED, last - from) });
  const ids = children.map(({ experiment }) => experiment);
  const outcomes = await Promise.all(ids.map((child) => run('cancel', [child, 'its sweep was cancelled'])));
  const cancelled = ids.filter((_, at) => outcomes[at] === 'cancelled');
  const next = from + children.length;
  if (children.length > 0 && next < last) return { cancelled, next };
  await guarded(redis.zrem(`${context.keys.root}:sweep-work`, id));
  return { cancelled, next: null };
}

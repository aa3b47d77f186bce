import { EchelonError } from '../../core/errors.ts';
import { childId, MAX_RUNS } from '../../core/ids.ts';
import { isFinal, type State } from '../../core/states.ts';
import { RECORD_VERSION } from '../../schemas/experiment.ts';
import type { StoreContext } from '../context.ts';
import { type Admission, admissionLimits, admitted } from '../experiments/admission.ts';
import { guarded, runAll } from '../redis/errors.ts';
import type { Pressure } from '../redis/fitness.ts';
import type { ScriptArgument } from '../redis/scripts.ts';
import { childArgument, MADE_AT_ONCE, readChildren, sharedDocuments } from './sweep-children.ts';
import type { MakeChild, SweepChild, SweepRecord, SweptExperiment } from './types.ts';

interface Ready {
  child: SweepChild;
  /** The ended child that it depends on. */
  before: { run: number; experiment: string; cluster?: string };
}

/** Settles dependent children. If another process was faster, or the store is full, the next call continues. */
export async function release(
  context: StoreContext,
  pressure: Pressure,
  record: SweepRecord,
  make: MakeChild,
): Promise<SweptExperiment[]> {
  const { id, state, free, count, ends } = record;
  if (state !== 'running' || free >= count) return [];
  const ready = await readyChildren(context, record);
  const shared = ready.length === 0 ? undefined : await sharedDocuments(context, record, make);
  const all: SweptExperiment[] = [];
  for (let at = 0; at === 0 || at < ready.length; at += MADE_AT_ONCE) {
    const { accepting, projectBytes } = await admissionLimits(context, pressure);
    const last = at + MADE_AT_ONCE >= ready.length;
    const args: ScriptArgument[] = [id, accepting, projectBytes, RECORD_VERSION, last ? ends : ''];
    const priorities = new Map<string, number>();
    for (const { child, before } of ready.slice(at, at + MADE_AT_ONCE)) {
      const input = make(record, child.entry, before.cluster);
      priorities.set(child.experiment, input.priority);
      const after = { afterRun: String(before.run), afterExperiment: before.experiment };
      args.push(childArgument(child, input, { shared: shared!, index: String(child.index), ...after }));
    }
    const [outcome, ...made] = (await context.run('release-sweep', args)) as [string, ...string[]];
    if (outcome !== 'ok') break;
    all.push(...made.map((experiment) => ({ experiment, priority: priorities.get(experiment) ?? 0 })));
  }
  return all;
}

/** Children that depend on a child that has ended or was deleted. */
async function readyChildren(context: StoreContext, record: SweepRecord): Promise<Ready[]> {
  const { redis, keys } = context;
  const { id, free, expanded, count } = record;
  const settled = new Set(await guarded(redis.hkeys(`${keys.root}:sweep:${id}:settled`)));
  const waiting: SweepChild[] = [];
  for (let from = free; from < count; from += MADE_AT_ONCE) {
    const children = await readChildren(context, record, { from, limit: MADE_AT_ONCE });
    waiting.push(...children.filter(({ index, after }) => after !== null && !settled.has(String(index))));
  }
  const awaited = [...new Set(waiting.map(({ after }) => after!))];
  if (awaited.length === 0) return [];
  const runs = (await runAll(
    redis.pipeline().hmget(`${keys.root}:sweep:${id}:runs`, ...awaited.map(String)),
  )) as [(string | null)[]];
  const before = awaited.map((index, at) => {
    const run = Number(runs[0][at] ?? 0);
    return { index, run, experiment: childId(id, index, run) };
  });
  const commands = redis.pipeline();
  for (const { experiment } of before) commands.hmget(keys.experiment(experiment), 'state', 'cluster');
  const found = (await runAll(commands)) as [State | null, string | null][];
  // A child without a record was deleted, so its dependents can be settled too.
  const wasMade = expanded >= free;
  const ended = new Map(
    before.flatMap((one, at) => {
      const [state, cluster] = found[at]!;
      const isEnded = state === null ? wasMade : isFinal(state);
      return isEnded ? [[one.index, cluster ? { ...one, cluster } : one] as const] : [];
    }),
  );
  return waiting.flatMap((child) => {
    const one = ended.get(child.after!);
    return one === undefined ? [] : [{ child, before: one }];
  });
}

/** The cluster that each dependent child asked for when it became an experiment; undefined for all other children. */
async function wantedClusters(
  { redis, keys }: StoreContext,
  children: readonly SweepChild[],
): Promise<(string | undefined)[]> {
  if (children.every(({ after }) => after === null)) return [];
  const commands = redis.pipeline();
  for (const { experiment } of children) commands.hget(keys.experiment(experiment), 'wanted');
  const wanted = (await runAll(commands)) as (string | null)[];
  return children.map(({ after }, at) => (after === null ? undefined : wanted[at] || undefined));
}

/** Runs the failed ones of these children again. */
export async function rerun(
  context: StoreContext,
  pressure: Pressure,
  { record, children, make }: { record: SweepRecord; children: readonly SweepChild[]; make: MakeChild },
): Promise<SweptExperiment[]> {
  const failed = children.filter(({ state, run }) => state === 'failed' && run + 1 < MAX_RUNS);
  const all: SweptExperiment[] = [];
  if (failed.length === 0) return all;
  const shared = await sharedDocuments(context, record, make);
  for (let at = 0; at < failed.length; at += MADE_AT_ONCE) {
    const { accepting, maxQueued, projectBytes } = await admissionLimits(context, pressure);
    const args: ScriptArgument[] = [record.id, accepting, maxQueued, projectBytes, RECORD_VERSION];
    const priorities = new Map<string, number>();
    const page = failed.slice(at, at + MADE_AT_ONCE);
    const clusters = await wantedClusters(context, page);
    for (const [place, child] of page.entries()) {
      const input = make(record, child.entry, clusters[place]);
      const id = childId(record.id, child.index, child.run + 1);
      priorities.set(id, input.priority);
      const places = { index: String(child.index), run: String(child.run + 1), failed: child.experiment };
      args.push(childArgument({ ...child, experiment: id }, input, { shared, ...places }));
    }
    const reply = (await context.run('rerun-sweep', args)) as [string, ...string[]];
    const [outcome, ...made] = reply;
    if (outcome === 'cancelled') {
      throw new EchelonError('already-final', 'The sweep was cancelled, so its children cannot run again.');
    }
    if (outcome !== 'ok') admitted(reply as Admission, { projectField: '/project', maxQueued });
    all.push(...made.map((experiment) => ({ experiment, priority: priorities.get(experiment) ?? 0 })));
  }
  return all;
}

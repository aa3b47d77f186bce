import type { ResolvedSpec } from '../../../engines/registry.ts';
import type { RecordedRun } from '../../../plan/comparison/compare-runs.ts';
import { makeChild } from '../../../plan/sweep.ts';
import type { ComparisonPlan } from '../../../schemas/comparison.ts';
import type { Store } from '../../../store/store.ts';
import type { SweepChild, SweepRecord } from '../../../store/sweeps/types.ts';
import { childrenOf } from '../sweeps/sweeps.ts';

/** The runs of a comparison with their evaluations, in the order of the sweep: each seed with all methods. */
export async function recordedRuns(
  store: Store,
  sweep: SweepRecord,
  plan: ComparisonPlan,
): Promise<{ runs: RecordedRun[]; startedAt: number | null; spec: ResolvedSpec['spec'] }> {
  const children = await childrenOf(store, sweep);
  const figures = await store.sweeps.figures(
    children.map(({ experiment }) => experiment),
    [],
  );
  const starts = figures.flatMap((one) => (one?.startedAt == null ? [] : [one.startedAt]));
  const runs: RecordedRun[] = [];
  for (const child of children) runs.push(await recordedRun(store, plan, child));
  return {
    runs,
    startedAt: starts.length === 0 ? null : Math.min(...starts),
    spec: makeChild(sweep, children[0]!.entry).resolved,
  };
}

async function recordedRun(store: Store, plan: ComparisonPlan, child: SweepChild): Promise<RecordedRun> {
  const { index, experiment, state, verification } = child;
  const record = state === null ? undefined : await store.experiments.get(experiment);
  return {
    method: plan.methods[index % plan.methods.length]!.name,
    seed: plan.seeds[Math.floor(index / plan.methods.length)]!,
    experiment,
    state,
    resolved: record?.resolved ?? null,
    panel: state === null ? null : await panelOf(store, plan, experiment),
    rowsSeen: verification?.rowsSeen ?? 0,
    rowsVerified: verification?.rowsVerified ?? 0,
    wrong: verification?.wrong ?? 0,
  };
}

/** The games of the evaluation at the planned step, of the last attempt that has one. */
async function panelOf(
  store: Store,
  { step, panel }: ComparisonPlan,
  experiment: string,
): Promise<RecordedRun['panel']> {
  const all = await store.events.evaluations(experiment);
  const places = all.filter((one) => one.step === step && one.panel === panel);
  const last = places.filter(({ attempt }) => attempt === places.at(-1)?.attempt);
  const games = [];
  let found: RecordedRun['panel'] = null;
  for (const place of last) {
    const part = await store.events.evaluation(experiment, place);
    if (part === undefined) continue;
    games.push(...part.games);
    found = { digest: part.digest, decoding: part.decoding, games };
  }
  return found;
}

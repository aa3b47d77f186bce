import { newSweepId } from '../../src/core/ids.ts';
import { type ChainChild, draftChain } from '../../src/plan/preset-sweep.ts';
import { draftSweep, makeChild } from '../../src/plan/sweep.ts';
import type { SweepRequest } from '../../src/schemas/sweep.ts';
import type { Store } from '../../src/store/store.ts';
import type { MakeChild, SweepInput } from '../../src/store/sweeps/types.ts';

/** A request of `count` replays that differ in the number of their batches. */
export function sweepRequest(count: number): SweepRequest {
  return {
    name: 'a sweep',
    method: 'list',
    spec: { engine: 'replay', project: 'swept' },
    axes: { '/replay/batches': Array.from({ length: count }, (_child, at) => at) },
  };
}

/** What the store is given for a request. */
export function sweepInput(request: SweepRequest, changes: Partial<SweepInput> = {}): SweepInput {
  const draft = draftSweep(request);
  return {
    id: newSweepId(),
    project: 'swept',
    name: request.name,
    method: request.method,
    seed: draft.seed,
    spec: draft.spec,
    axes: draft.axes,
    entries: draft.entries,
    fingerprints: draft.entries.map(() => null),
    ...changes,
  };
}

/** Makes every child of a sweep an experiment; their ids. */
export async function expandAll(store: Store, id: string, make: MakeChild = makeChild): Promise<string[]> {
  const ids: string[] = [];
  for (let more = true; more; ) {
    const step = await store.sweeps.expand(id, make);
    ids.push(...step.made.map(({ experiment }) => experiment));
    more = step.more;
  }
  return ids;
}

/** A sweep with all its children expanded. */
export async function expandedSweep(
  store: Store,
  count: number,
): Promise<{ id: string; children: string[] }> {
  const { id } = await store.sweeps.create(sweepInput(sweepRequest(count)));
  return { id, children: await expandAll(store, id) };
}

/**
 * What the store is given for a sweep of replays of which some wait for others: `after` by index, undefined where a
 * child is free.
 */
export function chainInput(
  after: readonly (number | undefined)[],
  changes: Partial<SweepInput> = {},
): SweepInput {
  const children = after.map(
    (awaited, at): ChainChild => ({
      spec: { engine: 'replay', name: `child ${at}`, project: 'swept' },
      place: { run: `run ${awaited ?? at}`, phase: awaited === undefined ? 'train' : 'evaluation', seed: at },
      ...(awaited !== undefined && { after: awaited, reference: { 'val/success_rate': 0.9 } }),
    }),
  );
  const { name, method, spec, axes, entries, after: waits } = draftChain('a chain', children);
  return {
    id: newSweepId(),
    project: 'swept',
    name,
    method,
    seed: null,
    spec,
    axes,
    entries,
    after: waits,
    fingerprints: entries.map(() => null),
    ...changes,
  };
}

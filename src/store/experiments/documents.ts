import { isDeepStrictEqual } from 'node:util';
import { isTree, type Tree } from '../../core/trees.ts';
import type { StoreContext } from '../context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import type { Fields } from '../redis/fields.ts';

/*
 * The children of a sweep differ in a few values of documents that may be long. `{root}:sweep:<id>:shared` has the documents of
 * one child (JSON), and the field `patch` of a child, in place of its own documents, its differences from these.
 */

/** What a record says of its spec. */
export interface Documents {
  submitted: unknown;
  resolved: unknown;
  defaults: string[];
}

/** Differences between two documents: the keys that lead to each place, and its value; without a value it is absent. */
type Patch = [path: string[], value?: unknown][];

/** The key of the documents that the children of a sweep share. */
export function sharedKey({ keys }: Pick<StoreContext, 'keys'>, sweep: string): string {
  return `${keys.root}:sweep:${sweep}:shared`;
}

/** Records (hashes) with their own documents, also those of children of sweeps. */
export async function withDocuments(context: StoreContext, records: readonly Fields[]): Promise<Fields[]> {
  const sweeps = [...new Set(records.flatMap(({ patch, sweep }) => (patch && sweep ? [sweep] : [])))];
  if (sweeps.length === 0) return [...records];
  const asking = context.redis.pipeline();
  for (const sweep of sweeps) asking.get(sharedKey(context, sweep));
  const replies = (await runAll(asking)) as (string | null)[];
  const shared = new Map(sweeps.map((sweep, at) => [sweep, replies[at]]));
  return records.map((record) => {
    const text = record.patch && record.sweep ? shared.get(record.sweep) : undefined;
    return text ? { ...record, ...texts(withPatch(text, record.patch!)) } : record;
  });
}

/** The resolved spec of one experiment, and its sweep; null if there is none. */
export async function resolvedOf(
  context: StoreContext,
  id: string,
): Promise<{ resolved: unknown; sweep: string | null }> {
  const { redis, keys } = context;
  const [resolved, sweep, patch] = await guarded(
    redis.hmget(keys.experiment(id), 'resolved', 'sweep', 'patch'),
  );
  const shared = patch && sweep ? await guarded(redis.get(sharedKey(context, sweep))) : null;
  if (shared !== null) return { resolved: withPatch(shared, patch!).resolved, sweep: sweep ?? null };
  return { resolved: resolved ? JSON.parse(resolved) : null, sweep: sweep ?? null };
}

function texts(documents: Documents): Fields {
  return Object.fromEntries(Object.entries(documents).map(([name, value]) => [name, JSON.stringify(value)]));
}

/** How `documents` differ from the shared ones, as a text. Objects are compared key by key, an array is one value. */
export function patchOf(shared: Documents, { submitted, resolved, defaults }: Documents): string {
  // As the store would return them: without fields that JSON omits.
  const plain = JSON.parse(JSON.stringify({ submitted, resolved, defaults })) as Tree;
  return JSON.stringify([...differences(shared as unknown as Tree, plain, [])]);
}

/** The documents that {@link patchOf} has compared with the shared ones, from its text. */
export function withPatch(shared: string, patch: string): Documents {
  const documents = JSON.parse(shared) as Record<string, unknown>;
  for (const [path, ...value] of JSON.parse(patch) as Patch) {
    let place = documents;
    for (const key of path.slice(0, -1)) place = place[key] as Record<string, unknown>;
    const last = path.at(-1)!;
    if (value.length === 0) delete place[last];
    else place[last] = value[0];
  }
  return documents as unknown as Documents;
}

function* differences(before: Tree, after: Tree, path: string[]): Generator<Patch[number]> {
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) yield [[...path, key]];
  for (const [key, value] of Object.entries(after)) {
    const place = [...path, key];
    const known = Object.hasOwn(before, key) ? before[key] : undefined;
    if (isTree(known) && isTree(value)) yield* differences(known, value, place);
    else if (!Object.hasOwn(before, key) || !isDeepStrictEqual(known, value)) yield [place, value];
  }
}

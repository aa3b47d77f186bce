import type { StoreContext } from '../context.ts';
import { type Documents, patchOf, sharedKey } from '../experiments/documents.ts';
import { newExperiment } from '../experiments/new-experiment.ts';
import { guarded, runAll } from '../redis/errors.ts';
import { readEntry } from './sweep-records.ts';
import type { MakeChild, SweepChild, SweepChildInput, SweepRecord } from './types.ts';

/** Children that one step creates: about ten milliseconds of the server. */
export const MADE_AT_ONCE = 100;

/** The key of a sweep's record. */
export function keyOf({ keys }: StoreContext, id: string): string {
  return `${keys.root}:sweep:${id}`;
}

/** Stored children of a sweep by index, without their `state`. */
export async function readChildren(
  context: StoreContext,
  { id, free, count }: Pick<SweepRecord, 'id' | 'free' | 'count'>,
  { from, limit }: { from: number; limit: number },
): Promise<SweepChild[]> {
  if (limit <= 0) return [];
  const key = keyOf(context, id);
  const indices = Array.from({ length: limit }, (_child, at) => String(from + at));
  const commands = context.redis
    .pipeline()
    .lrange(`${key}:children`, from, from + limit - 1)
    .hmget(`${key}:runs`, ...indices)
    .hget(key, 'fingerprints');
  // Most sweeps have no dependent children.
  if (free < count) commands.hmget(`${key}:after`, ...indices).hmget(`${key}:settled`, ...indices);
  const [texts, runs, json, after = [], settled = []] = (await runAll(commands)) as [
    string[],
    (string | null)[],
    string | null,
    (string | null)[]?,
    (string | null)[]?,
  ];
  const fingerprints = JSON.parse(json ?? '[]') as (string | null)[];
  return texts.map((text, at) => {
    const child = readEntry(id, { index: from + at, run: Number(runs[at] ?? 0), text, fingerprints });
    const said = settled[at] ?? 'made';
    return {
      ...child,
      after: after[at] ? Number(after[at]) : null,
      skipped: said === 'made' ? null : said,
    };
  });
}

/**
 * The documents that the children of a sweep share: those of its first child, as the first call made them. Every child is
 * stored as its differences from these.
 */
export async function sharedDocuments(
  context: StoreContext,
  record: SweepRecord,
  make: MakeChild,
): Promise<Documents> {
  const known = await guarded(context.redis.get(sharedKey(context, record.id)));
  if (known !== null) return JSON.parse(known) as Documents;
  const [first] = await readChildren(context, record, { from: 0, limit: 1 });
  const { submitted, resolved, defaults } = make(record, first!.entry);
  const documents = JSON.stringify({ submitted, resolved, defaults });
  const stored = (await context.run('share-documents', [record.id, documents])) as string;
  return JSON.parse(stored || documents) as Documents;
}

/**
 * A child as an argument of a script: the fields of its experiment, and how its documents differ from the shared ones.
 * `more`: what the script needs beside these.
 */
export function childArgument(
  { experiment, fingerprint }: Pick<SweepChild, 'experiment' | 'fingerprint'>,
  input: SweepChildInput,
  { shared, ...more }: { shared: Documents; [field: string]: unknown },
): string {
  return JSON.stringify({
    ...newExperiment(experiment, input, fingerprint),
    patch: patchOf(shared, input),
    ...more,
  });
}

import { rankOf } from '../../core/priority-class.ts';
import { type Documents, patchOf, sharedKey } from '../experiments/documents.ts';
import type { StoreContext } from '../redis/context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import type { ScriptArgument } from '../redis/scripts.ts';
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
 * An experiment as arguments of a script (see redis/lua/create.lua). `shared`: the documents that a child of a sweep
 * shares with the other children.
 */
export function childArguments(
  id: string,
  input: SweepChildInput,
  fingerprint: string | null,
  shared?: Documents,
): ScriptArgument[] {
  const documents = [input.submitted, input.resolved, input.defaults];
  return [
    id,
    input.name,
    rankOf(input),
    input.cluster ?? '',
    input.gpus,
    input.cpus,
    ...documents.map((document) => (shared === undefined ? JSON.stringify(document) : '')),
    fingerprint ?? '',
    input.customCode ? '1' : '',
    ...limitsOf(input.resolved as ResolvedLimits),
    shared === undefined ? '' : patchOf(shared, input),
  ];
}

/** The fields of a resolved spec that the scripts need beside its text. */
interface ResolvedLimits {
  timeoutSeconds?: number | null;
  deadline?: string | null;
  clusterLabels?: Record<string, string> | null;
  tags?: readonly string[];
  resources?: { nodes?: number; nodeLabels?: Record<string, string> };
}

/** Timeout (ms), deadline (ms since 1970) and labels (JSON) of the cluster, '' for each that the spec omits; nodes, their labels; tags, one a line. */
function limitsOf({
  timeoutSeconds,
  deadline,
  clusterLabels,
  resources,
  tags = [],
}: ResolvedLimits): ScriptArgument[] {
  return [
    timeoutSeconds ? Math.round(timeoutSeconds * 1000) : '',
    deadline ? Date.parse(deadline) : '',
    labelsOf(clusterLabels),
    resources?.nodes ?? 1,
    labelsOf(resources?.nodeLabels),
    tags.join('\n'),
  ];
}

function labelsOf(labels: Record<string, string> | null | undefined): string {
  return Object.keys(labels ?? {}).length > 0 ? JSON.stringify(labels) : '';
}

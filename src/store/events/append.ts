import { EchelonError } from '../../core/errors.ts';
import { boundNumbered, whole } from '../../core/event-bounds.ts';
import type { AttemptEvent, NumberedEvent } from '../../core/events.ts';
import { placeBefore } from '../../core/ids.ts';
import { logTexts } from '../../core/log-lines.ts';
import type { Artifact } from '../../schemas/records.ts';
import { digestOf } from '../archive/archive-keys.ts';
import { rollStream } from '../archive/archive-stream.ts';
import { leaseArguments, leaseLost } from '../attempts/leases.ts';
import type { Lease } from '../attempts/types.ts';
import type { StoreContext } from '../context.ts';
import { metricNamesOf, packValues } from '../metrics/metric-entries.ts';
import { guarded } from '../redis/errors.ts';
import type { ScriptArgument } from '../redis/scripts.ts';

/** Batch parts that are written to the archive at the same time. */
const PUTS_AT_ONCE = 4;
/** Above it an event's number times 2²⁰ does not fit into a stream id. */
const LARGEST_SEQUENCE = 2 ** 44 - 1;

/** Appends in chunks of consecutive numbers, bounded in count and bytes. */
export function createAppend(context: StoreContext) {
  const { run, limits } = context;
  return {
    /**
     * Appends events in order. Recorded ones are ignored; a gap throws `sequence-gap`, a stale lease
     * `lease-lost`. Returns the last recorded sequence number. Completed batches become pending verification.
     */
    async append(lease: Lease, given: readonly NumberedEvent[]): Promise<number> {
      checkNumbers(given);
      const events = given.map(boundNumbered);
      let last: number | undefined;
      for (const chunk of chunksOf(events, limits)) {
        await archiveLongParts(context, lease.experiment, chunk);
        const reply = await appendChunk(context, lease, chunk);
        if (reply[0] === 'lost') {
          await removeParts(context, lease.experiment, chunk);
          throw leaseLost(lease);
        }
        last = Number(reply[1]);
        if (reply[0] === 'gap') {
          throw new EchelonError(
            'sequence-gap',
            `Event ${last + 1} of attempt ${lease.attempt} of ${lease.experiment} is missing before event ${chunk[0]!.sequence}`,
          );
        }
      }
      if (last !== undefined) return last;
      const reply = (await run('append', [...leaseArguments(lease), 1, 0, 0, 0, 0])) as [string, string];
      if (reply[0] === 'lost') throw leaseLost(lease);
      return Number(reply[1]);
    },
  };
}

/**
 * Appends a chunk. If the live stream is full, its oldest entries move to the archive first: a log at full speed must not
 * fill Redis between two rounds of archiving. Throws EchelonError `store-full` if none can move yet.
 */
async function appendChunk(
  context: StoreContext,
  lease: Lease,
  chunk: readonly NumberedEvent[],
): Promise<[string, string]> {
  const { run, limits } = context;
  const args = chunkArguments(lease, chunk, limits);
  const reply = (await run('append', args)) as [string, string];
  if (reply[0] !== 'long') return reply;
  await rollStream(context, lease.experiment);
  const again = (await run('append', args)) as [string, string];
  if (again[0] !== 'long') return again;
  throw new EchelonError(
    'store-full',
    `The live stream of ${lease.experiment} has ${limits.maxLiveBytes.toLocaleString('en')} bytes, and its oldest events cannot move to the archive yet. Retry later.`,
  );
}

/** Splits events at gaps in their numbers, and before a chunk would exceed its bounds. */
export function chunksOf(
  events: readonly NumberedEvent[],
  limits: { appendEvents: number; appendBytes: number; inlineBytes: number },
): NumberedEvent[][] {
  const chunks: NumberedEvent[][] = [];
  let chunk: NumberedEvent[] = [];
  let bytes = 0;
  for (const item of events) {
    const inline = sizeInRedis(item, limits);
    const previous = chunk.at(-1);
    const full = chunk.length >= limits.appendEvents || bytes + inline > limits.appendBytes;
    if (previous && (full || item.sequence !== previous.sequence + 1)) {
      chunks.push(chunk);
      chunk = [];
      bytes = 0;
    }
    chunk.push(item);
    bytes += inline;
  }
  if (chunk.length > 0) chunks.push(chunk);
  return chunks;
}

/** Counted bytes of a metric's value, so that a call with many of them does not block the server for long. */
const BYTES_OF_METRIC = 256;

/** Approximate bytes of an event in a call: its payload in the stream, or the lines of a log. */
function sizeInRedis({ event, data }: NumberedEvent, limits: { inlineBytes: number }): number {
  if (event.type === 'metrics') return Object.keys(event.values).length * BYTES_OF_METRIC;
  if (event.type === 'evaluation') return event.games.length * BYTES_OF_METRIC;
  if (event.type === 'log')
    return event.lines.reduce((sum, line) => sum + line.length, event.progress?.length ?? 0);
  const size = data?.byteLength ?? 0;
  return size > limits.inlineBytes ? 0 : size;
}

function checkNumbers(events: readonly NumberedEvent[]): void {
  for (const { sequence } of events) {
    if (Number.isSafeInteger(sequence) && sequence >= 1 && sequence <= LARGEST_SEQUENCE) continue;
    throw new EchelonError('invalid-request', `${sequence} is not a valid event number`);
  }
}

async function archiveLongParts(
  context: StoreContext,
  experiment: string,
  chunk: readonly NumberedEvent[],
): Promise<void> {
  const long = chunk.flatMap(({ data }) => (isLong(data, context.limits) ? [data] : []));
  for (let at = 0; at < long.length; at += PUTS_AT_ONCE) {
    await Promise.all(
      long.slice(at, at + PUTS_AT_ONCE).map((data) => context.archive.put(experiment, digestOf(data), data)),
    );
  }
}

/** Parts that were archived for an experiment after its deletion are garbage. */
async function removeParts(
  { redis, keys, limits }: StoreContext,
  experiment: string,
  chunk: readonly NumberedEvent[],
): Promise<void> {
  if (!chunk.some(({ data }) => isLong(data, limits))) return;
  if ((await guarded(redis.exists(keys.experiment(experiment)))) === 0)
    await guarded(redis.sadd(keys.garbage, experiment));
}

function isLong(data: Uint8Array | undefined, limits: { inlineBytes: number }): data is Uint8Array {
  return data !== undefined && data.byteLength > limits.inlineBytes;
}

/**
 * Arguments of `append.lua`. For each metric only the last value in the chunk is passed as the current one: if the script
 * applies an earlier event of the chunk, it also applies the last.
 */
function chunkArguments(
  lease: Lease,
  chunk: readonly NumberedEvent[],
  limits: Pick<StoreContext['limits'], 'inlineBytes' | 'metricNames' | 'maxLiveBytes'>,
): ScriptArgument[] {
  const effects: ScriptArgument[][] = [];
  const passed = new Set<string>();
  const names = metricNamesOf(chunk);
  for (let at = chunk.length - 1; at >= 0; at--) {
    effects[at] = effectOf(lease, chunk[at]!, { names, passed });
  }
  const args: ScriptArgument[] = [
    ...leaseArguments(lease),
    chunk[0]!.sequence,
    chunk.length,
    limits.metricNames,
    limits.maxLiveBytes,
    names.size,
    ...names.keys(),
  ];
  chunk.forEach(({ at, event, data }, index) => {
    const effect = effects[index]!;
    args.push(Math.trunc(at), event.type, JSON.stringify(event));
    if (data === undefined) args.push('', '');
    else if (isLong(data, limits)) args.push('k', digestOf(data));
    else args.push('b', data);
    args.push(effect.length, ...effect);
  });
  return args;
}

/**
 * The changes of an event to the record, as arguments of `append.lua`. Its numbers come from the cluster and are made
 * valid here: a script that failed on one of them half-way would leave the stream ahead of the counters.
 */
function effectOf(
  lease: Lease,
  { event, at, sequence }: NumberedEvent,
  { names, passed }: { names: ReadonlyMap<string, number>; passed: Set<string> },
): ScriptArgument[] {
  switch (event.type) {
    case 'stage':
      return [event.name, whole(event.step), whole(event.steps)];
    case 'metrics': {
      const step = whole(event.step);
      const isWhole =
        step === event.step && !event.omitted && Object.keys(event.values).every((name) => names.has(name));
      const effect: ScriptArgument[] = [step, isWhole ? 1 : 0, packValues(event.values, names)];
      for (const [name, value] of Object.entries(event.values)) {
        if (passed.has(name) || !names.has(name)) continue;
        passed.add(name);
        effect.push(name, JSON.stringify(value));
      }
      return effect;
    }
    case 'batch':
      return [
        ...[event.batch, event.index, event.count, event.step, event.rows].map(whole),
        event.digest.replace(/\s/g, ''),
      ];
    case 'checkpoint': {
      const checkpoint = { step: event.step, path: event.path, attempt: lease.attempt };
      const artifact: Artifact = { kind: 'checkpoint', ...checkpoint, at: Math.trunc(at) };
      return [JSON.stringify(checkpoint), JSON.stringify(artifact), sharedDirectory(event.path)];
    }
    case 'stored':
      return [JSON.stringify({ step: whole(event.step), manifest: event.manifest })];
    case 'evaluation': {
      const { step, panel, digest, games } = event;
      const { attempt } = lease;
      const after = placeBefore(attempt, sequence);
      return [JSON.stringify({ attempt, after, step, panel, digest, games: games.length })];
    }
    case 'gap':
      return event.kind === 'batch' ? [whole(event.rows)] : linesOf(event);
    case 'log':
      return linesOf(event);
    default:
      return [];
  }
}

/** Names of a directory, at most as long as a spec may name. */
const MAX_DIRECTORY = 252;

/** The directory of a checkpoint outside of its experiment, as a spec names it: `project/name`; else empty. */
function sharedDirectory(path: string): string {
  const directory = path.startsWith('../') ? path.split('/').slice(-3, -1).join('/') : '';
  return directory.length > MAX_DIRECTORY || directory.includes('..') ? '' : directory;
}

/** Number of lines that an event adds to the log, and their bytes. */
function linesOf(event: AttemptEvent): ScriptArgument[] {
  const texts = logTexts(event);
  return [texts.length, texts.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0)];
}

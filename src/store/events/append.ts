import { EchelonError } from '../../core/errors.ts';
import { boundNumbered, whole } from '../../core/event-bounds.ts';
import type { AttemptEvent, NumberedEvent } from '../../core/events.ts';
import { logTexts } from '../../core/log-lines.ts';
import type { Artifact } from '../../schemas/records.ts';
import { digestOf } from '../archive/archive-keys.ts';
import type { Lease } from '../attempts/contract.ts';
import { leaseArguments, leaseLost } from '../attempts/leases.ts';
import { metricNamesOf, packValues } from '../metrics/series-values.ts';
import type { StoreContext } from '../redis/context.ts';
import { guarded } from '../redis/errors.ts';
import type { ScriptArgument } from '../redis/scripts.ts';
import type { EventStore } from './contract.ts';

/** Parts put into the archive at the same time. */
const PUTS_AT_ONCE = 4;
/** Above it an event's number times 2²⁰ does not fit into a stream id. */
const LARGEST_SEQUENCE = 2 ** 44 - 1;

/** The append of an attempt's events: in runs of consecutive numbers, bounded in count and bytes. */
export function createAppend(context: StoreContext): Pick<EventStore, 'append'> {
  const { run, limits } = context;
  return {
    async append(lease, given) {
      checkNumbers(given);
      const events = given.map(boundNumbered);
      let last: number | undefined;
      for (const chunk of chunksOf(events, limits)) {
        await archiveLongParts(context, lease.experiment, chunk);
        const reply = (await run('append', chunkArguments(lease, chunk, limits))) as [string, string];
        if (reply[0] === 'lost') {
          await forgetParts(context, lease.experiment, chunk);
          throw leaseLost(lease);
        }
        last = Number(reply[1]);
        if (reply[0] === 'gap') {
          throw new EchelonError(
            'sequence-gap',
            `Event ${last + 1} of attempt ${lease.attempt} of ${lease.experiment} comes before ${chunk[0]!.sequence}`,
          );
        }
      }
      if (last !== undefined) return last;
      const reply = (await run('append', [...leaseArguments(lease), 1, 0, 0, 0])) as [string, string];
      if (reply[0] === 'lost') throw leaseLost(lease);
      return Number(reply[1]);
    },
  };
}

/** Cuts events where the numbers are not consecutive, and where a chunk would grow beyond its bounds. */
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

/** What a value of a metric counts as, so that a call with many of them does not keep the server for long. */
const BYTES_OF_METRIC = 256;

/** Roughly what an event takes of a call: its payload where it is kept in the stream, or the lines of a log. */
function sizeInRedis({ event, data }: NumberedEvent, limits: { inlineBytes: number }): number {
  if (event.type === 'metrics') return Object.keys(event.values).length * BYTES_OF_METRIC;
  if (event.type === 'log') return event.lines.reduce((sum, line) => sum + line.length, 0);
  const size = data?.byteLength ?? 0;
  return size > limits.inlineBytes ? 0 : size;
}

function checkNumbers(events: readonly NumberedEvent[]): void {
  for (const { sequence } of events) {
    if (Number.isSafeInteger(sequence) && sequence >= 1 && sequence <= LARGEST_SEQUENCE) continue;
    throw new EchelonError('invalid-request', `${sequence} cannot be the number of an event`);
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

/** What was put for an experiment that was deleted meanwhile is nobody's: its place was emptied already. */
async function forgetParts(
  { redis, keys, archive, limits }: StoreContext,
  experiment: string,
  chunk: readonly NumberedEvent[],
): Promise<void> {
  if (!chunk.some(({ data }) => isLong(data, limits))) return;
  if ((await guarded(redis.exists(keys.experiment(experiment)))) === 0) await archive.remove(experiment);
}

function isLong(data: Uint8Array | undefined, limits: { inlineBytes: number }): data is Uint8Array {
  return data !== undefined && data.byteLength > limits.inlineBytes;
}

/**
 * Arguments of `append.lua`. Of a metric that occurs several times in a chunk only the last value is told: what is
 * applied is always the chunk's end, so where an earlier value would be applied the last one is too.
 */
function chunkArguments(
  lease: Lease,
  chunk: readonly NumberedEvent[],
  limits: { inlineBytes: number; metricNames: number },
): ScriptArgument[] {
  const effects: ScriptArgument[][] = [];
  const told = new Set<string>();
  const names = metricNamesOf(chunk);
  for (let at = chunk.length - 1; at >= 0; at--) {
    effects[at] = effectOf(lease, chunk[at]!, { names, told });
  }
  const args: ScriptArgument[] = [
    ...leaseArguments(lease),
    chunk[0]!.sequence,
    chunk.length,
    limits.metricNames,
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
 * What an event changes in the record, as `append.lua` takes it. Its numbers come from the cluster, and a script that
 * fails on one of them half-way would leave the stream ahead of the count: so they are made fit here.
 */
function effectOf(
  lease: Lease,
  { event, at }: NumberedEvent,
  { names, told }: { names: ReadonlyMap<string, number>; told: Set<string> },
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
        if (told.has(name) || !names.has(name)) continue;
        told.add(name);
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
      return [JSON.stringify(checkpoint), JSON.stringify(artifact)];
    }
    case 'gap':
      return event.kind === 'batch' ? [whole(event.rows)] : linesOf(event);
    case 'log':
      return linesOf(event);
    default:
      return [];
  }
}

/** Lines that it adds to the log, and their bytes. */
function linesOf(event: AttemptEvent): ScriptArgument[] {
  const texts = logTexts(event);
  return [texts.length, texts.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0)];
}

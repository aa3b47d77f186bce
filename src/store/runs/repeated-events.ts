import { EchelonError } from '../../core/errors.ts';
import { boundNumbered } from '../../core/event-bounds.ts';
import type { NumberedEvent } from '../../core/events.ts';
import { canonicalJson } from '../../schemas/json.ts';
import { digestOf } from '../archive/archive-keys.ts';
import { type RawEntry, readSegments } from '../archive/archive-segments.ts';
import type { Lease } from '../attempts/contract.ts';
import { toEntries } from '../events/events.ts';
import type { StoreContext } from '../redis/context.ts';
import { guarded } from '../redis/errors.ts';

/** Position of the payload's kind and of the payload among the fields of an entry. */
const KIND = 6;
const PAYLOAD = 7;

/**
 * Compares events with those that the store or the archive has under their numbers. Throws EchelonError `event-conflict` for
 * the first one with other content. Its time is not compared: the server limits it.
 */
export async function refuseOther(
  context: StoreContext,
  { experiment, attempt }: Omit<Lease, 'token'>,
  events: readonly NumberedEvent[],
): Promise<void> {
  for (const { sequence, event, data } of events.map(boundNumbered)) {
    const id = `${attempt}-${BigInt(sequence) * 2n ** 20n}`;
    const entry = await rawEntry(context, experiment, id);
    if (entry === undefined) continue; // retention deleted it
    const [recorded] = await toEntries(context, experiment, [entry]);
    const same =
      canonicalJson(recorded?.event) === canonicalJson(JSON.parse(JSON.stringify(event))) &&
      hasPayload(entry, data);
    if (same) continue;
    throw new EchelonError(
      'event-conflict',
      `Event ${sequence} is recorded with other content. Continue after the last recorded event.`,
    );
  }
}

async function rawEntry(
  context: StoreContext,
  experiment: string,
  id: string,
): Promise<RawEntry | undefined> {
  const { redis, keys, archived } = context;
  const [live] = await guarded(redis.xrangeBuffer(keys.events(experiment), id, id));
  if (live) return { id, fields: live[1] };
  const segments = readSegments(await guarded(redis.hget(keys.experiment(experiment), 'segments')));
  for await (const entry of archived.between(experiment, segments, id, id)) return entry;
  return undefined;
}

function hasPayload({ fields }: RawEntry, data: Uint8Array | undefined): boolean {
  const kind = fields[KIND]?.toString();
  if (kind === 'b') return data !== undefined && fields[PAYLOAD]!.equals(data);
  if (kind === 'k') return data !== undefined && fields[PAYLOAD]!.toString() === digestOf(data);
  return data === undefined;
}

import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import { EchelonError } from '../../core/errors.ts';
import type { StoreContext } from '../context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import type { Archive } from './archive.ts';
import { digestOf } from './archive-keys.ts';
import { BUFFER_BYTES, decompressed } from './decompress.ts';

/*
 * The series of a finished experiment as one object of the archive: a line that names the format, then compressed for
 * each field of the hash, and for the rows under an empty name: length and name, length and bytes.
 */
const FORMAT = Buffer.from('echelon-series/2\n');
/** A longer series stays in the store as long as its experiment's stream. */
const MAX_BYTES = 64 * 1024 * 1024;
const FIELDS_PER_READ = 500;
/** MAX bytes of cached unpacked series. */
const KEPT_BYTES = 64 * 1024 * 1024;

/** A series in memory: the fields of its hash; under '' the rows. */
export type SeriesFields = ReadonlyMap<string, Buffer>;

/** Moves the series of a finished experiment into the archive. May be repeated. */
export async function archiveSeries(context: StoreContext, id: string): Promise<void> {
  const { redis, keys, archive } = context;
  const key = `${keys.experiment(id)}:series`;
  const [endedAt, size, revision] = (await runAll(
    redis
      .pipeline()
      .hget(keys.experiment(id), 'endedAt')
      .memory('USAGE', key, 'SAMPLES', 20)
      .hget(key, 'revision'),
  )) as [string | null, number | null, string | null];
  if (endedAt === null || size === null || size > MAX_BYTES) return;
  const fields = new Map<string, Buffer>();
  let cursor = '0';
  do {
    const [next, page] = await guarded(redis.hscanBuffer(key, cursor, 'COUNT', FIELDS_PER_READ));
    for (let at = 0; at + 1 < page.length; at += 2) fields.set(page[at]!.toString(), page[at + 1]!);
    cursor = next.toString();
  } while (cursor !== '0');
  const rows = (await guarded(redis.getBuffer(`${key}:rows`))) ?? Buffer.alloc(0);
  fields.set('', rows);
  const bytes = await packSeries(fields);
  const digest = digestOf(bytes);
  await archive.put(id, digest, bytes);
  await context.run('archive-series', [id, digest, revision ?? '', rows.length]);
}

/** The object of a series. */
export async function packSeries(fields: SeriesFields): Promise<Buffer> {
  const pieces = [...fields].flatMap(([name, bytes]) => [framed(Buffer.from(name)), framed(bytes)]);
  return Buffer.concat([FORMAT, await promisify(zstdCompress)(Buffer.concat(pieces))]);
}

/** The inverse of {@link packSeries}. */
export async function unpackSeries(object: Uint8Array): Promise<SeriesFields> {
  const packed = Buffer.from(object.buffer, object.byteOffset, object.byteLength);
  if (!packed.subarray(0, FORMAT.length).equals(FORMAT)) {
    throw new EchelonError(
      'internal',
      'An archived series is of another format; a later version of Echelon may have written it',
    );
  }
  const bytes = await decompressed(packed.subarray(FORMAT.length), 4 * MAX_BYTES);
  const fields = new Map<string, Buffer>();
  const next = (at: number) => at + 4 + bytes.readUInt32LE(at);
  for (let at = 0; at < bytes.length; ) {
    const [middle, end] = [next(at), next(next(at))];
    fields.set(bytes.subarray(at + 4, middle).toString(), bytes.subarray(middle + 4, end));
    at = end;
  }
  return fields;
}

function framed(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Reads archived series with a cache of recently used ones. Concurrent callers share a read. */
export function createSeriesReader(
  archive: Archive,
): (owner: string, digest: string) => Promise<SeriesFields> {
  const kept = new Map<string, { bytes: number; fields: Promise<SeriesFields> }>();

  function forget(digest: string, fields: Promise<SeriesFields>): void {
    if (kept.get(digest)?.fields === fields) kept.delete(digest);
  }

  return (owner, digest) => {
    const known = kept.get(digest);
    if (known) {
      kept.delete(digest);
      kept.set(digest, known);
      return known.fields;
    }
    const fields = archive.get(owner, digest).then(unpackSeries);
    const entry = { bytes: 0, fields };
    kept.set(digest, entry);
    fields.then(
      (unpacked) => {
        for (const bytes of unpacked.values()) entry.bytes += bytes.length + BUFFER_BYTES;
        let all = [...kept.values()].reduce((sum, one) => sum + one.bytes, 0);
        for (const [oldest, one] of kept) {
          if (all <= KEPT_BYTES || oldest === digest) break;
          all -= one.bytes;
          kept.delete(oldest);
        }
      },
      () => forget(digest, fields),
    );
    return fields;
  };
}

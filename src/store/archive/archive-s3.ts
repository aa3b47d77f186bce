import { setTimeout as delay } from 'node:timers/promises';
import { S3mini } from 's3mini';
import { EchelonError } from '../../core/errors.ts';
import { retryUntil } from '../../core/retry.ts';
import type { ListedArchive } from './archive.ts';
import type { ArchiveIdentity } from './archive-identity.ts';
import { archiveUnavailable, checkBytes, checkOwner, checkPlace, intact, isDigest } from './archive-keys.ts';

/** A bucket, and who may use it. */
export interface Bucket {
  name: string;
  /** Before every name, without a slash at either end; may be empty. */
  prefix: string;
  /** http(s)://host:port of the service; null: Amazon's own, in `region`. */
  endpoint: string | null;
  region: string;
  accessKey: string;
  secretKey: string;
}

/** How long it tries; each has a default. */
interface S3Patience {
  /** One request. */
  requestMs?: number;
  /** Requests for one call, the first included. */
  tries?: number;
  /** Before the second one; then twice as long each time. */
  firstWaitMs?: number;
}

/** Two first processes that give a bucket an id at the same moment see the later one after this time. */
const SETTLED_MS = 500;
/** Names in one request that lists. */
const LISTED_AT_ONCE = 1000;

/**
 * An archive in an S3 bucket, `<prefix>/x/<owner>/<digest>`, addressed by path as every such service understands it.
 * An object appears whole or not at all; readers check the digest. What is refused for a while, or does not answer, is
 * tried again, a bounded number of times: each call is idempotent.
 */
export function createS3Archive(bucket: Bucket, patience: S3Patience = {}): ListedArchive & ArchiveIdentity {
  const service = connect(bucket, patience);
  const { s3, retrying } = service;
  const folderOf = (owner: string) =>
    [bucket.prefix, 'x', owner, ''].filter((part, at) => part || at > 0).join('/');

  return {
    ...createIdentity(service, [bucket.prefix, 'archive-id'].filter(Boolean).join('/')),

    async put(owner, digest, bytes) {
      checkPlace(owner, digest);
      checkBytes(digest, bytes);
      await putObject(service, `${folderOf(owner)}${digest}`, Buffer.from(bytes));
    },

    async get(owner, digest) {
      checkPlace(owner, digest);
      const bytes = await retrying(() => s3.getObjectArrayBuffer(`${folderOf(owner)}${digest}`));
      if (bytes === null) throw new EchelonError('not-found', `The archive does not have ${digest}`);
      return intact(digest, new Uint8Array(bytes));
    },

    async remove(owner, except = new Set()) {
      checkOwner(owner);
      for await (const name of namesOf(service, bucket.name, folderOf(owner)))
        if (!except.has(name.slice(name.lastIndexOf('/') + 1))) await retrying(() => s3.deleteObject(name));
    },

    async *list(one) {
      const folder = one === undefined ? folderOf('').slice(0, -1) : folderOf(one);
      for await (const name of namesOf(service, bucket.name, folder)) {
        const [owner, digest] = name.split('/').slice(-2) as [string, string];
        if (isDigest(digest)) yield { owner, digest };
      }
    },
  };
}

/** A bucket's client, and how a call to it is repeated. */
interface Service {
  s3: S3mini;
  /** Throws EchelonError as {@link archiveUnavailable} makes it. */
  retrying<T>(call: () => Promise<T>): Promise<T>;
}

function connect(bucket: Bucket, { requestMs = 30_000, tries = 4, firstWaitMs = 200 }: S3Patience): Service {
  const host = bucket.endpoint ?? `https://s3.${bucket.region}.amazonaws.com`;
  const s3 = new S3mini({
    accessKeyId: bucket.accessKey,
    secretAccessKey: bucket.secretKey,
    endpoint: `${host.replace(/\/+$/, '')}/${bucket.name}`,
    region: bucket.region,
    requestAbortTimeout: requestMs,
  });
  const waits = { firstMs: firstWaitMs, longestMs: Number.POSITIVE_INFINITY };
  const shouldRetry = (error: unknown, tried: number) => tried < tries && mayPass(error);
  return {
    s3,
    retrying: (call) =>
      retryUntil(call, { waits, shouldRetry }).catch((error: unknown) => {
        throw archiveUnavailable(error);
      }),
  };
}

function createIdentity(service: Service, name: string): ArchiveIdentity {
  async function readId(): Promise<string | null> {
    const bytes = await service.retrying(() => service.s3.getObjectArrayBuffer(name));
    return bytes === null ? null : Buffer.from(bytes).toString().trim() || null;
  }

  return {
    readId,

    async claimId(id) {
      const before = await readId();
      if (before !== null) return before;
      await putObject(service, name, Buffer.from(`${id}\n`));
      await delay(SETTLED_MS);
      return (await readId()) ?? id;
    },
  };
}

async function putObject({ s3, retrying }: Service, name: string, bytes: Buffer): Promise<void> {
  await retrying(async () => {
    const answer = await s3.putObject(name, bytes);
    await answer.body?.cancel();
  });
}

async function* namesOf({ s3, retrying }: Service, bucket: string, folder: string): AsyncGenerator<string> {
  for (let from: string | undefined; ; ) {
    const after = from;
    const page = await retrying(() => s3.listObjectsPaged('/', folder, LISTED_AT_ONCE, after));
    if (page === null || page === undefined) {
      throw archiveUnavailable(new Error(`there is no bucket ${bucket}`));
    }
    for (const { Key } of page.objects ?? []) yield Key;
    from = page.nextContinuationToken;
    if (!from) return;
  }
}

/** Whether the same request may go through later: the service is away or busy, or the connection broke. */
function mayPass(error: unknown): boolean {
  const status = (error as { status?: unknown }).status;
  return typeof status !== 'number' || status === 408 || status === 429 || status >= 500;
}

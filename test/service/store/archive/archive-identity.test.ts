import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { EchelonError } from '../../../../src/core/errors.ts';
import { createDirectoryArchive } from '../../../../src/store/archive/archive-directory.ts';
import { guardArchive } from '../../../../src/store/archive/archive-identity.ts';
import { createS3Archive } from '../../../../src/store/archive/archive-s3.ts';
import { S3_BUCKET, S3_KEYS, s3ServerFor } from '../../../support/s3-server.ts';
import { coded, type Scope, storeFor } from '../../../support/store.ts';

const BYTES = Buffer.from('bytes of a batch');
const DIGEST = createHash('sha256').update(BYTES).digest('hex');

async function directoryFor(scope: Scope): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-identity-'));
  scope.after(() => rm(directory, { recursive: true, force: true }));
  return join(directory, 'archive');
}

async function open(where: string) {
  await mkdir(where, { recursive: true });
  return guardArchive(createDirectoryArchive(where), { where, mayVanish: true });
}

describe('the id of an archive', () => {
  test('the id of an archive is the same for all that start at once and share it, also later', async (t) => {
    const { store } = await storeFor(t);
    const where = await directoryFor(t);
    const archives = await Promise.all([1, 2, 3, 4].map(() => open(where)));
    await Promise.all(archives.map((archive) => archive.bind(store)));
    assert.equal(await readFile(join(where, 'archive-id'), 'utf8'), `${await store.installation()}\n`);
    await (await open(where)).bind(store);
  });

  /* Fails without the comparison: bytes that lie in one directory are missing in the other, forever. */
  test('another directory and an empty mount point are refused with what to do', async (t) => {
    const { store } = await storeFor(t);
    await (await open(await directoryFor(t))).bind(store);
    const id = await store.installation();
    const empty = await directoryFor(t);
    const refused = async (found: RegExp) =>
      await assert.rejects((await open(empty)).bind(store), (error: Error) => {
        assert.ok(coded('archive-mismatch')(error));
        for (const word of [empty, id!, 'Mount or name that one']) assert.ok(error.message.includes(word));
        return found.test(error.message);
      });
    await refused(/not mounted, or not shared/);
    await writeFile(join(empty, 'archive-id'), 'another-one\n');
    await refused(/is another archive \(another-one\)/);
    await writeFile(join(empty, 'archive-id'), id!);
    await (await open(empty)).bind(store);
  });

  test('an empty Redis beside an archive that is in use is refused, until an operator adopts the archive', async (t) => {
    const where = await directoryFor(t);
    const first = (await storeFor(t)).store;
    await (await open(where)).bind(first);
    const { store, redis } = await storeFor(t);
    const binding = (await open(where)).bind(store);
    const { code, message } = (await binding.catch((error) => error)) as EchelonError;
    assert.equal(code, 'store-foreign');
    assert.match(message, /is empty, but the archive at .* belongs to installation .* name an empty archive/);
    assert.equal(await store.installation(), null, 'nothing is written');
    const [, ...adopted] = /redis-cli MSET '(.+)' (.+) '(.+)' (.+)$/.exec(message)!;
    await redis.mset(...adopted);
    await (await open(where)).bind(store);
  });

  test('objects that no id names are not taken over by a new installation', async (t) => {
    const { store } = await storeFor(t);
    const where = await directoryFor(t);
    await (await open(where)).put('exp-a', DIGEST, BYTES);
    await assert.rejects((await open(where)).bind(store), (error: Error) => {
      assert.ok(coded('archive-mismatch')(error));
      return /has objects, but no file "archive-id" .* Repeat the restore/.test(error.message);
    });
    assert.equal(await store.installation(), null, 'nothing is written');
    await (await open(where)).remove('exp-a');
    await (await open(where)).bind(store);
  });

  /* Fails without the look at the id: what is not there is then held to be lost. */
  test('a mount that is lost later makes it unavailable, and nothing is put beside it or removed', async (t) => {
    const { store } = await storeFor(t);
    const where = await directoryFor(t);
    const archive = await open(where);
    await archive.bind(store);
    await archive.put('exp-a', DIGEST, BYTES);
    await assert.rejects(archive.get('exp-b', DIGEST), coded('not-found'));
    await rename(where, `${where}-away`);
    await mkdir(where);
    await assert.rejects(archive.get('exp-a', DIGEST), coded('store-unavailable'));
    await assert.rejects(archive.put('exp-a', DIGEST, BYTES), coded('store-unavailable'));
    await assert.rejects(archive.remove('exp-a'), coded('store-unavailable'));
    await rm(where, { recursive: true });
    await rename(`${where}-away`, where);
    assert.deepEqual(await archive.get('exp-a', DIGEST), BYTES);
  });

  test('a bucket has an id too', async (t) => {
    const { store } = await storeFor(t);
    const server = await s3ServerFor(t);
    const openBucket = (prefix: string) => {
      const bucket = { name: S3_BUCKET, prefix, endpoint: server.url, ...S3_KEYS };
      return guardArchive(createS3Archive(bucket), { where: prefix, mayVanish: false });
    };
    await Promise.all([openBucket('one').bind(store), openBucket('one').bind(store)]);
    assert.equal(server.objects.get('one/archive-id')?.toString(), `${await store.installation()}\n`);
    await assert.rejects(openBucket('two').bind(store), coded('archive-mismatch'));
  });
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { Archive } from '../../src/store/archive/archive.ts';
import { coded, type Scope } from './store.ts';

/** An archive of a test, and how its place is damaged behind its back. */
export interface ArchiveUnderTest {
  archive: Archive;
  /** Names of everything that is kept. */
  names(): Promise<string[]>;
  overwrite(owner: string, digest: string, bytes: Uint8Array): Promise<void>;
}

const bytes = Uint8Array.from({ length: 300 }, (_v, at) => at % 256);
const digest = createHash('sha256').update(bytes).digest('hex');
const other = Buffer.from('other bytes');
const otherDigest = createHash('sha256').update(other).digest('hex');

/** What every archive does, whatever keeps its bytes. */
export function testArchive(make: (t: Scope) => Promise<ArchiveUnderTest>): void {
  test('gives back what it was given, and keeps it once', async (t) => {
    const { archive, names } = await make(t);
    await Promise.all([archive.put('exp-a', digest, bytes), archive.put('exp-a', digest, bytes)]);
    await archive.put('exp-a', digest, bytes);
    assert.deepEqual(Buffer.from(await archive.get('exp-a', digest)), Buffer.from(bytes));
    assert.equal((await names()).length, 1);
  });

  test('keeps an empty object too', async (t) => {
    const { archive } = await make(t);
    const none = createHash('sha256').digest('hex');
    await archive.put('exp-a', none, new Uint8Array());
    assert.equal((await archive.get('exp-a', none)).byteLength, 0);
  });

  /* Fails without the comparison of digests in `put` and in `get`. */
  test('never gives out other bytes than those of the digest', async (t) => {
    const { archive, overwrite } = await make(t);
    await assert.rejects(archive.put('exp-a', digest, bytes.subarray(1)), coded('internal'));
    await archive.put('exp-a', digest, bytes);
    await overwrite(
      'exp-a',
      digest,
      Uint8Array.from(bytes, (byte, at) => (at === 7 ? byte ^ 1 : byte)),
    );
    await assert.rejects(archive.get('exp-a', digest), coded('not-found'));
  });

  test('writes anew what was cut short', async (t) => {
    const { archive, overwrite } = await make(t);
    await archive.put('exp-a', digest, bytes);
    await overwrite('exp-a', digest, bytes.subarray(0, 10));
    await archive.put('exp-a', digest, bytes);
    assert.deepEqual(Buffer.from(await archive.get('exp-a', digest)), Buffer.from(bytes));
  });

  test('says what it does not have, and takes nothing else for a name', async (t) => {
    const { archive } = await make(t);
    await assert.rejects(archive.get('exp-a', digest), coded('not-found'));
    for (const name of ['../../etc/passwd', digest.toUpperCase(), '', `${digest}/..`]) {
      await assert.rejects(archive.get('exp-a', name), coded('not-found'));
      await assert.rejects(archive.put('exp-a', name, bytes), coded('not-found'));
    }
    for (const owner of ['..', '', 'a/b', 'exp-a/../b', 'EXP']) {
      await assert.rejects(archive.get(owner, digest), coded('not-found'));
      await assert.rejects(archive.put(owner, digest, bytes), coded('not-found'));
      await assert.rejects(archive.remove(owner), coded('not-found'));
    }
  });

  /* Fails where owners share what they keep. */
  test('deletes what an owner has, and nothing of another', async (t) => {
    const { archive, names } = await make(t);
    for (const owner of ['exp-a', 'exp-a1', 'exp-b']) await archive.put(owner, digest, bytes);
    await archive.put('exp-a', otherDigest, other);
    await archive.remove('exp-a', new Set([otherDigest]));
    await assert.rejects(archive.get('exp-a', digest), coded('not-found'));
    assert.deepEqual(Buffer.from(await archive.get('exp-a', otherDigest)), other);
    await archive.remove('exp-a');
    await archive.remove('exp-a');
    await archive.remove('exp-never');
    assert.equal((await names()).length, 2);
    assert.deepEqual(Buffer.from(await archive.get('exp-a1', digest)), Buffer.from(bytes));
  });
}

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { describe, test } from 'node:test';
import { Redis } from 'ioredis';
import { loadScripts, SCRIPT_NAMES, scriptText } from '../../../../src/store/redis/scripts.ts';
import { redisFor } from '../../../support/redis.ts';

const STORE = new URL('../../../../src/store/', import.meta.url);
/** Paths of all Lua files, from the folder of the store. */
const FILES = (await readdir(STORE, { recursive: true })).filter((name) => name.endsWith('.lua')).sort();
/** The files of the atomic steps; those in `redis/lua` are only included. */
const STEPS = FILES.filter((path) => !path.startsWith('redis/'));

/** Steps that only add telemetry or new work; the server refuses them when it has no memory. */
const REFUSED_WITHOUT_MEMORY = [
  'add-subscription',
  'advance-subscriptions',
  'annotate',
  'append',
  'claim-answer',
  'create-sweep',
  'expand-sweep',
  'open-run',
  'release-sweep',
  'rerun-sweep',
  'resend-dead',
  'share-documents',
  'submit',
];

describe('scripts', () => {
  test('every file is a script and every script has a file', () => {
    const files = STEPS.map((path) => path.split('/').at(-1)!);
    assert.deepEqual(files.sort(), SCRIPT_NAMES.map((name) => `${name}.lua`).sort());
  });

  test('each says what it takes and returns, and may run at full memory unless it adds', async () => {
    for (const name of SCRIPT_NAMES) {
      const text = await readFile(
        new URL(STEPS.find((path) => path.endsWith(`/${name}.lua`))!, STORE),
        'utf8',
      );
      assert.match(text, /^#!lua/, name);
      for (const word of ['KEYS[1]', 'ARGV', 'Returns'])
        assert.ok(text.includes(`-- ${word}`), `${name}: ${word}`);
      const flagged = /^#!lua flags=(allow-oom|no-writes)\n/.test(text);
      assert.equal(flagged, !REFUSED_WITHOUT_MEMORY.includes(name), name);
      assert.ok(!scriptText(name).includes('-- include'), name);
    }
  });

  /* Fails where a script takes the audit log up by itself, or where the one way to it does more than add and let go. */
  test('the audit log is only added to, in one place', async () => {
    const named: string[] = [];
    for (const name of FILES)
      if ((await readFile(new URL(name, STORE), 'utf8')).includes(':audit')) named.push(name);
    assert.deepEqual(named, ['redis/lua/audit.lua']);
    const text = await readFile(new URL('redis/lua/audit.lua', STORE), 'utf8');
    const callsOn = (what: string) =>
      [...text.matchAll(new RegExp(`redis\\.call\\('([A-Z]+)', ${what}`, 'g'))].map(([, command]) => command);
    // XDEL lets go of the oldest entry of a caller that has more than its share.
    assert.deepEqual(callsOn('stream'), ['XADD', 'XTRIM', 'XDEL']);
    assert.deepEqual(callsOn('(?!stream)'), ['XREVRANGE', 'RPUSH', 'LPOP', 'PEXPIRE']);
  });

  test('they are known again after the server forgot them, and take bytes', async (t) => {
    const server = await redisFor(t);
    const redis = new Redis(server.port);
    t.after(() => redis.disconnect());
    const run = loadScripts(redis, '{p}');
    assert.equal(await run('put-cluster', ['a', new Uint8Array([0, 255]), '{}']), 1);
    await redis.script('FLUSH');
    assert.equal(await run('remove-cluster', ['a']), 1);
    assert.equal(await run('remove-cluster', ['a']), 0);
    const wide = new Uint8Array([9, 9, 0, 255, 9]).subarray(2, 4);
    await run('put-cluster', ['b', wide, '{}']);
    assert.deepEqual(await redis.hgetBuffer('{p}:clusters', 'b'), Buffer.from([0, 255]));
  });
});

test('what is asked for in one turn goes out in one write, and is answered one by one', async (t) => {
  const { port } = await redisFor(t);
  const redis = new Redis(port, { lazyConnect: true });
  t.after(() => redis.disconnect());
  await redis.connect();
  const run = loadScripts(redis, '{writes}');
  const writes: number[] = [];
  const { stream } = redis as unknown as { stream: Writable & Required<Pick<Writable, '_writev'>> };
  const [one, many] = [stream._write.bind(stream), stream._writev.bind(stream)];
  stream._write = (chunk, encoding, done) => {
    writes.push(1);
    one(chunk, encoding, done);
  };
  stream._writev = (chunks, done) => {
    writes.push(chunks.length);
    many(chunks, done);
  };
  const ask = (name: string) => run('read', [name, '0-0', 10, 1000]);
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map(ask));
  assert.equal(answers.length, 4);
  // Fails, with four writes, where each goes out by itself.
  assert.deepEqual(writes, [4]);
});

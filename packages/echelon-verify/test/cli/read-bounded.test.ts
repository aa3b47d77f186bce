import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { readBounded } from '../../src/cli/read-bounded.ts';
import { BatchFormatError } from '../../src/format/format-error.ts';

const folder = mkdtempSync(join(tmpdir(), 'echelon-read-'));
after(() => rmSync(folder, { recursive: true }));
const limits = { maxBytes: 3_000_000, idleMs: 60_000 };
const said = (words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof BatchFormatError);
  assert.match(error.message, words);
  return true;
};

function pipe(name: string): string {
  const path = join(folder, name);
  execFileSync('mkfifo', [path]);
  return path;
}

describe('reading in bounds', () => {
  test('a file as it is, unless it is too large', async () => {
    const path = 'test/golden/hgpo.json';
    assert.deepEqual(Buffer.from(await readBounded(path)), await readFile(path));
    await assert.rejects(readBounded(path, { ...limits, maxBytes: 9 }), said(/at most 9 bytes, found \d/));
  });

  test('a pipe to its end, whenever its writer comes', async () => {
    const path = pipe('written');
    const sent = Buffer.alloc(2_500_000, 'x');
    const read = readBounded(path, limits);
    const writer = await open(path, 'w');
    await writer.write(sent);
    await writer.close();
    assert.ok(sent.equals(await read));
  });

  test('a pipe without an end is given up, and one without a writer', async () => {
    const path = pipe('endless');
    const read = assert.rejects(readBounded(path, limits), said(/at most 3000000 bytes, found more/));
    const writer = await open(path, 'w');
    await assert.rejects(async () => {
      for (;;) await writer.write(Buffer.alloc(1_000_000));
    }, /EPIPE/);
    await writer.close();
    await read;
    await assert.rejects(readBounded(pipe('silent'), { ...limits, idleMs: 30 }), said(/data from the pipe/));
  });

  test('a directory, a device and what is not there', async () => {
    await assert.rejects(readBounded(folder), said(/expected a file or a pipe, found a directory/));
    await assert.rejects(readBounded('/dev/zero'), said(/found a device/));
    await assert.rejects(readBounded(join(folder, 'none')), { code: 'ENOENT' });
    const empty = join(folder, 'empty');
    writeFileSync(empty, '');
    assert.equal((await readBounded(empty)).length, 0);
  });
});

import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { releaseOwnFolder } from '../../../../src/http/server/own-folder.ts';
import { type Upload, withUpload } from '../../../../src/http/server/upload.ts';

after(releaseOwnFolder);

const upload = (chunks: Iterable<Buffer>, rest: Partial<Upload> = {}): Upload => ({
  body: Readable.from(chunks),
  length: 0,
  name: 'a.csv',
  maxBytes: 8,
  signal: new AbortController().signal,
  ...rest,
});
const FOUR = Buffer.from('1234');

test('an upload is one file that only the server can read, and is deleted afterwards', async () => {
  let at = '';
  const text = await withUpload(upload([FOUR, FOUR]), async (path) => {
    at = path;
    assert.equal(statSync(path).mode & 0o077, 0);
    return readFileSync(path, 'utf8');
  });
  assert.equal(text, '12341234');
  assert.equal(existsSync(dirname(at)), false);
});

test('an upload is deleted if its use fails', async () => {
  let at = '';
  const failing = withUpload(upload([FOUR]), async (path) => {
    at = path;
    throw new Error('no');
  });
  await assert.rejects(failing, /no/);
  assert.equal(existsSync(dirname(at)), false);
});

test('an upload above the limit is refused by its length, and without one as soon as it exceeds the limit', async () => {
  const unused = async () => assert.fail('it was used');
  await assert.rejects(withUpload(upload([FOUR], { length: 9 }), unused), { code: 'body-too-large' });
  let sent = 0;
  function* endless() {
    for (;;) {
      sent += 1;
      yield FOUR;
    }
  }
  const body = Readable.from(endless(), { highWaterMark: 1 });
  await assert.rejects(withUpload(upload([], { body }), unused), { code: 'body-too-large' });
  assert.equal(body.destroyed, false);
  assert.ok(sent < 10, `${sent} pieces were read`);
});

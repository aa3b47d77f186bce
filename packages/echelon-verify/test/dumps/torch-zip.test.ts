import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PyObject } from 'ray-client-ts/pickle/values';
import { withSource } from '../../src/dumps/source.ts';
import { isZip, openTorchFile } from '../../src/dumps/torch-zip.ts';
import { BatchFormatError } from '../../src/format/format-error.ts';
import { DUMPS, folder } from '../support/dump-files.ts';

const FILE = `${DUMPS}/trl/group/training_args.bin`;

test('the pickle of a torch file is read as inert data', async () => {
  assert.ok(isZip(readFileSync(FILE)));
  const { value } = await withSource(FILE, openTorchFile);
  assert.ok(value instanceof PyObject);
  assert.equal(String(value.callable), 'trl.trainer.grpo_config.GRPOConfig');
});

test('a storage that is not there is refused', async () => {
  const read = withSource(FILE, async (source) => await (await openTorchFile(source)).storage('0', 4));
  await assert.rejects(read, /no storage 0 of 4 bytes/);
});

test('a file cut off at any place is refused as such', async () => {
  await using dir = await folder();
  const whole = readFileSync(FILE);
  for (let end = 0; end < whole.length; end += 97) {
    const path = await dir.write('cut.bin', whole.subarray(0, end));
    await assert.rejects(withSource(path, openTorchFile), BatchFormatError, `${end}`);
  }
});

test('damaged bytes are refused or read, and nothing else', async () => {
  await using dir = await folder();
  const whole = readFileSync(FILE);
  for (let at = 0; at < whole.length; at += 41) {
    const damaged = Buffer.from(whole);
    damaged[at]! ^= 0xff;
    try {
      await withSource(await dir.write('damaged.bin', damaged), openTorchFile);
    } catch (error) {
      assert.ok(error instanceof BatchFormatError, `${at}: ${error}`);
    }
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PyDict } from 'ray-client-ts/pickle/values';
import { withSource } from '../../src/dumps/source.ts';
import { numbersIn, TensorError } from '../../src/dumps/torch-tensor.ts';
import { openTorchFile } from '../../src/dumps/torch-zip.ts';
import { DUMPS, folder } from '../support/dump-files.ts';
import { pickled, torchFile } from '../support/torch-bytes.ts';

async function read(key: string): Promise<number[]> {
  return await withSource(`${DUMPS}/tensors.pt`, async (source) => {
    const torch = await openTorchFile(source);
    return await numbersIn(torch, (torch.value as PyDict).get(key));
  });
}

test('tensors of each kind are read, with strides and offsets', async () => {
  assert.deepEqual(await read('transposed'), [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]);
  assert.deepEqual(await read('part'), [4, 6, 8, 10]);
  assert.deepEqual(await read('scalar'), [2.5]);
  assert.deepEqual(await read('half'), [0, 1, 2, 3]);
  assert.deepEqual(await read('bfloat'), [0, 0.333984375, 0.66796875, 1]);
  assert.deepEqual(await read('long'), [2 ** 40, -1]);
  assert.deepEqual(await read('flags'), [1, 0]);
  assert.deepEqual(await read('short'), [-3]);
  assert.deepEqual(await read('empty'), []);
  assert.deepEqual(await read('nested'), [1, 2.5, Number.NaN, 1]);
});

test('any other class is refused by its name', async () => {
  await assert.rejects(read('device'), /torch\.device is not read/);
  await assert.rejects(read('absent'), TensorError);
});

async function numbersOf(value: Buffer): Promise<number[]> {
  await using dir = await folder();
  return await withSource(
    await dir.write('a.pt', torchFile(value, { 0: Buffer.alloc(4) })),
    async (source) => {
      const torch = await openTorchFile(source);
      return await numbersIn(torch, torch.value);
    },
  );
}

test('one number expanded to a tensor is read, and no tensor of 4 million numbers or more', async () => {
  assert.deepEqual(await numbersOf(pickled.tensor([2, 2], [0, 0])), [0, 0, 0, 0]);
  await assert.rejects(numbersOf(pickled.tensor([2 ** 22 + 1], [0])), /a tensor of 4194305 numbers/);
});

test('a list inside itself and a tensor that occurs too often are refused', async () => {
  await assert.rejects(numbersOf(pickled.endless()), /lists in one another/);
  const often = Array.from({ length: 5 }, () => pickled.tensor([2 ** 22], [0]));
  await assert.rejects(numbersOf(pickled.list(...often)), /more numbers than a file of this size holds/);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ChunkAssembler, chunkAt, chunkCount } from '../src/chunks.ts';

test('what is cut is put together again, from any chunk on', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 200 }),
      fc.integer({ min: 1, max: 50 }),
      (data, size) => {
        const total = chunkCount(data.length, size);
        const assembler = new ChunkAssembler();
        let result: Uint8Array | undefined;
        for (let index = 0; index < total; index++) {
          assert.equal(result, undefined);
          assert.equal(assembler.next, index);
          const chunk = {
            data: chunkAt(data, index, size),
            chunk_id: index,
            total_chunks: total,
            total_size: data.length,
          };
          result = assembler.add(chunk);
          // A repetition, as after a reconnect, changes nothing.
          if (index > 0) assert.equal(assembler.add({ ...chunk, chunk_id: index - 1 }), undefined);
        }
        assert.deepEqual(Buffer.from(result ?? []), Buffer.from(data));
      },
    ),
  );
});

test('nothing is one chunk', () => assert.equal(chunkCount(0, 10), 1));

describe('a broken result is an error', () => {
  const chunk = (index: number, bytes: number) => ({
    data: new Uint8Array(bytes),
    chunk_id: index,
    total_chunks: 2,
    total_size: 4,
  });
  test('a result without one of its chunks is an error', () => {
    assert.throws(() => new ChunkAssembler().add(chunk(1, 2)), /chunk 0 of 2 is missing/);
  });
  test('a result with more chunks than announced is an error', () => {
    assert.throws(() => new ChunkAssembler().add(chunk(0, 5)), /larger than announced/);
  });
  test('a result with fewer bytes than announced is an error', () => {
    const assembler = new ChunkAssembler();
    assembler.add(chunk(0, 2));
    assert.throws(() => assembler.add(chunk(1, 1)), /smaller than announced/);
  });
});

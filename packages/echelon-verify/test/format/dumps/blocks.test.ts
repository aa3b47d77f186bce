import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf } from '../../../src/format/dumps/blocks.ts';

const codes = (prompts: string, stated?: number): string[] =>
  blocksOf([...prompts], stated).findings.map(({ code }) => code);
const ids = (prompts: string, stated?: number): string => blocksOf([...prompts], stated).group.ids.join('');

test('equal prompts in a row tell the block size', () => {
  assert.equal(blocksOf([...'aaabbbccc'], undefined).size, 3);
  assert.equal(ids('aaabbbccc'), '000111222');
  assert.deepEqual(codes('aaabbbccc'), []);
});

test('prompts that never repeat tell nothing', () => {
  assert.equal(blocksOf([...'abcd'], undefined).size, undefined);
});

test('a stated size makes blocks by position, and a block of two prompts is an error', () => {
  assert.equal(ids('aaab', 2), '0011');
  assert.deepEqual(codes('aaab', 2), ['block-mixed', 'prompt-repeated']);
  assert.deepEqual([...blocksOf([...'aabb'.replace('ab', 'ba')], 2).findings[0]!.rows], [1, 3]);
});

test('after a lost row, equal prompts are the groups', () => {
  assert.deepEqual(codes('aaabbccc', 3), ['block-partial']);
  assert.equal(ids('aaabbccc', 3), '00011222');
  assert.equal(ids('aaabbccc'), '00011222');
});

test('one prompt in two blocks is a warning', () => {
  assert.deepEqual(codes('aabbaa'), ['prompt-repeated']);
});

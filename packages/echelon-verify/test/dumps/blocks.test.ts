import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Blocks, blocksOf, runBlocks } from '../../src/dumps/blocks.ts';

const codesOf = ({ findings }: Blocks): string[] => findings.map(({ code }) => code);
const idsOf = ({ group }: Blocks): string => group.ids.join('');
const runs = (prompts: string): string[] => runBlocks([...prompts]).map(idsOf);

test('equal prompts in a row are the groups', () => {
  assert.deepEqual(runs('aaabbbccc'), ['000111222']);
  assert.deepEqual(codesOf(runBlocks([...'aaabbbccc'])[0]!), []);
});

test('prompts that never repeat tell no groups', () => {
  assert.deepEqual(runs('abcd'), []);
});

test('runs of several lengths are groups of several sizes, or blocks with one prompt', () => {
  assert.deepEqual(runs('aaabbbbb'), ['00011111']);
  assert.deepEqual(runs('aabbbb'), ['001122', '001111']);
  assert.deepEqual(runs('aabbbbb'), ['0011111']);
  assert.deepEqual(runs('aabbccccc'), ['001122222', '001122334']);
});

test('a stated size makes blocks by position, and a block of two prompts is an error', () => {
  const blocks = blocksOf([...'aaab'], 2);
  assert.equal(idsOf(blocks), '0011');
  assert.deepEqual(codesOf(blocks), ['block-mixed', 'prompt-repeated']);
  assert.deepEqual([...blocksOf([...'abab'], 2).findings[0]!.rows], [1, 3]);
});

test('after a lost row, equal prompts are the groups', () => {
  const blocks = blocksOf([...'aaabbccc'], 3);
  assert.deepEqual(codesOf(blocks), ['block-partial']);
  assert.equal(idsOf(blocks), '00011222');
  assert.deepEqual(runs('aaabbccc'), ['00011222']);
});

test('one prompt in two blocks is a warning', () => {
  assert.deepEqual(codesOf(runBlocks([...'aabbaa'])[0]!), ['prompt-repeated']);
});

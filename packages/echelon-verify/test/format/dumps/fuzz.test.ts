/** Damaged dumps end in a clear error or in a report, in bounded time. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { DumpAdapter } from '../../../src/format/dumps/adapter.ts';
import { adapterOf } from '../../../src/format/dumps/registry.ts';
import { BatchFormatError } from '../../../src/format/format-error.ts';
import { verifyDump } from '../../../src/verify-dump.ts';
import { DUMPS, folder } from '../../support/dump-files.ts';
import { randomFrom } from '../../support/random-batch.ts';

const SEEDS: Record<string, string> = {
  trl: `${DUMPS}/trl/weights/completions/completions_00001.parquet`,
  'ms-swift': `${DUMPS}/ms-swift/grpo/completions.jsonl`,
  slime: `${DUMPS}/slime/train_data/0_0.pt`,
  table: `${DUMPS}/verl/grpo.csv`,
};
const ROUNDS = 150;

/** Bytes cut off, flipped, repeated, or set to the largest length. */
function damaged(bytes: Buffer, random: () => number): Buffer {
  const at = Math.floor(random() * bytes.length);
  const copy = Buffer.from(bytes);
  const kind = Math.floor(random() * 4);
  if (kind === 0) return copy.subarray(0, at);
  if (kind === 1)
    for (let i = 0; i < 8; i++) copy[Math.floor(random() * copy.length)] = Math.floor(random() * 256);
  if (kind === 2) copy.fill(0xff, at, at + 1 + Math.floor(random() * 8));
  if (kind === 3) return Buffer.concat([copy.subarray(0, at), copy.subarray(Math.floor(random() * at))]);
  return copy;
}

async function outcome(adapter: DumpAdapter, file: string): Promise<string> {
  const map = { group: 'uid', reward: 'score', step: 'step', advantage: 'advantage' };
  try {
    const reports = await Array.fromAsync(
      verifyDump(adapter, [file], adapter.name === 'table' ? { map } : {}),
    );
    return `${reports.length} reports`;
  } catch (error) {
    assert.ok(error instanceof BatchFormatError, `${adapter.name}: ${(error as Error).stack}`);
    return 'refused';
  }
}

for (const [name, seed] of Object.entries(SEEDS)) {
  test(`${name}: damaged files are refused or reported`, { timeout: 60_000 }, async () => {
    await using dir = await folder();
    const random = randomFrom(7);
    const bytes = readFileSync(seed);
    const counts = { refused: 0, reported: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const file = await dir.write(`0_0${seed.slice(seed.lastIndexOf('.'))}`, damaged(bytes, random));
      if ((await outcome(adapterOf(name), file)) === 'refused') counts.refused++;
      else counts.reported++;
    }
    assert.ok(counts.refused > 0, JSON.stringify(counts));
  });
}

test('values of other types than expected are refused or count as NaN', async () => {
  await using dir = await folder();
  const values = ['null', '1', '"x"', '[]', '{}', '[[[1]]]', 'true', '1e999', '-0', '[{"a": NaN}]'];
  for (const [name, keys] of Object.entries({
    'ms-swift': ['step', 'prompt', 'completion', 'r', 'advantages'],
    'nemo-rl': ['rewards', 'token_ids', 'token_loss_mask', 'advantages', 'idx'],
    verl: ['input', 'output', 'score', 'step', 'uid'],
    'prime-rl': ['id', 'group', 'errors', 'traces'],
    table: ['group', 'reward', 'advantage'],
  }))
    for (const value of values)
      await outcome(
        adapterOf(name),
        await dir.write('a.jsonl', `{${keys.map((key) => `"${key}": ${value}`).join(', ')}}\n`),
      );
});

test('files that state sizes they do not have end in a clear error, in 512 MiB of heap', () => {
  const program = 'test/support/hostile-dumps.ts';
  const printed = execFileSync(process.execPath, ['--max-old-space-size=512', program], { encoding: 'utf8' });
  const { found, megabytes } = JSON.parse(printed) as { found: Record<string, string>; megabytes: number };
  assert.ok(Object.keys(found).length > 10);
  for (const [name, message] of Object.entries(found)) assert.match(message, /^expected /, name);
  assert.ok(megabytes < 1_200, `${megabytes} MB`);
});

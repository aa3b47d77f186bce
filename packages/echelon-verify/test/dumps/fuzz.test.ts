/** Damaged dumps end in a clear error or in a report, in bounded time. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import type { DumpAdapter } from '../../src/dumps/adapter.ts';
import { adapterOf } from '../../src/dumps/registry.ts';
import { ALL_ADAPTERS } from '../../src/dumps/steps/registry.ts';
import { BatchFormatError } from '../../src/format/format-error.ts';
import { verifyUpload } from '../../src/pool/verify-upload.ts';
import { verifyDump } from '../../src/verify/verify-dump.ts';
import { folder } from '../support/dump-files.ts';
import { damaged, SEEDS } from '../support/mutated-files.ts';
import { randomFrom } from '../support/random-batch.ts';

const BUDGET_BYTES = 2 ** 28;
/** Of each format; mutated-files.full.test.ts has 500. */
const ROUNDS = 30;

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

test('each format has a file that is damaged, and that is read if it is not', async () => {
  assert.deepEqual(
    ALL_ADAPTERS.map(({ name }) => name).filter((name) => !(name in SEEDS)),
    [],
  );
  await using dir = await folder();
  for (const [name, { file, bytes, ...seed }] of Object.entries(SEEDS)) {
    const path = await dir.write(file, bytes);
    const { batches, steps } = await verifyUpload({ path, name, budgetBytes: BUDGET_BYTES, ...seed });
    assert.ok(batches.length + steps.length > 0, name);
  }
});

test('damaged files of each format are refused or reported', { timeout: 60_000 }, async () => {
  await using dir = await folder();
  const random = randomFrom(7);
  for (const [name, { file, bytes, ...seed }] of Object.entries(SEEDS))
    for (let round = 0; round < ROUNDS; round++) {
      const path = await dir.write(file, damaged(bytes, random));
      await verifyUpload({ path, name, budgetBytes: BUDGET_BYTES, ...seed }).catch((error: Error) =>
        assert.ok(
          error instanceof BatchFormatError || error instanceof RangeError,
          `${name}: ${error.stack}`,
        ),
      );
    }
});

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

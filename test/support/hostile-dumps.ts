/**
 * Reads files that state sizes that they do not have, and prints what became of each as JSON, with the memory that this
 * process took. A program of its own, so that its memory is not that of the other tests.
 */

import { truncate } from 'node:fs/promises';
import { zstdCompressSync } from 'node:zlib';
import { BatchFormatError } from 'echelon-verify/format';
import { adapterOf } from '../../packages/echelon-verify/src/dumps/registry.ts';
import { verifyDump } from '../../packages/echelon-verify/src/verify/verify-dump.ts';
import { type Folder, folder } from '../../packages/echelon-verify/test/support/dump-files.ts';
import { parquetFile, parquetOfLists } from '../../packages/echelon-verify/test/support/parquet-bytes.ts';
import { pickled, torchFile } from '../../packages/echelon-verify/test/support/torch-bytes.ts';

const NUMBERS = Buffer.from(new Float64Array([1, 0, 0.5]).buffer);
const RUN_OF_INDICES = Buffer.from([1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0]);
const HUGE = 2 ** 31 - 1;

const TABLES: Record<string, Buffer> = {
  'more values than the file has': parquetFile(RUN_OF_INDICES, 3, { values: HUGE, encoding: 8 }),
  'a page that unfolds to 2 GiB': parquetFile(zstdCompressSync(NUMBERS), 3, { bytes: HUGE, codec: 6 }),
  'a page that unfolds to more than stated': parquetFile(zstdCompressSync(Buffer.alloc(2 ** 27)), 3, {
    bytes: 24,
    codec: 6,
  }),
  'a page of negative size': parquetFile(NUMBERS, 3, { compressedBytes: -40 }),
  'shared prefixes': parquetFile(NUMBERS, 3, { encoding: 7 }),
  'a footer of nested lists': parquetOfLists(64),
  'a trillion rows': parquetFile(NUMBERS, 2 ** 40),
};

const slime = (advantages: Buffer): Buffer =>
  torchFile(
    pickled.dict({
      samples: pickled.list(pickled.dict({ index: pickled.int(0), reward: pickled.int(1), advantages })),
    }),
    { 0: Buffer.alloc(64) },
  );

const TENSORS: Record<string, Buffer> = {
  'a list doubled 60 times': slime(pickled.doubled(60)),
  'a list inside itself': slime(pickled.endless()),
  'a tensor of 2^40 numbers': slime(pickled.tensor([2 ** 20, 2 ** 20], [0, 0])),
  'one tensor many times': slime(
    pickled.list(...Array.from({ length: 50 }, () => pickled.tensor([2 ** 22], [0]))),
  ),
  'a tensor beyond its storage': slime(pickled.tensor([1_000], [4])),
  'an unknown callable': slime(pickled.call(pickled.global('os', 'system'), pickled.text('true'))),
};

const LINES: Record<string, string> = {
  'lists in one another': `{"prompt": ["a"], "completion": ["b"], "r": [1], "advantages": ${'['.repeat(1e6)}`,
  'columns of unequal length': '{"prompt": ["a"], "completion": [], "r": [1, 2], "advantages": [1]}',
  'text that never ends': '{"prompt": ["',
};

async function outcome(adapter: string, file: string): Promise<string> {
  try {
    const stated = adapter === 'table' ? { map: { reward: 'reward' }, groupSize: 3 } : {};
    return `${(await Array.fromAsync(verifyDump(adapterOf(adapter), [file], stated))).length} reports`;
  } catch (error) {
    if (!(error instanceof BatchFormatError)) throw error;
    return error.message.slice(error.message.indexOf(': ') + 2);
  }
}

async function run(dir: Folder): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [name, bytes] of Object.entries(TABLES))
    found[name] = await outcome('table', await dir.write('a.parquet', bytes));
  for (const [name, bytes] of Object.entries(TENSORS))
    found[name] = await outcome('slime', await dir.write('0_0.pt', bytes));
  for (const [name, line] of Object.entries(LINES)) {
    const file = await dir.write('completions.jsonl', line);
    if (name === 'text that never ends') await truncate(file, 2 ** 30);
    found[name] = await outcome('ms-swift', file);
  }
  return found;
}

await using dir = await folder();
const found = await run(dir);
process.stdout.write(JSON.stringify({ found, megabytes: process.resourceUsage().maxRSS / 1024 }));

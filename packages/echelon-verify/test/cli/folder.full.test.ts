/** A folder of 100,000 files is read in bounded time and memory. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { DUMPS, folder } from '../support/dump-files.ts';

const run = promisify(execFile);
const FILES = 100_000;
const MAX_SECONDS = 20;
const MAX_HEAP_MB = 200;

test('100,000 files of other programs do not hold up the dumps among them', async () => {
  await using dir = await folder();
  // Words, so that the names do not differ in numbers only.
  for (let at = 0; at < FILES; at++) {
    const word = at.toString(26).replaceAll(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)]!);
    if (at % 1000 === 0) await mkdir(join(dir.path, `part-${at / 1000}`));
    writeFileSync(join(dir.path, `part-${Math.floor(at / 1000)}`, `${word}.json`), '{"a": 1}');
  }
  await cp(`${DUMPS}/trl/group`, join(dir.path, 'run'), { recursive: true });
  const started = performance.now();
  // The heap of the limited process too: the names of all files take a part of it.
  const { stdout } = await run(process.execPath, ['packages/echelon-verify/src/cli/main.ts', dir.path], {
    env: { ...process.env, NODE_OPTIONS: `--max-old-space-size=${MAX_HEAP_MB}` },
  });
  const seconds = (performance.now() - started) / 1000;
  assert.match(stdout, /^not read +\d\d,\d{3} files/m);
  assert.match(stdout, /3 of 3 batches ok/);
  assert.ok(seconds < MAX_SECONDS, `${seconds} s`);
});

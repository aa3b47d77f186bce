import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { bundle } from '../../../scripts/bundle.ts';

const run = promisify(execFile);

test('a bundled verifier in an empty folder verifies a file without any installed package', async () => {
  const place = await mkdtemp(join(tmpdir(), 'bundle-'));
  try {
    await bundle({
      entries: { 'echelon-verify': 'packages/echelon-verify/src/cli/main.ts' },
      to: join(place, 'programs'),
    });
    await cp('test/golden/hgpo.json', join(place, 'dump.json'));
    const program = join(place, 'programs/echelon-verify.mjs');
    const { stdout } = await run(process.execPath, [program, 'dump.json'], { cwd: place });
    assert.match(stdout, /45 of 45 batches ok; 4,982 rows: .* 0 wrong, 0 unverifiable/);
  } finally {
    await rm(place, { recursive: true });
  }
});

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { buildReportPage } from '../../../packages/echelon-dashboard/build-report.ts';
import { bundle } from '../../../scripts/bundle.ts';

const run = promisify(execFile);

/** Each package has its licence with the text that must go with it. */
function assertNotices(text: string, packages: readonly string[]): void {
  for (const name of packages) {
    const own = text.split(/^## /m).find((part) => part.startsWith(`${name} - `)) ?? '';
    assert.match(own, /Permission is hereby granted|Permission to use|Redistribution and use/, name);
  }
}

test('a bundled verifier in an empty folder verifies a file without any installed package', async () => {
  const place = await mkdtemp(join(tmpdir(), 'bundle-'));
  try {
    await bundle({
      entries: { 'echelon-verify': 'packages/echelon-verify/src/cli/main.ts' },
      to: join(place, 'programs'),
    });
    await cp('test/golden/hgpo.json', join(place, 'dump.json'));
    assertNotices(await readFile(join(place, 'programs/THIRD-PARTY.md'), 'utf8'), [
      'commander',
      'hyparquet',
      'protobufjs',
      'yaml',
    ]);
    const program = join(place, 'programs/echelon-verify.mjs');
    const { stdout } = await run(process.execPath, [program, 'dump.json'], { cwd: place });
    assert.match(stdout, /45 of 45 batches ok; 4,982 rows: .* 0 wrong, 0 unverifiable/);
  } finally {
    await rm(place, { recursive: true });
  }
});

test('the page of a report and the dashboard carry the notices of the packages in them', async () => {
  const place = await mkdtemp(join(tmpdir(), 'bundle-'));
  try {
    await buildReportPage(place);
    const { page } = (await import(join(place, 'page.js'))) as { page: string };
    assertNotices(page, ['preact']);
  } finally {
    await rm(place, { recursive: true });
  }
  const dashboard = await readFile('packages/echelon-dashboard/src/gen/THIRD-PARTY.md', 'utf8');
  assertNotices(dashboard, ['preact', 'uplot', 'hyparquet', 'protobufjs']);
});
